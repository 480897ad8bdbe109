"""What counts for a program at work, read from the files at each use: settings, rules, and its agent."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING

import pytest

from runner.clients.agent_at_work import agent_of
from runner.clients.client import ConfigScope
from runner.clients.connection import ClientConnections
from runner.clients.known import BY_ID
from runner.identity.agents import Agents
from runner.identity.allowance import Allowance
from runner.model.assessment import Level
from runner.model.network import Destination
from runner.system.places import Places
from runner.work import terms
from runner.work.in_force import ASK, PAUSED, REVOKED, UNKNOWN, InForce
from runner.work.judging import NOT_ASSESSED, CommandVerdict, Judging
from runner.work.terms import ASKS_ALL, LEAVE_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLAUDE = "claude-code"
DENY = {"name": "no-push", "action": "deny", "conditions": [{"param": "code", "matches": "git push"}]}
CRITICAL, HIGH, PLAIN = "crontab -r", "git reset --hard", "echo 1"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places.under(tmp_path / "assent")
    found.make()
    return found


@pytest.fixture
def of_claude(places: Places, tmp_path: Path) -> InForce:
    """What counts for Claude Code, in a home without any configuration."""
    home = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}

    def found(agents: Agents) -> object:
        return agent_of(CLAUDE, agents, places, tmp_path, home, tmp_path)

    return InForce(places, CLAUDE, found, ("Bash",), {})  # type: ignore[arg-type]


@pytest.fixture
def judging(places: Places, of_claude: InForce) -> Iterator[Judging]:
    with contextlib.closing(Judging(places.own_rules, of_claude)) as made:
        made.start()
        yield made


def rules(places: Places, *written: object) -> None:
    (places.config / "rules.yaml").write_text(json.dumps({"rules": written}))


def held(judging: Judging) -> dict[str, bool]:
    return {text: judging.judge(text, "/p").held for text in (CRITICAL, HIGH, PLAIN)}


def test_a_command_that_comes_before_the_assessor_waits_for_it(places: Places, of_claude: InForce) -> None:
    verdicts: list[CommandVerdict] = []
    with contextlib.closing(Judging(places.own_rules, of_claude)) as judging:
        early = threading.Thread(target=lambda: verdicts.append(judging.judge(PLAIN, "/p")))
        early.start()
        judging.start()
        early.join()
    assert [(one.held, one.sentence != NOT_ASSESSED) for one in verdicts] == [(False, True)]


def test_the_setting_moves_what_is_held(places: Places, judging: Judging) -> None:
    assert held(judging) == {CRITICAL: True, HIGH: False, PLAIN: False}
    for choice, expected in (
        ("high", {CRITICAL: True, HIGH: True, PLAIN: False}),
        ("none", {CRITICAL: False, HIGH: False, PLAIN: False}),
        ("critical", {CRITICAL: True, HIGH: False, PLAIN: False}),
    ):
        places.settings.write_text(f"work: {{hold: {choice}}}\n")
        assert held(judging) == expected


@pytest.mark.parametrize("broken", ["work: {hold: none}\nwork: {hold: none}\n", "work: {hold: ", "work: {hold: few}\n"])
def test_settings_that_cannot_be_read_hold_every_command(places: Places, judging: Judging, broken: str) -> None:
    places.settings.write_text("work: {hold: none}\n")
    assert not any(held(judging).values())
    places.settings.write_text(broken)
    assert all(held(judging).values())
    assert judging.judge(PLAIN, "/p").reasons[0] == ASKS_ALL
    places.settings.unlink()
    places.settings.mkdir()
    assert all(held(judging).values())
    places.settings.rmdir()
    assert held(judging) == {CRITICAL: True, HIGH: False, PLAIN: False}


def test_rules_that_cannot_be_read_hold_every_command(places: Places, judging: Judging) -> None:
    (places.config / "rules.yaml").write_text("rules: [{name: a, action: forbid}]\n")
    assert all(held(judging).values())


def test_a_file_that_is_being_written_counts_once_it_is_whole(
    places: Places, of_claude: InForce, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor empties a file and writes it again: for that moment no rule would deny anything."""
    rules(places, DENY)
    assert of_claude.of_command("git push", "/p").refused
    file = places.config / "rules.yaml"
    whole = file.read_bytes()
    real, written = terms.rulefile.read, threading.Event()

    def reading(*given: object) -> object:
        found = real(*given)  # type: ignore[arg-type]
        if not written.is_set():
            assert found.rules == ()
            file.write_bytes(whole)
            written.set()
        return found

    monkeypatch.setattr(terms.rulefile, "read", reading)
    file.write_bytes(b"")
    assert of_claude.of_command("git push", "/p").refused and written.is_set()


