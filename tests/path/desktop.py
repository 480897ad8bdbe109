"""A screen, the real console on it as a process of its own, and hands to press keys."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from runner.agents import Agents
from runner.audit.search import History
from runner.places import Places

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from runner.audit.search import Record

PATIENCE = 30.0
AGENT = "claude"


@contextmanager
def screen(size: str = "1280x800x24") -> Iterator[str]:
    """A virtual screen; its display name."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        number = answer.readline().strip()
    try:
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


class Desktop:
    """One home folder and one screen; the console on it can be started and killed any number of times."""

    def __init__(self, home: Path, display: str) -> None:
        self.places = Places.under(home)
        self.places.make()
        self.token = Agents(self.places).add(AGENT)
        self._environment = os.environ | {
            "ASSENT_HOME": str(home),
            "ASSENT_PORT": "0",
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
        }
        self._console: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start the console and wait until agents can reach it."""
        self.places.door.unlink(missing_ok=True)
        self._console = subprocess.Popen([sys.executable, "-m", "app"], env=self._environment)
        await until(self.places.door.exists)

    def kill(self) -> None:
        """kill -9."""
        assert self._console is not None
        self._console.kill()
        self._console.wait()

    def quit(self) -> int:
        """SIGTERM; the exit code."""
        assert self._console is not None
        self._console.send_signal(signal.SIGTERM)
        return self._console.wait(PATIENCE)

    def end(self) -> None:
        if self._console is not None and self._console.poll() is None:
            self.kill()

    def press(self, key: str) -> None:
        """A real key event. The window is given the focus first, as a window manager would do."""
        find = ["xdotool", "search", "--onlyvisible", "--name", "Assent"]
        subprocess.run([*find, "windowfocus", "key", key], env=self._environment, check=True)

    @asynccontextmanager
    async def client(self, era: str = "auto") -> AsyncIterator[Client]:
        door = json.loads(self.places.door.read_text())
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {self.token}"})
        address = f"http://127.0.0.1:{door['port']}/mcp"
        async with http, Client(streamable_http_client(address, http_client=http), mode=era) as client:
            yield client

    @asynccontextmanager
    async def doomed_client(self) -> AsyncIterator[Client]:
        """A client whose console is killed: that it cannot say goodbye is no failure."""
        try:
            async with self.client() as client:
                yield client
        except* httpx2.TransportError:
            assert self._console is not None
            assert self._console.poll() is not None, "the console lives"

    def records(self) -> list[Record]:
        """Everything in the history, newest first."""
        if not self.places.ledger.exists():
            return []
        history = History(self.places.ledger)
        try:
            found = [history.case(row.id) for row in history.page()]
        finally:
            history.close()
        return [record for record in found if record is not None]

    def phase(self) -> str:
        """Where the newest request stands."""
        return next((record.row.phase.value for record in self.records()), "")


async def until(true: Callable[[], object]) -> None:
    """Wait for something another process does."""
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.02)


def processes(marker: str) -> list[str]:
    """Processes of this machine with `marker` in their command line."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if marker in line]
