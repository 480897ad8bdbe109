"""The socket by which a program at work is spoken to from outside: by the console, and by `assent work`.

It is the process on the terminal that listens, so that a console may be opened, closed and updated meanwhile. One
connection is one request and its answer, each a line of JSON: `{"do": "open", "host": "example.com", "port": 443}`
and `{"ok": {}}` or `{"refused": "It has ended."}`. The folder is this account's alone; nothing inside sees it.

| do | arguments | ok |
|---|---|---|
| `open` | `host`, `port`, `private`, `always` | |
| `answer` | `number`, `run`, `why` | |
| `carry` | `port` | `address`, such as `127.66.1.2:5173` |
| `end` | `why` | |
| `as_it_goes` | `on` | |
| `asked` | `key` | `project` |
| `layer` | | `root`, `holder`, `mounts`, `users`, `path`, `device`, `inode` (`session_layer.py`) |
| `usage` | | `memory_bytes`, `cpu_seconds`, `processes` |
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.system.private_folder import make_folder
from runner.system.socket_address import short_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Orders = Mapping[str, Callable[..., Mapping[str, object]]]

FOLDER = "work"
ANSWER_SECONDS = 10.0
LONGEST = 1 << 16
GONE = "It is no longer at work."


def place(runtime: Path, name: str) -> Path:
    """Return the path of the socket for the working copy `name`, short enough for one."""
    return runtime / FOLDER / hashlib.sha256(name.encode()).hexdigest()[:16]


class ControlSocket:
    """The listening end: carries out orders on a thread of its own, one after another."""

    def __init__(self, path: Path, orders: Orders) -> None:
        """`orders` are called by name with the arguments of the request; they may raise KnownError. Raises OSError."""
        make_folder(path.parent)
        path.unlink(missing_ok=True)
        self._path = path
        self._orders = orders
        self._socket = socket.socket(socket.AF_UNIX)
        with short_address(path) as address:
            self._socket.bind(address)
        self._socket.listen()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="orders to the program", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more orders."""
        self._closed.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def _serve(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                continue
            with connection, contextlib.suppress(OSError):
                connection.settimeout(ANSWER_SECONDS)
                connection.sendall(json.dumps(self._answer(_line(connection))).encode() + b"\n")

    def _answer(self, line: bytes) -> dict[str, object]:
        try:
            asked: dict[str, Any] = json.loads(line)
            order = self._orders[asked.pop("do")]
            return {"ok": dict(order(**asked))}
        except KnownError as error:
            return {"refused": str(error)}
        except (ValueError, KeyError, TypeError, AttributeError):
            return {"refused": "This order is not understood: it may be of another version of Assent."}


def order(runtime: Path, name: str, do: str, **arguments: object) -> dict[str, Any]:
    """Give an order to the program at work in the working copy `name`. Blocks. Raises KnownError."""
    path = place(runtime, name)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWER_SECONDS)
            with short_address(path) as address:
                connection.connect(address)
            connection.sendall(json.dumps({"do": do, **arguments}).encode() + b"\n")
            said = json.loads(_line(connection))
    except TimeoutError as error:
        raise KnownError("It does not answer.", "Try again, or end it in its terminal.") from error
    except (OSError, ValueError) as error:
        raise KnownError(GONE) from error
    if "refused" in said:
        raise KnownError(said["refused"])
    ok: dict[str, Any] = said["ok"]
    return ok


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n") and len(data) < LONGEST and (piece := connection.recv(LONGEST)):
        data += piece
    return data
