"""Real Claude Code, Codex and Gemini CLI, connected by `assent connect --hook`, ask before their own tools do anything.

They are started so that they themselves ask nobody. Each goes through all cases in one session.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest

from runner.clients.connection import ClientConnections
from runner.clients.hook_protocol import HOOK_FAILED
from runner.clients.known import BY_ID, CLAUDE
from runner.gateway import address_file
from runner.identity.agents import Agents
from runner.model.decision import Verdict
from runner.model.request import Tool
from runner.system.tasks import spawn
from tests.commands.test_cli import Desk
from tests.components import require
from tests.path.accounts import CLIENTS, EDITS, Account
from tests.path.mock_model import conversing

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.system.places import Places
    from tests.path.dialects import Brought
    from tests.path.mock_model import Conversation

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]
PROGRAM = """\
#!{python}
import runpy, sys
from runner.commands import hook
try:
    hook.DEADLINE = float(open({deadline!r}).read())
except FileNotFoundError:
    pass
hook.main(sys.argv[2:]) if sys.argv[1] == "hook" else runpy.run_module("app", run_name="__main__")
"""
"""Stands for `assent`: the deadline of its hook, which is minutes, is what a file says."""
SHORT = "3"
"""Seconds."""


class Guarded:
    """A session of a client whose own tools are asked about."""

    def __init__(self, account: Account, model: Conversation, process: Process) -> None:
        self.account = account
        self.model = model
        self.process = process
        self._number = 0

    def run(self) -> tuple[asyncio.Task[Brought], Path]:
        """Have the client's shell make a file; return the call and the file."""
        self._number += 1
        file = self.account.work / f"made-{self._number}"
        tool, arguments = self.account.shell(f"touch {shlex.quote(str(file))}; echo from-the-shell")
        return spawn("shell", self.model.call(tool, arguments)), file

    async def refused(self, says: str) -> None:
        """Have the shell run something that must not be."""
        calling, file = self.run()
        assert says in (await calling).text
        assert not file.exists()


def connect(account: Account, deadline: Path) -> None:
    """As `assent connect --hook` does it, with `PROGRAM` for the program."""
    program = account.home / "assent program"
    program.write_text(PROGRAM.format(python=sys.executable, deadline=str(deadline)))
    program.chmod(0o755)
    agents = Agents(account.places)
    connections = ClientConnections(account.places, agents, account.environment, account.home)
    setup = replace(connections.setup(hook=True), program=str(program))
    connections.connect(connections.plan(BY_ID[account.client], setup), agents.add)


@asynccontextmanager
async def console(places: Places) -> AsyncIterator[Desk]:
    desk = Desk(places)
    await desk.engine.start()
    try:
        yield desk
    finally:
        await desk.engine.close("the test closes it")


@asynccontextmanager
async def broken(places: Places, *, hangs: bool) -> AsyncIterator[None]:
    """What is left of a console that hangs, or that is killed once it was asked."""
    over = asyncio.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if hangs:
            await over.wait()
        writer.transport.abort()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    address_file.write(
        places, address_file.ConsoleAddress("127.0.0.1", server.sockets[0].getsockname()[1], os.getpid(), 0.0)
    )
    try:
        yield
    finally:
        over.set()
        server.close()
        await server.wait_closed()
        address_file.remove(places, os.getpid())


def hook_of(process: Process) -> psutil.Process:
    """Return the hook that a client has started and waits for."""
    below = psutil.Process(process.pid).children(recursive=True)
    return next(one for one in below if "hook" in one.cmdline()[2:3] and one.name() != "sh")


@pytest.mark.parametrize("client", CLIENTS)
async def test_the_clients_own_tools_do_only_what_was_approved(client: str, tmp_path: Path) -> None:
    require("agents")
    account, deadline = Account(client, tmp_path, standard=False), tmp_path / "deadline"
    with conversing() as model:
        account.prepare(model)
        connect(account, deadline)
        async with account.started(model, unasked=True) as process:
            guarded = Guarded(account, model, process)
            async with console(account.places) as desk:
                await _answered(guarded, desk)
                await _killed(guarded, desk)
            await guarded.refused("not running")
            async with broken(account.places, hangs=False):
                await guarded.refused("broke before the answer came. Nothing was run.")
            deadline.write_text(SHORT)
            async with broken(account.places, hangs=True):
                await guarded.refused("has not answered in time")
    assert {request.tool for request in desk.requests.values()} <= {Tool.CLIENT_SHELL, Tool.CLIENT_EDIT}
    assert desk.sandbox.runs == [], "Assent ran it, too"


async def test_claude_code_asks_by_the_tool_that_it_is_told_to_ask_by(tmp_path: Path) -> None:
    """It takes a tool for that only where the server lists it."""
    require("agents")
    account = Account(CLAUDE, tmp_path)
    with conversing() as model:
        account.prepare(model)
        account.connect()
        async with (
            console(account.places) as desk,
            account.started(model, "--permission-prompt-tool", "mcp__assent__approve") as process,
        ):
            guarded = Guarded(account, model, process)
            calling, file = guarded.run()
            assert str(file) in await desk.answer(Verdict.APPROVED)
            assert "from-the-shell" in (await calling).text and file.exists()
            calling, file = guarded.run()
            await desk.answer(Verdict.DENIED, "Not on a Friday.")
            assert "Not on a Friday." in (await calling).text and not file.exists()


async def _answered(guarded: Guarded, desk: Desk) -> None:
    """Yes; no with a reason; and no to a file."""
    calling, file = guarded.run()
    assert str(file) in await desk.answer(Verdict.APPROVED)
    assert "from-the-shell" in (await calling).text
    assert file.exists()
    calling, file = guarded.run()
    await desk.answer(Verdict.DENIED, "Not on a Friday.")
    assert "Not on a Friday." in (await calling).text
    assert not file.exists()
    if (tool := EDITS.get(guarded.account.client)) is not None:
        file = guarded.account.work / "notes.txt"
        arguments = {"file_path": str(file), "content": "by the agent\n"}
        editing = spawn("edit", guarded.model.call(tool, arguments))
        await desk.answer(Verdict.DENIED, "Not that file.")
        assert "Not that file." in (await editing).text
        assert not file.exists()


async def _killed(guarded: Guarded, desk: Desk) -> None:
    """kill -9 of the hook while a person looks at its question."""
    calling, file = guarded.run()
    await asyncio.wait_for(desk.questions.get(), 60)
    hook_of(guarded.process).send_signal(signal.SIGKILL)
    assert HOOK_FAILED in (await calling).text
    assert not file.exists()
    while await asyncio.wait_for(desk.decided.get(), 60) is not Verdict.WITHDRAWN:
        pass
