"""What a person allows one agent: which requests it forbids, and how it survives in the file."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.identity.agent_file import INKS
from runner.identity.agents import Agents
from runner.identity.allowance import Allowance, narrowed
from runner.identity.forbidden import forbidden
from runner.model.errors import KnownError
from runner.model.request import ClientTool, Isolation, Language, Limits, NetworkMode, Request, Tool
from runner.settings.loading import Settings
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

    from runner.identity.agents import Agent

RUN = Request("r1", "codex", Tool.CODE_EXECUTE, 1.0, Language.PYTHON, "print(1)")
INSTALL = Request("r2", "codex", Tool.CODE_INSTALL_PACKAGE, 1.0, sandbox="k1", packages=("six",))
FETCH = Request("r3", "codex", Tool.CLIENT_FETCH, 1.0, client=ClientTool("WebFetch", "/home/me"))
SHELL = replace(FETCH, tool=Tool.CLIENT_SHELL, language=Language.SHELL, isolation=Isolation.PROCESS)


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


@pytest.mark.parametrize(
    ("allowance", "request_", "words"),
    [
        (Allowance(), RUN, ""),
        (Allowance(languages=("python",)), RUN, ""),
        (Allowance(languages=("shell",)), RUN, "use shell only, not python"),
        (Allowance(languages=("python",)), SHELL, ""),
        (Allowance(network=False), RUN, ""),
        (Allowance(network=False), replace(RUN, network=NetworkMode.DOMAINS), "network"),
        (Allowance(network=False), replace(RUN, network=NetworkMode.REGISTRIES, sandbox="k1"), "network"),
        (Allowance(network=False), FETCH, "network"),
        (Allowance(network=False), SHELL, ""),
        (Allowance(packages=False), INSTALL, "packages"),
        (Allowance(packages=False), replace(RUN, packages=("six",)), "packages"),
        (Allowance(seconds=10), replace(RUN, limits=Limits(seconds=11)), "at most 10 s"),
        (Allowance(seconds=10), replace(RUN, limits=Limits(seconds=10)), ""),
        (Allowance(memory_mb=64), RUN, "A run of this agent may have at most 64 MB"),
        (Allowance(memory_mb=64), replace(RUN, sandbox="k1"), "A sandbox of this agent may have at most 64 MB"),
        (Allowance(memory_mb=64), replace(RUN, tool=Tool.CODE_CREATE_SANDBOX), "at most 64 MB"),
    ],
)
def test_what_is_forbidden_and_what_is_not(allowance: Allowance, request_: Request, words: str) -> None:
    why = forbidden(request_, allowance, Settings())
    assert words in why and bool(words) is bool(why)


def test_packages_that_the_settings_put_everywhere_are_not_the_agents_wish() -> None:
    settings, none = Settings(python_packages=("numpy",)), Allowance(packages=False)
    assert not forbidden(replace(RUN, packages=("numpy",)), none, settings)
    assert forbidden(replace(RUN, packages=("numpy", "six")), none, settings)


def test_limits_of_an_agent_only_ever_lower_those_of_the_settings() -> None:
    settings = Settings(memory_mb=512, max_memory_mb=1024, timeout_seconds=30.0, max_timeout_seconds=60.0)
    wide = narrowed(settings, Allowance(seconds=9000, memory_mb=99_999))
    assert wide == settings
    tight = narrowed(settings, Allowance(seconds=5, memory_mb=64, network=False))
    assert (tight.timeout_seconds, tight.max_timeout_seconds) == (5, 5)
    assert (tight.memory_mb, tight.max_memory_mb, tight.docker_memory_mb) == (64, 64, 0)
    networked = replace(settings, network_by_default=True)
    assert not narrowed(networked, Allowance(network=False)).network_by_default


@pytest.mark.parametrize(
    "data",
    [
        {"rate_per_minute": -1},
        {"rate_per_minute": 1.5},
        {"rate_per_minute": True},
        {"seconds": float("nan")},
        {"seconds": "9"},
        {"memory_mb": 10**9},
        {"network": 1},
        {"packages": "no"},
        {"rehearse": "local"},
        {"rehearse": True},
        {"rehearse": ["any"]},
        {"languages": "python"},
        {"languages": ["ruby"]},
        {"languages": [["python"]]},
        {"anything": 1},
    ],
)
def test_a_damaged_allowance_makes_the_list_unreadable_and_lifts_no_limit(places: Places, data: dict[str, Any]) -> None:
    agents = Agents(places)
    token = agents.add("codex")
    agents.allow("codex", Allowance(network=False))
    table = json.loads(places.agents.read_text())
    table["agents"][0]["allowance"] = data
    places.agents.write_text(json.dumps(table))
    assert agents.recognize(token) is None and agents.problem
    assert agents.allowance("codex") == Allowance(network=False), "what waits is held to what was last known"
    assert Agents(places).recognize(token) is None


def test_what_is_set_survives_a_restart_and_the_table_of_before_has_none(places: Places) -> None:
    agents, allowance = Agents(places), Allowance(5, 2, 9.5, 128, ("python",), False, False)
    for number in range(3):
        agents.add(f"agent-{number}")
    agents.allow("agent-1", allowance)
    agents.pause("agent-1")
    agents.paint("agent-1", 7)
    [_, one, _] = Agents(places).all()
    assert (one.allowance, one.paused, one.ink) == (allowance, True, 7)
    table = json.loads(places.agents.read_text())
    table["schema"] = 1
    for entry in table["agents"]:
        for name in ("allowance", "paused_at", "ink", "added_at", "former", "renamed_to"):
            del entry[name]
    places.agents.write_text(json.dumps(table))
    assert [(one.allowance, one.paused, one.ink) for one in Agents(places).all()] == [
        (Allowance(), False, number) for number in range(3)
    ]


def test_inks_are_given_in_order_and_those_of_revoked_agents_again(places: Places) -> None:
    agents = Agents(places)
    for number in range(INKS):
        agents.add(f"agent-{number}")
    assert [one.ink for one in agents.all()] == list(range(INKS))
    agents.revoke("agent-4")
    agents.add("next")
    agents.add("one-more")
    assert [one.ink for one in agents.all()][-2:] == [4, 0]
    with pytest.raises(KnownError, match="no ink"):
        agents.paint("next", INKS)


def test_a_renamed_agent_keeps_its_token_and_nothing_else_of_its_old_name(places: Places) -> None:
    now = [1_000.0]
    agents, console = Agents(places, lambda: now[0]), Agents(places, lambda: now[0])
    lost: list[str] = []
    console.listen(lambda _: None, lambda agent: lost.append(f"{agent.name} {console.renamed(agent)}"))
    token = agents.add("codex")
    agents.allow("codex", Allowance(network=False))
    agents.pause("codex")
    console.refresh()
    known = console.recognize(token)
    now[0] = 2_000.0
    agents.rename("codex", "codex-work")
    console.refresh()
    assert known is not None and not console.still_holds(known)
    again = console.recognize(token)
    assert again is not None and (again.name, again.former, again.created_at) == ("codex-work", "codex", 2_000.0)
    assert (again.allowance, again.paused, again.registered_at) == (Allowance(network=False), True, 1_000.0)
    assert lost == ["codex codex-work"]
    left = console.found("codex")
    assert left is not None and left.revoked and left.renamed_to == "codex-work"
    now[0] = 3_000.0
    other = agents.add("codex")
    taken = console.recognize(other)
    assert taken is not None and (taken.name, taken.allowance, taken.created_at) == ("codex", Allowance(), 3_000.0)
    assert console.recognize(token) == replace(again, last_seen=3_000.0)


@pytest.mark.parametrize(("old", "new"), [("codex", "claude"), ("nobody", "x"), ("codex", "a b"), ("codex", "codex")])
def test_a_renaming_that_cannot_be_changes_nothing(places: Places, old: str, new: str) -> None:
    agents = Agents(places)
    agents.add("codex")
    agents.add("claude")
    before = places.agents.read_bytes()
    with pytest.raises(KnownError):
        agents.rename(old, new)
    assert places.agents.read_bytes() == before


def test_an_agent_that_gets_the_name_of_a_revoked_one_gets_nothing_of_it(places: Places) -> None:
    now = [1_000.0]
    agents = Agents(places, lambda: now[0])
    agents.add("claude")
    agents.revoke("claude")
    agents.add("codex")
    now[0] = 2_000.0
    agents.rename("codex", "claude")
    assert [(one.name, one.created_at) for one in agents.all() if not one.revoked] == [("claude", 2_000.0)]


def test_a_pause_holds_on_a_full_disk_and_is_written_with_the_next_change(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = Agents(places)
    agents.add("codex")

    def full(_path: Path, _text: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("runner.identity.agents.replace_file", full)
        with pytest.raises(KnownError, match="No space left"):
            agents.pause("codex")
    places.agents.write_text(places.agents.read_text())
    agents.refresh()
    assert [one.paused for one in agents.all()] == [True]
    agents.add("claude")
    assert [one.paused for one in Agents(places).all()] == [True, False]
    agents.resume("codex")
    assert [one.paused for one in Agents(places).all()] == [False, False]


def test_another_process_hears_what_was_changed_and_what_not(places: Places) -> None:
    agents, console = Agents(places), Agents(places)
    heard: list[tuple[Agent, Agent]] = []
    agents.add("codex")
    console.refresh()
    console.listen(lambda _: None, lambda _: None, altered=lambda *both: heard.append(both))
    for change in (
        lambda: agents.allow("codex", Allowance(seconds=3)),
        lambda: agents.pause("codex"),
        lambda: agents.paint("codex", 5),
        lambda: agents.add("claude"),
    ):
        change()
        console.refresh()
    assert [(now.allowance.seconds, now.paused, now.ink) for _, now in heard] == [
        (3, False, 0),
        (3, True, 0),
        (3, True, 5),
    ]
    console.paint("codex", 6)
    console.refresh()
    assert len(heard) == 3, "its own changes are not told it"


def test_any_order_of_changes_leaves_a_list_that_can_be_read(places: Places) -> None:
    """Two processes at once, with every kind of change."""
    chance, now = random.Random(7), [1_000.0]
    stores = [Agents(places, lambda: now[0]) for _ in range(2)]
    names = [f"a{number}" for number in range(4)]
    for _ in range(150):
        now[0] += 1
        agents, name, other = chance.choice(stores), chance.choice(names), chance.choice(names)
        change = chance.choice(["add", "revoke", "pause", "resume", "rename", "paint"])
        arguments = {"rename": (name, other), "paint": (name, 3)}.get(change, (name,))
        try:
            getattr(agents, change)(*arguments)
        except KnownError:
            continue
        fresh = Agents(places)
        assert not fresh.problem
        assert [asdict(one) for one in fresh.all()] == [asdict(one) for one in agents.all()]
        tokens = [one.token_sha256 for one in fresh.all()]
        assert len(tokens) == len({*tokens})
