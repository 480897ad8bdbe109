"""The way of a program at work to the console: a socket in the outer ring, for the client's MCP server alone.

What is in the rings knows no token and no port. The client starts `sandbox/inside/to_console.py`, which hands on its
streams; the bridge itself is on this side, knows the agent's token, and says with each call whose it is. The console
asks the process on the terminal whether that is so (`control.py`), so that a call belongs to this session and no other.
Nothing of it is in the inner ring: its shells see neither the socket nor the client's configuration.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import TYPE_CHECKING, BinaryIO

from runner.sandbox.local.contained import Bind
from runner.sandbox.programs import inside
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Serve = Callable[[Iterator[bytes], BinaryIO, str], None]

FOLDER = "console"
PLACE = f"/run/assent/{FOLDER}"
DOOR, SCRIPT = "door", "mcp.py"
MOST = 32
"""Connections at once: one for each MCP server that the program has started."""
LONGEST = 16 << 20
"""Bytes of a message."""


def server(interpreter: str, hold: int) -> tuple[str, ...]:
    """Return the command of the MCP server in the outer ring; `hold` are the seconds that the client can wait."""
    return interpreter, "-I", "-S", f"{PLACE}/{SCRIPT}", f"{PLACE}/{DOOR}", str(hold)


class ConsoleDoor:
    """The listening end, with a thread for each connection."""

    def __init__(self, copy: Path, serve: Serve) -> None:
        """`copy` is the folder of the working copy. `serve(lines, out, hold)` answers a client until `lines` end.

        Raises OSError.
        """
        folder = copy / FOLDER
        make_folder(folder)
        (folder / SCRIPT).write_text(inside("to_console.py"), "utf-8")
        self.bind = Bind(str(folder), PLACE)
        self._serve = serve
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = False
        self._socket = socket.socket(socket.AF_UNIX)
        with _short(folder) as short:
            self._socket.bind(f"{short}/{DOOR}")
        self._socket.listen()
        self._thread = threading.Thread(target=self._accept, name="door to the console", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more calls; those under way are withdrawn."""
        with self._lock:
            self._closed = True
            left = tuple(self._open)
        for each in (self._socket, *left):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                if self._closed:
                    return
                continue
            with self._lock:
                taken = not self._closed and len(self._open) < MOST
                if taken:
                    self._open.add(connection)
            if not taken:
                connection.close()
                continue
            threading.Thread(target=self._answer, args=(connection,), name="to the console", daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as read, connection.makefile("wb") as out:
                hold = read.readline(10).strip().decode("ascii", "replace")
                self._serve(_lines(read), out, hold if hold.isdecimal() else "")
        except (OSError, ValueError):  # gone, in the middle of a message
            pass
        finally:
            with self._lock:
                self._open.discard(connection)


def _lines(read: BinaryIO) -> Iterator[bytes]:
    """Yield the messages; none after one that is too long."""
    with contextlib.suppress(OSError):
        while (line := read.readline(LONGEST)) and line.endswith(b"\n"):
            yield line


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """Give a folder by a short name: the address of a socket may have 107 bytes only."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