def test_a_rule_that_denies_refuses_a_command_as_it_does_a_request(places: Places, judging: Judging) -> None:
    rules(places, {**DENY, "tools": ["client_shell"], "agents": [CLAUDE]})
    verdict = judging.judge("git push", "/p")
    assert verdict.refused == f"Denied by your rule no-push. {LEAVE_OUT}"
    assert verdict.sentence and not verdict.held
    for other in ({"agents": ["other"]}, {"tools": ["code_execute"]}):
        rules(places, {**DENY, **other})
        assert judging.judge("git push", "/p").refused == ""
    rules(places, {"name": "no", "action": "deny", "conditions": [{"param": "client_tool", "equals": "Bash"}]})
    assert judging.judge(PLAIN, "/p").refused
    rules(places, {"name": "in", "action": "deny", "conditions": [{"param": "folder", "equals": "/p"}]})
    assert judging.judge(PLAIN, "/p").refused and not judging.judge(PLAIN, "/q").refused


def test_a_rule_that_raises_the_level_has_a_command_held(places: Places, judging: Judging) -> None:
    rules(places, {"name": "careful", "level": "CRITICAL", "conditions": [{"param": "code", "matches": "echo"}]})
    verdict = judging.judge(PLAIN, "/p")
    assert verdict.held and verdict.level == "CRITICAL" and verdict.reasons[0] == "Your rule careful sets CRITICAL."


def test_a_stronger_sandbox_is_said_where_the_policy_wants_one(places: Places, judging: Judging) -> None:
    assert "Docker or stronger" in judging.judge(CRITICAL, "/p").sandbox
    places.settings.write_text("security: {sandbox: {hitl: {isolation: {critical: local}}}}\n")
    assert judging.judge(CRITICAL, "/p").sandbox == ""


def test_a_paused_agent_has_each_command_refused_also_the_clients_own(
    places: Places, of_claude: InForce, judging: Judging
) -> None:
    agents = Agents(places)
    agents.add(CLAUDE)
    agents.pause(CLAUDE)
    assert judging.judge(PLAIN, "/p").refused == f"{PAUSED} {ASK}"
    assert judging.judge(PLAIN, "/p", prepares=True).refused == PAUSED
    assert of_claude.ended() == ""
    agents.resume(CLAUDE)
    assert judging.judge(PLAIN, "/p").refused == ""


def test_a_revoked_agent_ends_its_program_also_under_another_name(places: Places, of_claude: InForce) -> None:
    agents = Agents(places)
    agents.add(CLAUDE)
    assert of_claude.standing() == of_claude.ended() == ""
    agents.rename(CLAUDE, "mine")
    assert of_claude.agent == "mine" and of_claude.ended() == ""
    agents.pause("mine")
    assert of_claude.standing() == PAUSED
    agents.add(CLAUDE)  # another one, of the old name
    agents.revoke("mine")
    assert of_claude.ended() == of_claude.standing() == REVOKED.format("mine")


def test_an_agent_that_comes_later_counts_as_well(places: Places, of_claude: InForce) -> None:
    assert of_claude.standing() == ""
    agents = Agents(places)
    agents.add(CLAUDE)
    agents.pause(CLAUDE)
    assert of_claude.standing() == PAUSED


