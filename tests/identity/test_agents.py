"""The list of agents: between processes, on a full disk, broken, and after a kill."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.identity.agents import Agents
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, TroubleCleared
from runner.settings.loading import load
from runner.system import durable
from runner.system.places import Places
from tests.doubles import HeldSandbox

if TYPE_CHECKING:
    from runner.model.events import Event

ROOT = Path(__file__).resolve().parents[2]
CONSOLE = """
import itertools, sys
from runner.identity import agents as agents_module
from runner.identity.agents import Agents
from runner.system.places import Places
agents = Agents(Places.standard(), itertools.count(2_000_000_000, 100).__next__)
for number in itertools.count():
    assert agents.recognize(sys.argv[1])
    if number == 3:
        print("writing", flush=True)
"""
"""A console that is called all the time, by a clock on which a minute passes at each call."""


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


def test_nothing_is_lost_while_a_console_writes_all_the_time(places: Places) -> None:
    token = Agents(places).add("busy")
    with subprocess.Popen(
        [sys.executable, "-c", CONSOLE, token], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as console:
        assert console.stdout is not None
        assert console.stdout.readline() == "writing\n"
        try:
            for number in range(30):
                Agents(places).add(f"agent-{number}")
                Agents(places).revoke(f"agent-{number}")
            assert console.poll() is None
        finally:
            console.kill()
    found = {agent.name: agent.revoked for agent in Agents(places).all()}
    assert found == {"busy": False, **{f"agent-{number}": True for number in range(30)}}


def test_two_processes_that_add_lose_none(places: Places) -> None:
    add = "import sys; from runner.identity.agents import Agents; from runner.system.places import Places\n"
    add += "for n in range(20): Agents(Places.standard()).add(f'{sys.argv[1]}-{n}')"
    processes = [subprocess.Popen([sys.executable, "-c", add, name], cwd=ROOT) for name in ("a", "b")]
    assert [process.wait() for process in processes] == [0, 0]
    assert len(Agents(places).all()) == 40


def test_when_an_agent_was_seen_survives_a_restart_and_is_not_in_the_table(places: Places) -> None:
    now = [1_000.0]
    agents = Agents(places, lambda: now[0])
    token = agents.add("codex")
    table = places.agents.read_bytes()
    now[0] = 2_000.0
    assert agents.recognize(token)
    assert places.agents.read_bytes() == table
    assert [agent.last_seen for agent in Agents(places).all()] == [2_000.0]
    now[0] = 3_000.0
    agents.revoke("codex")
    agents.add("codex")
    assert [agent.last_seen for agent in Agents(places).all()] == [0.0]


def test_an_agent_that_another_process_adds_again_is_new(places: Places) -> None:
    console, met = Agents(places), list[str]()
    console.listen(lambda agent: met.append(agent.token_sha256), lambda _agent: None)
    for _ in range(2):
        terminal = Agents(places)
        if met:
            terminal.revoke("codex")
        token = terminal.add("codex")
        console.refresh()
        assert console.recognize(token)
        assert [agent.last_seen > 0 for agent in Agents(places).all() if not agent.revoked] == [True]
    assert len(set(met)) == 2


def test_the_table_of_an_earlier_version_keeps_its_times(places: Places) -> None:
    agents = Agents(places)
    agents.add("codex")
    data = json.loads(places.agents.read_text())
    data["agents"][0]["last_seen"] = 7.0
    places.agents.write_text(json.dumps(data))
    assert [agent.last_seen for agent in Agents(places).all()] == [7.0]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"seen": 3}', '{"seen": {"codex": "x"}}', "[" * 100_000])
def test_broken_times_decide_nothing(places: Places, text: str) -> None:
    token = Agents(places).add("codex")
    places.seen.write_text(text)
    assert Agents(places).recognize(token)
    assert [agent.last_seen > 0 for agent in Agents(places).all()] == [True]


def test_a_revocation_that_could_not_be_written_holds_and_is_written_with_the_next_change(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = Agents(places)
    token = agents.add("codex")

    def full(_path: Path, _text: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("runner.identity.agents.replace_file", full)
        with pytest.raises(KnownError, match="No space left"):
            agents.revoke("codex")
    assert agents.recognize(token) is None
    durable.replace_file(places.agents, places.agents.read_text())
    assert agents.recognize(token) is None, "another process wrote the list"
    agents.add("claude")
    assert Agents(places).recognize(token) is None


def test_drafts_of_killed_writers_are_removed(places: Places) -> None:
    Agents(places).add("codex")
    for name in ("agents.json.12345.new", ".agents.json.12345.new"):
        (places.config / name).write_text("x")
    Agents(places)
    assert sorted(path.name for path in places.config.iterdir()) == ["agents.json", "agents.json.lock"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in places.config.iterdir()} == {0o600}


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"schema": 1, "agents": [3]}'])
def test_a_list_that_cannot_be_read_is_reported_and_never_written_over(places: Places, text: str) -> None:
    places.agents.write_text(text)
    agents = Agents(places)
    assert "could not be read" in agents.problem
    agents.add("codex")
    assert agents.problem == ""
    (aside,) = places.config.glob("agents.json.unreadable-*")
    assert aside.read_text() == text


@pytest.mark.asyncio
async def test_a_broken_list_is_a_trouble_in_the_window(places: Places) -> None:
    places.agents.write_text("{")
    engine = build(places, load(places, {}), (HeldSandbox(),))
    heard: list[Event] = []
    engine.listen(heard.append)
    await engine.start(gateway=False)
    try:
        (told,) = [event for event in heard if isinstance(event, EngineTroubled) and event.area == "agents"]
        assert str(places.agents) in told.what
        await engine.membership.add("codex")
        assert TroubleCleared("agents") in heard
        places.agents.write_text("[")
        engine.parts.agents.recognize("assent_x")
        assert [event.area for event in heard if isinstance(event, EngineTroubled)].count("agents") == 2
    finally:
        await engine.close("the test is over")


def test_a_body_that_comes_slowly_is_no_way_round_a_revocation(places: Places) -> None:
    agents = Agents(places)
    agent = agents.recognize(agents.add("claude"))
    assert agent is not None and agents.still_holds(agent)
    Agents(places).revoke("claude")
    assert not agents.still_holds(agent)
