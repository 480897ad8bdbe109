"""The token of `assent run`: one for all runs, and never against what the person has done to its agent."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.commands import run_token
from runner.commands.run_token import own_token
from runner.identity.agents import Agents
from runner.identity.allowance import Allowance
from runner.identity.secrets import Secrets
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.settings.loading import load
from runner.system.places import Places
from tests.commands.test_cli import ASSENT, Desk, assent, submitted
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

FILE = {"ASSENT_SECRETS_FILE": "true"}


@pytest.fixture
def places(home: Path) -> Places:
    made = Places.under(home)
    made.make()
    return made


@pytest_asyncio.fixture
async def desk(places: Places) -> AsyncIterator[Desk]:
    desk = Desk(places)
    await desk.engine.start()
    yield desk
    await desk.engine.close("the test is over")


def token(places: Places, environment: Mapping[str, str] = MappingProxyType({})) -> str:
    """As a new process finds it."""
    return own_token(places, Agents(places), Secrets(places, load(places, environment).settings))


def names(places: Places) -> list[str]:
    return [agent.name for agent in Agents(places).all() if not agent.revoked]


async def begun(file: Path) -> asyncio.subprocess.Process:
    process = await submitted(str(file))
    assert process.stdin is not None
    process.stdin.close()
    return process


@pytest.mark.asyncio
async def test_two_first_runs_at_once_without_a_keyring_leave_each_other_alone(
    desk: Desk, places: Places, tmp_path: Path
) -> None:
    files = [tmp_path / f"{number}.py" for number in range(2)]
    for file in files:
        file.write_text(f"print({file.stem})\n")
    processes = await asyncio.gather(*map(begun, files))
    asked = {await desk.answer(Verdict.APPROVED) for _ in processes}
    assert asked == {"print(0)\n", "print(1)\n"}, "both waited at the same time"
    async with asyncio.timeout(HANGS):
        while len(desk.sandbox.runs) < 2:
            await desk.running.wait()
            await asyncio.sleep(0.01)
    files[0].write_text("print(2)\n")
    third = await begun(files[0])
    await desk.answer(Verdict.DENIED)
    assert b"Denied" in (await third.communicate())[1], "while the others run"
    for one in desk.sandbox.runs:
        one.finish(one.job.code)
    done = [await process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], done
    assert {out for out, _ in done} == {b"print(0)\n", b"print(1)\n"}
    assert names(places) == ["shell"]
    with closing(sqlite3.connect(places.ledger)) as history:
        kinds = [kind for (kind,) in history.execute("select kind from entries where kind like 'agent-%'")]
    assert sorted(kinds) == ["agent-added", "agent-seen"], "nothing revoked, and not added and met for each run"


def test_many_first_runs_at_once_get_one_token(places: Places) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(lambda _: token(places), range(8)))
    assert len({*tokens}) == 1 and names(places) == ["shell"]
    kept = run_token.file(places)
    assert kept.read_text() == tokens[0]
    assert kept.stat().st_mode & 0o777 == 0o600


def test_where_secrets_are_kept_the_token_is_with_them(places: Places) -> None:
    first = token(places, FILE)
    assert not run_token.file(places).exists()
    assert token(places, FILE) == first
    assert token(places) == first, "also when the agreement is taken back: the file is still read"


def test_what_the_person_set_holds_for_every_run(places: Places) -> None:
    first = token(places)
    Agents(places).allow("shell", Allowance(seconds=3))
    assert token(places) == first
    assert Agents(places).allowance("shell").seconds == 3
    Agents(places).rename("shell", "mine")
    assert token(places) == first
    Agents(places).pause("mine")
    with pytest.raises(KnownError, match=r"You paused `mine`\. assent agents resume mine"):
        token(places)
    Agents(places).resume("mine")
    assert token(places) == first
    Agents(places).revoke("mine")
    with pytest.raises(KnownError, match="You revoked `mine`"):
        token(places)


@pytest.mark.asyncio
async def test_revoked_or_paused_nothing_is_asked_until_the_person_says_otherwise(
    desk: Desk, places: Places, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    file.write_text("print(1)\n")
    assert assent("agents", "add", "shell").returncode == 0
    for words, wanted in (
        (("pause", "shell"), "You paused `shell`. assent agents resume shell"),
        (("revoke", "shell"), "You revoked `shell`. To have it run again: assent agents add shell"),
    ):
        assert await asyncio.to_thread(lambda words=words: assent("agents", *words).returncode) == 0
        for _ in range(2):
            done = await asyncio.to_thread(assent, "run", str(file))
            assert done.returncode == 125 and wanted in done.stderr
    assert names(places) == [] and not desk.requests
    assert (await asyncio.to_thread(assent, "agents", "add", "shell")).returncode == 0
    process = await begun(file)
    await desk.answer(Verdict.DENIED)
    await process.communicate()
    assert names(places) == ["shell"]


def test_an_agent_whose_token_is_not_at_hand_is_not_taken_from_whoever_has_it(places: Places) -> None:
    theirs = Agents(places).add("shell")
    with pytest.raises(KnownError, match=r"The token of `shell` is not at hand: .*assent agents revoke shell &&"):
        token(places)
    assert Agents(places).named_by(theirs) is not None
    assert not run_token.file(places).exists()


def test_adding_it_twice_leaves_the_token_that_is_kept(places: Places) -> None:
    first = token(places)
    done = subprocess.run([*ASSENT, "agents", "add", "shell"], capture_output=True, text=True, check=False)
    assert done.returncode and "There is an agent called shell already" in done.stderr
    assert token(places) == first


def test_a_token_that_cannot_be_kept_registers_nobody(places: Places) -> None:
    places.state.rename(places.state.with_name("moved"))
    places.state.write_text("in the way")
    with pytest.raises(KnownError, match="run-token"):
        token(places)
    assert names(places) == []


def test_a_list_of_agents_that_cannot_be_read_stays_where_it_is(places: Places) -> None:
    places.agents.write_text("{")
    with pytest.raises(KnownError, match="could not be read"):
        token(places)
    assert places.agents.read_text() == "{"


def test_a_lost_or_foreign_file_is_no_token(places: Places) -> None:
    run_token.file(places).write_text("assent_of-another-account")
    first = token(places)
    run_token.file(places).unlink()
    with pytest.raises(KnownError, match="not at hand"):
        token(places)
    assert Agents(places).named_by(first) is not None


def test_a_revoked_agent_stays_revoked_where_its_token_is_lost(places: Places) -> None:
    token(places)
    run_token.file(places).unlink()
    Agents(places).revoke("shell")
    with pytest.raises(KnownError, match="You revoked `shell`"):
        token(places)
    assert names(places) == []
