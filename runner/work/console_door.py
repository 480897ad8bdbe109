"""The way of a program at work to the console: a socket in the outer ring, for the client's MCP server alone.

What is in the rings knows no token and no port. The client starts `sandbox/inside/to_console.py`, which hands on its
streams; the bridge itself is on this side, knows the agent's token, and says with each call whose it is. The console
asks the process on the terminal whether that is so (`control.py`), so that a call belongs to this session and no other.
Nothing of it is in the inner ring: its shells see neither the socket nor the client's configuration.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from typing import TYPE_CHECKING, BinaryIO

from runner.sandbox.local.contained import Bind
from runner.sandbox.programs import inside
from runner.system.private_folder import make_folder
from runner.system.socket_address import short_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Serve = Callable[[Iterator[bytes], BinaryIO, str, Callable[[int], None]], None]

FOLDER = "console"
PLACE = f"/run/assent/{FOLDER}"
DOOR, SCRIPT = "door", "mcp.py"
MOST = 32
"""Connections at once: one for each MCP server that the program has started."""
INVALID_REQUEST = -32600
"""As JSON-RPC has it."""
PIECE = 1 << 16
"""Bytes that are read at a time, beyond which a message needs room."""
BESIDES = 1 << 20
"""Bytes of small messages that may be under way beside one of the longest."""
PATIENCE = 10.0
"""Seconds for which a message waits for room."""
TOO_LONG = "This message is longer than the {:,} KiB that are taken, so nothing was run and the connection is closed."
NO_ROOM = (
    "The messages of this session that are under way are too large together, so nothing was run and the connection is"
    " closed. Wait for an answer to one of them, then connect and call again."
)


class BytesUnderWay:
    """How much the messages of all connections of a session may take together, until each is answered.

    Parsed, a message takes up to some thirty times its bytes.
    """

    def __init__(self, most: int, patience: float = PATIENCE) -> None:
        """`most` is in bytes, `patience` in seconds."""
        self._most = most
        self._patience = patience
        self._changed = threading.Condition()
        self.taken = 0
        self.long = threading.Lock()
        """Held while a message of several pieces is read: two with a half of the room each would wait for ever."""

    def begin_long(self) -> bool:
        """Hold `long`; return False where another one is read for as long as one waits. Blocks."""
        return self.long.acquire(timeout=self._patience)

    def take(self, count: int) -> bool:
        """Take room for so many bytes; return False where there is none for as long as one waits. Blocks."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.taken + count <= self._most, self._patience):
                return False
            self.taken += count
            return True

    def give_back(self, count: int) -> None:
        with self._changed:
            self.taken -= count
            self._changed.notify_all()


def server(interpreter: str, hold: int) -> tuple[str, ...]:
    """Return the command of the MCP server in the outer ring; `hold` are the seconds that the client can wait."""
    return interpreter, "-I", "-S", f"{PLACE}/{SCRIPT}", f"{PLACE}/{DOOR}", str(hold)


class ConsoleDoor:
    """The listening end, with a thread for each connection."""

    def __init__(self, copy: Path, serve: Serve, longest: int, patience: float = PATIENCE) -> None:
        """`copy` is the folder of the working copy, `longest` the bytes of the longest message.

        `serve(lines, out, hold, done)` answers a client until `lines` end; it gives `done` the bytes of each line that
        is answered. Raises OSError.
        """
        self._longest = longest
        self.under_way = BytesUnderWay(longest + BESIDES, patience)
        folder = copy / FOLDER
        make_folder(folder)
        (folder / SCRIPT).write_text(inside("to_console.py"), "utf-8")
        self.bind = Bind(str(folder), PLACE)
        self._serve = serve
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = False
        self._socket = socket.socket(socket.AF_UNIX)
        with short_address(folder / DOOR) as address:
            self._socket.bind(address)
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
                lines = self._lines(read, out)
                self._serve(lines, out, hold if hold.isdecimal() else "", self.under_way.give_back)
        except (OSError, ValueError):  # gone, in the middle of a message
            pass
        finally:
            with self._lock:
                self._open.discard(connection)

    def _lines(self, read: BinaryIO, out: BinaryIO) -> Iterator[bytes]:
        """Yield the messages, with room for each; none after one that is too long or has no room, which is said."""
        while line := self._line(read, out):
            yield line
            line = b""  # not kept while the next one is waited for

    def _line(self, read: BinaryIO, out: BinaryIO) -> bytes:
        pieces, size, why, alone = [], 0, "", False
        try:
            while not why and (piece := read.readline(PIECE)):
                if not (alone or piece.endswith(b"\n") or (alone := self.under_way.begin_long())):
                    why = NO_ROOM
                elif size + len(piece) > self._longest:
                    why = TOO_LONG.format(self._longest // 1024)
                elif not self.under_way.take(len(piece)):
                    why = NO_ROOM
                else:
                    pieces.append(piece)
                    size += len(piece)
                    if piece.endswith(b"\n"):
                        return b"".join(pieces)
        except OSError:
            why = ""
        finally:
            if alone:
                self.under_way.long.release()
        self.under_way.give_back(size)
        if why:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": why}}
            with contextlib.suppress(OSError, ValueError):
                out.write(json.dumps(error).encode() + b"\n")
                out.flush()
        return b""
