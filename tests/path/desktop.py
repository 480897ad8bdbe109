"""The real console as a process of its own on a virtual screen, with eyes to see it and hands to press and click."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, cast

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from PySide6.QtGui import QColor, QImage

from runner.identity.agents import Agents
from runner.system.places import Places
from tests import kept
from tests.patience import HANGS
from tests.recorded import newest, records

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from runner.audit.history.search import CaseRecord

PATIENCE = HANGS
AGENT = "claude"
BUTTON_WIDTH, BUTTON_ROWS = 60, 4
"""Pixels: wider than an icon, higher than a frame around something."""
PIXEL = 4
"""Bytes."""
SEND = """\
import ctypes, struct, sys
window, keycode = map(int, sys.argv[1:])
xcb = ctypes.CDLL("libxcb.so.1")
xcb.xcb_connect.restype = ctypes.c_void_p
connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
for kind in (2, 3):  # pressed, released; long after every real key, so that it counts as a key by itself
    late = 0x70000000 + kind
    event = struct.pack("<BBHIIIIhhhhHBx", kind, keycode, 0, late, 0, window, 0, 1, 1, 1, 1, 0, 1)
    xcb.xcb_send_event(connection, 0, window, 0, event)
xcb.xcb_flush(connection)
xcb.xcb_disconnect(connection)
"""
"""A window and a keycode of the X server's; written with libxcb, which Qt needs too."""
KEYCODE_A = 38
PHOTOGRAPH = """\
import sys
from PySide6.QtGui import QGuiApplication
app = QGuiApplication([])
sys.exit(not app.primaryScreen().grabWindow(0).save(sys.argv[1]))
"""


