"""Real Claude Code, Codex and Gemini CLI in a fresh account: connected by `assent connect`, then all that can happen.

One start of a program takes seconds, so each goes through all cases in one session, in which the test says what its
model does next; a second session begins where the first was killed.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.gateway import guard
from runner.gateway.replies import JOINED
from runner.identity.agents import Agents
from runner.model.decision import Verdict
from runner.model.lifecycle import Phase
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.tasks import spawn
from tests.components import require
from tests.path.accounts import CLIENTS, Account, interrupt
from tests.path.mock_model import Conversation, conversing
from tests.path.test_headless import Person
from tests.patience import HANGS
from tests.recorded import records

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from runner.engine.engine import Engine
    from tests.path.dialects import Brought
    from tests.path.mock_model import Call

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]
SETTINGS = {
    "ASSENT_PORT": "0",
    "ASSENT_BURST": "100",
    "ASSENT_MAX_PENDING": "40",
    "ASSENT_AUTO_APPROVE_LOW": "false",
    "ASSENT_WINDOW_CRITICAL": "5",
    "ASSENT_WEAKEST_ISOLATION_CRITICAL": "local",
}
AT_ONCE = 20
PICTURE = """\
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = (b"\\0" + b"\\x20\\x80\\xc0" * 32) * 32
parts = (b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
open("plot.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + b"".join(chunk(*part) for part in parts))
open("data.csv", "w").write("a,b\\n1,2\\n")
print("drawn")
"""
CRITICAL: Call = ("code_execute", {"language": "shell", "code": "echo cm0gLXJmIH4= | base64 -d | sh"})
"""It has the shortest time."""


class Desk:
    """A console without a window that can be opened and closed any number of times, and the person at it."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._number = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Person]:
        places = self._account.places
        self._number += 1
        runs = places.state / f"runs-{self._number}"
        self.engine: Engine = build(places, load(places, SETTINGS), (LocalSandbox(runs),))
        await self.engine.start()
        try:
            yield Person(self.engine)
        finally:
            await self.engine.close("the test closes it")

    @property
    def open_questions(self) -> list[str]:
        return [one.request_id for one in self.engine.desk.waiting()]

    def closed(self, request_id: str) -> bool:
        ticket = self.engine.ticket(self._account.client, request_id)
        return ticket is not None and ticket.phase is Phase.CLOSED


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(HANGS):
        while not true():
            await asyncio.sleep(0.02)


def python(code: str, **more: object) -> Call:
    return "code_execute", {"language": "python", "code": code, **more}


def id_in(brought: Brought, length: int = 32) -> str:
    found = re.search(rf"\b[0-9a-f]{{{length}}}\b", brought.text)
    assert found is not None, brought
    return found[0]


@pytest.fixture
def account(request: pytest.FixtureRequest, tmp_path: Path) -> Account:
    require("agents")
    require("bubblewrap")
    return Account(request.param, tmp_path)


@pytest.mark.parametrize("account", CLIENTS, indirect=True)
async def test_all_that_can_happen_to_a_call(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(account)
    async with desk.open() as person:
        with conversing() as model:
            account.prepare(model)
            said = account.connect()
            assert "set up as agent" in said, said
            async with account.started(model) as process:
                await _decided(model, person)
                left = await _pending(model, desk, person, monkeypatch)
                await _kept(model)
                await _pictured(model)
                await _many(model, person)
                await _interrupted(model, desk, person, process)
        assert left in desk.open_questions, "that one was answered `pending`"
        person.verdict = Verdict.APPROVED
        person.answer(left)
        await until(lambda: desk.closed(left))
        with conversing() as model:
            account.prepare(model)
            async with account.started(model):
                again = await model.call(*LATE)
                assert "came late" in again.text and JOINED in again.text
    assert [one.request.id for one in records(account.places.ledger) if one.request.code == LATE[1]["code"]] == [left]


@pytest.mark.parametrize("account", CLIENTS, indirect=True)
async def test_the_console_is_closed_and_opened_and_the_token_revoked(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(account)
    with conversing() as model:
        account.prepare(model)
        account.connect()
        async with account.started(model):
            assert "not running" in (await model.call(*python("print(1)"))).text
            async with desk.open() as person:
                assert "1" in (await model.call(*python("print(1)"))).text
                person.verdict = None
                with monkeypatch.context() as patch:
                    patch.setattr(guard, "LONGEST_HOLD", 0.5)
                    left = id_in(await model.call(*LATE))
                person.verdict = Verdict.APPROVED
                person.answer(left)
                await until(lambda: desk.closed(left))
                person.verdict = None
                asking = spawn("call", model.call(*python("print(2)")))
                await until(lambda: desk.open_questions)
            assert "the test closes it" in (await asking).text
            assert "not running" in (await model.call(*python("print(3)"))).text
            async with desk.open():
                assert "came late" in (await model.call("code_result", {"id": left})).text
                assert "4" in (await model.call(*python("print(2 + 2)"))).text
                await desk.engine.membership.revoke(account.client)
                assert "revoked token" in (await model.call(*python("print(5)"))).text
                model.end()


@pytest.mark.parametrize("account", CLIENTS, indirect=True)
async def test_a_wrong_token(account: Account) -> None:
    """A program that is started with it gets no tools, and nobody is asked."""
    desk = Desk(account)
    async with desk.open() as person:
        with conversing() as model:
            account.prepare(model)
            account.connect()
            Agents(account.places).revoke(account.client)
            model.end("Nothing to do.")
            async with account.started(model) as process:
                async with asyncio.timeout(HANGS):
                    out, _ = await process.communicate()
                assert b"Nothing to do." in out
            assert not {name for name in model.offered if name.endswith("code_execute")}
            assert person.asked == []


LATE = python("print('came late')")


async def _decided(model: Conversation, person: Person) -> None:
    """Yes, no with a reason, nobody."""
    assert "42" in (await model.call(*python("print(6 * 7)"))).text
    assert {name for name in model.offered if name.endswith(("code_execute", "code_result"))}
    failed = (await model.call(*python("print('half')\nraise SystemExit(3)"))).text
    assert "half" in failed and "3" in failed
    person.verdict, person.reason = Verdict.DENIED, "Use the staging data"
    said = (await model.call(*python("print('ran')"))).text
    assert "Use the staging data" in said and "Nothing was run" in said
    person.verdict, person.reason = None, ""
    assert "No answer came in time" in (await model.call(*CRITICAL)).text
    person.verdict = Verdict.APPROVED


async def _pending(model: Conversation, desk: Desk, person: Person, monkeypatch: pytest.MonkeyPatch) -> str:
    """A person who takes longer than the call may; return the id of a request that stays open."""
    person.verdict = None
    with monkeypatch.context() as patch:
        patch.setattr(guard, "LONGEST_HOLD", 0.5)
        id = id_in(await model.call(*python("print('slow')")))
        left = id_in(await model.call(*LATE))
    fetching = spawn("fetch", model.call("code_result", {"id": id}))
    person.verdict = Verdict.APPROVED
    person.answer(id)
    assert "slow" in (await fetching).text
    return left


async def _kept(model: Conversation) -> None:
    """A sandbox that is kept, with a file in it."""
    id = id_in(await model.call("code_create_sandbox", {"language": "python", "title": "sums"}), 12)
    await model.call("code_write_file", {"sandbox_id": id, "file_path": "in.txt", "content": "20\n22\n"})
    ran = await model.call(*python("print(sum(map(int, open('in.txt'))))", sandbox_id=id))
    assert "42" in ran.text
    assert "22" in (await model.call("code_read_file", {"sandbox_id": id, "file_path": "in.txt"})).text
    assert "in.txt" in (await model.call("code_list_files", {"sandbox_id": id})).text
    await model.call("code_destroy_sandbox", {"sandbox_id": id})


async def _pictured(model: Conversation) -> None:
    drawn = await model.call(*python(PICTURE))
    assert "drawn" in drawn.text and "data.csv" in drawn.text and "plot.png" in drawn.text
    assert drawn.pictures == 1


async def _many(model: Conversation, person: Person) -> None:
    asked = len(person.asked)
    brought = await model.calls(*(python(f"print({number} * 1001)") for number in range(AT_ONCE)))
    for number, one in enumerate(brought):
        assert str(number * 1001) in one.text
    assert len(person.asked) == asked + AT_ONCE


async def _interrupted(model: Conversation, desk: Desk, person: Person, process: Process) -> None:
    """Ctrl+C while a question is open: it is withdrawn, and the one before it stays."""
    person.verdict, asked = None, len(person.asked)
    call = spawn("call", model.call(*python("print('never')")))
    await until(lambda: len(person.asked) > asked)
    interrupt(process)
    await until(lambda: person.asked[-1] not in desk.open_questions)
    call.cancel()