def test_a_revoked_agent_without_a_connection_bars_nothing(places: Places, of_claude: InForce) -> None:
    """As `assent connect --remove` leaves it."""
    agents = Agents(places)
    agents.add(CLAUDE)
    agents.revoke(CLAUDE)
    assert of_claude.standing() == of_claude.ended() == ""


def test_the_agent_is_that_of_the_clients_configuration(places: Places, tmp_path: Path) -> None:
    """Of the project before that of the account, and also where it was revoked."""
    agents, environment = Agents(places), {"HOME": str(tmp_path)}
    connections = ClientConnections(places, agents, environment, tmp_path)
    project = tmp_path / "project"
    project.mkdir()

    def found() -> str:
        agent = agent_of(CLAUDE, agents, places, project, environment, tmp_path)
        return "" if agent is None else agent.name

    for setup, name in ((connections.setup(), "mine"), (connections.setup(ConfigScope.PROJECT, project), "here")):
        agents.add(CLAUDE) if name == "mine" else None
        assert found() == {"mine": CLAUDE, "here": "mine"}[name]
        connections.connect(connections.plan(BY_ID[CLAUDE], setup, name), agents.add)
        assert found() == name
    agents.rename("here", "there")
    assert found() == "there"
    agents.revoke("there")
    assert found() == "there"
    made = InForce(
        places, CLAUDE, lambda known: agent_of(CLAUDE, known, places, project, environment, tmp_path), (), environment
    )
    assert made.ended() == REVOKED.format("there")
    removal = connections.removal(BY_ID[CLAUDE], connections.setup(ConfigScope.PROJECT, project))
    connections.disconnect(removal, agents.revoke)
    assert found() == "mine", "a connection that was removed bars nothing"


def test_nothing_runs_while_the_list_of_agents_cannot_be_read(places: Places, of_claude: InForce) -> None:
    Agents(places).add(CLAUDE)
    assert of_claude.standing() == ""
    whole = places.agents.read_bytes()
    places.agents.write_bytes(whole[: len(whole) // 2])
    assert of_claude.standing() == UNKNOWN and of_claude.ended() == ""
    places.agents.write_bytes(whole)
    assert of_claude.standing() == ""


def test_the_rate_of_an_agent_is_that_of_its_commands(places: Places, tmp_path: Path) -> None:
    agents = Agents(places)
    agents.add(CLAUDE)
    now = 0.0
    made = InForce(places, CLAUDE, lambda found: found.found(CLAUDE), (), {}, lambda: now)
    made.close()  # nothing waits here
    assert [made.turn() for _ in range(100)] == [""] * 100
    agents.allow(CLAUDE, Allowance(rate_per_minute=6))
    # Six at once, one more waits ten seconds; the next one would wait longer.
    said = [made.turn() for _ in range(8)]
    assert said[:7] == [""] * 7 and said[7].startswith("A person lets this agent start 6 commands a minute. Try again")
    now = 30.0
    assert made.turn() == ""


def test_hosts_are_refused_by_rules_and_by_what_the_agent_may(places: Places, of_claude: InForce) -> None:
    host = Destination.parse("example.com")
    assert of_claude.refuses_host(host) == ""
    rules(places, {"name": "no", "action": "deny", "conditions": [{"param": "domain", "equals": "example.com"}]})
    assert of_claude.refuses_host(host) == "Denied by your rule no."
    assert of_claude.refuses_host(Destination.parse("example.org")) == ""
    rules(places)
    Agents(places).add(CLAUDE)
    Agents(places).allow(CLAUDE, Allowance(network=False))
    assert of_claude.refuses_host(host) == "The person does not let this agent ask for network."


def test_levels_above_what_the_rings_are_for(of_claude: InForce) -> None:
    assert of_claude.stronger(Level.CRITICAL) and not of_claude.stronger(Level.HIGH)