class Desktop:
    """One home folder and one screen; the console on it can be started and killed any number of times."""

    def __init__(self, home: Path, display: str, *, shared: bool = False) -> None:
        """`shared`: several tests use it, and who makes it ends it."""
        self.home = home
        self._shared = shared
        self.places = Places.under(home)
        self.places.make()
        self.token = Agents(self.places).add(AGENT)
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("ASSENT_", "SANDBOX_", "DOCKER_"))
        }
        self._environment = own | {
            "ASSENT_HOME": str(home),
            "ASSENT_PORT": "0",
            # Nobody gives the window the focus on this screen: cards would lie over it.
            "ASSENT_COMPACT_PROMPT": "false",
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
        }
        self._console: subprocess.Popen[bytes] | None = None
        self.used = False
        """Whether an agent has come to the console since it was started."""

    async def start(self) -> None:
        """Start the console and wait until agents can reach it."""
        self.places.door.unlink(missing_ok=True)
        self.used = False
        self._console = subprocess.Popen([sys.executable, "-m", "app"], env=self._environment)
        if self._shared:
            kept.PROCESSES.add(self._console.pid)
        await until(self.places.door.exists)

    @property
    def alive(self) -> bool:
        return self._console is not None and self._console.poll() is None

    def kill(self) -> None:
        """kill -9."""
        assert self._console is not None
        self._console.kill()
        self._console.wait()
        kept.PROCESSES.discard(self._console.pid)

    def quit(self) -> int:
        """SIGTERM; the exit code."""
        assert self._console is not None
        self._console.send_signal(signal.SIGTERM)
        code = self._console.wait(PATIENCE)
        kept.PROCESSES.discard(self._console.pid)
        return code

    def end(self) -> None:
        if self.alive:
            self.kill()

    def press(self, key: str) -> None:
        """A real key event. The window is given the focus first, as a window manager would do."""
        self._hand("windowfocus", "key", key)

    @contextmanager
    def holding(self, *keys: str) -> Iterator[None]:
        """Real keys held down; the X server repeats the last as a keyboard does."""
        self._hand("windowfocus", *(word for key in keys for word in ("keydown", key)))
        try:
            yield
        finally:
            self._hand(*(word for key in reversed(keys) for word in ("keyup", key)))

    def type(self, text: str) -> None:
        """Real keys, as fast as a person types who does not look."""
        self._hand("windowfocus", "type", "--delay", "160", text)

    def send(self, keycode: int) -> None:
        """Send a key event to the window (XSendEvent), as any program of the screen can; no key is pressed for it."""
        found = subprocess.run(["xdotool", "getwindowfocus"], env=self._environment, check=True, capture_output=True)
        command = [sys.executable, "-c", SEND, found.stdout.decode().strip(), str(keycode)]
        subprocess.run(command, env=self._environment, check=True)

    def raise_window(self) -> None:
        """Have the window come to the front, as a second console does."""
        subprocess.run([sys.executable, "-m", "app"], env=self._environment, check=True)

    def click(self, x: int, y: int) -> None:
        """A real click of the mouse at a place of the screen."""
        self._hand("windowfocus", "mousemove", str(x), str(y), "click", "1")

    def photograph(self, path: Path) -> QImage:
        """What is on the screen now, kept in `path`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-c", PHOTOGRAPH, str(path)]
        subprocess.run(command, env=self._environment, check=True, timeout=PATIENCE)
        return QImage(str(path))

    def _hand(self, *deeds: str) -> None:
        find = ["xdotool", "search", "--onlyvisible", "--name", "Assent"]
        subprocess.run([*find, *deeds], env=self._environment, check=True)

    @asynccontextmanager
    async def client(self, era: str = "auto") -> AsyncIterator[Client]:
        self.used = True
        door = json.loads(self.places.door.read_text())
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {self.token}"})
        address = f"http://127.0.0.1:{door['port']}/mcp"
        async with http, Client(streamable_http_client(address, http_client=http), mode=era) as client:
            yield client

    @asynccontextmanager
    async def bridged(self, era: str = "auto") -> AsyncIterator[Client]:
        """A client that speaks to `assent mcp`, whether there is a console or not."""
        self.used = True
        environment = {"ASSENT_HOME": str(self.home), "ASSENT_TOKEN": self.token}
        command = StdioServerParameters(command=sys.executable, args=["-m", "app", "mcp"], env=environment)
        async with Client(command, mode=era) as client:
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

    def records(self) -> list[CaseRecord]:
        """Everything in the history, newest first."""
        return records(self.places.ledger) if self.places.ledger.exists() else []

    def record(self) -> CaseRecord:
        """The newest request."""
        found = newest(self.places.ledger)
        assert found is not None
        return found

    def phase(self) -> str:
        """Where the newest request stands."""
        found = newest(self.places.ledger) if self.places.ledger.exists() else None
        return "" if found is None else found.row.phase.value

    def kinds(self) -> list[str]:
        """The entries of the newest request."""
        found = newest(self.places.ledger) if self.places.ledger.exists() else None
        return [] if found is None else [step.entry.kind for step in found.steps]


def button(picture: QImage, color: str) -> tuple[int, int] | None:
    """Where to click on a button filled with `color`; None where there is none.

    Such a button shows as several rows, one below the other with the same middle, of that color from edge to edge.
    """
    picture = picture.convertToFormat(QImage.Format.Format_RGB32)
    pixel = QColor(color).rgb().to_bytes(PIXEL, sys.byteorder)
    stretch = re.compile(b"(?:%b){%d,}" % (re.escape(pixel), BUTTON_WIDTH))
    above: dict[int, int] = {}
    for y in range(picture.height()):
        row = bytes(cast("memoryview", picture.constScanLine(y)))
        middles = [(found.start() + found.end()) // 2 // PIXEL for found in stretch.finditer(row)]
        above = {x: above.get(x, 0) + 1 for x in middles}
        for x, rows in above.items():
            if rows == BUTTON_ROWS:
                return x, y
    return None


async def until(true: Callable[[], object]) -> None:
    """Wait for something another process does."""
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.02)


def processes(marker: str) -> list[str]:
    """Processes of this machine with `marker` in their command line."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if marker in line]
