"""The console of an installed package on a screen, and clients that ask it as agents do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from runner.system.places import DOOR
from tests.package.bare_root import PATH
from tests.package.given import HOME, PATIENCE
from tests.recorded import records

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from runner.audit.history.search import CaseRecord
    from tests.package.bare_root import BareRoot
    from tests.package.screen import Screen

DESKTOP_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
"""What a desktop gives the programs that it starts."""
SHOWN = re.compile(r"^--- (?P<client>[^:\n]+): [^\n]*\n(?P<text>.*?)(?=\n\n--- |\Z)", re.DOTALL | re.MULTILINE)
"""One of the configurations that `assent agents add` shows."""
CLAUDE_CODE = "Claude Code"
STARTED = "Any client that starts a command"


class Console:
    """The console as a person has it who opens it from the menu, in a home of its own."""

    def __init__(self, root: BareRoot, screen: Screen, home: str = HOME) -> None:
        self.root = root
        self.screen = screen
        self.home = home
        self._environment = {"DISPLAY": screen.display, "HOME": home, "ASSENT_PORT": str(_free_port())}
        self._environment |= {"PATH": DESKTOP_PATH, "MARK_OF_THE_PERSON": "here", "ASSENT_START_AT_LOGIN": "true"}
        self._process: subprocess.Popen[bytes] | None = None
        root.run("mkdir", "-p", home, user="person")
        self.open()

    def open(self) -> None:
        """Start it and wait for its window and its door."""
        self._process = subprocess.Popen(
            self.root.command("assent", user="person", environment=self._environment), cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(self.screen.window)
        until((self.state / DOOR).exists)
        self.screen.press("ctrl+1")  # a first start shows the first steps

    @property
    def state(self) -> Path:
        """The folder of its logs, seen from this machine."""
        return self.root.folder / self.home.lstrip("/") / ".local/state/assent"

    def add_agent(self, name: str) -> dict[str, str]:
        """Register an agent; return what is shown for pasting, by client."""
        words = ("assent", "agents", "add", name)
        shown = self.root.run(*words, user="person", environment=self._environment).stdout
        return {one["client"]: one["text"].strip() for one in SHOWN.finditer(shown)}

    def ask(self, configured: str, code: str, name: str) -> str:
        """Ask by the Python SDK as a client with this configuration would; return what its model reads."""
        (server,) = json.loads(configured)["mcpServers"].values()
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(asyncio.run, self._call(server, {"language": "python", "code": code}))
            self.approve(asked, name)
        return asked.result()

    def approve(self, asked: Future[Any], name: str) -> None:
        """Wait for the question and click on Approve until it is answered: a click that comes at once is ignored."""
        until(lambda: self.phase() == "asked" or asked.done())
        ends = time.monotonic() + PATIENCE
        while not asked.done() and time.monotonic() < ends:
            if self.phase() == "asked":
                self.screen.click_approve(f"{name}-asked")
        asked.result(PATIENCE)

    async def _call(self, server: dict[str, Any], arguments: dict[str, str]) -> str:
        async with contextlib.AsyncExitStack() as stack:
            if "url" in server:
                http = await stack.enter_async_context(create_mcp_http_client(headers=server["headers"]))
                client = Client(streamable_http_client(server["url"], http_client=http))
            else:
                # With HOME and PATH alone, as clients start it.
                environment = {"HOME": self.home, "PATH": PATH, **server["env"]}
                words = (server["command"], *server["args"])
                command, *rest = self.root.command(*words, user="person", environment=environment)
                client = Client(StdioServerParameters(command=command, args=rest, cwd="/"))
            await stack.enter_async_context(client)
            answer = await client.call_tool("code_execute", arguments)
            return "".join(getattr(part, "text", "") for part in answer.content)

    def records(self) -> list[CaseRecord]:
        """Return everything in the history, newest first."""
        ledger = self.root.folder / self.home.lstrip("/") / ".local/share/assent/ledger.sqlite3"
        return records(ledger) if ledger.exists() else []

    def phase(self) -> str:
        """Return where the newest request stands."""
        return next((record.row.phase.value for record in self.records()), "")

    def read(self, name: str) -> str:
        """Return a log, '' where there is none."""
        file = self.state / name
        return file.read_text() if file.exists() else ""

    def close(self) -> None:
        """End it as the end of a session does; nothing may have gone wrong in it."""
        assert self._process is not None
        self.root.kill("start.py")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self._process.kill()
        self._process.wait()
        assert self.read("faults.log") == ""


def until(true: Callable[[], object]) -> None:
    """Wait for something that another process does."""
    ends = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < ends, "it did not come"
        time.sleep(0.1)


def _free_port() -> int:
    """Return a port that nobody listens at: the bare system shares this machine's network."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
