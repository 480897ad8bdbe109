"""Takes apart what a container writes: the engine's frames, and our own marks among the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = 8
STREAMS = {1: Stream.OUT, 2: Stream.ERR}
MARK = b"\x1e\x1fassent:"
"""Begins every mark; the container's own random word and a colon follow."""
SIZE = 8
"""Hexadecimal digits of a mark's length."""
STATUS = 3
"""Digits of an exit status."""


class Frames:
    """The engine's frames (kind, three zeros, length, data), which may be cut anywhere."""

    def __init__(self) -> None:
        self._head = b""
        self._left = 0
        self._stream: Stream | None = None

    def feed(self, data: bytes) -> list[tuple[Stream, bytes]]:
        """Pieces of output in order, as they are complete or not."""
        pieces: list[tuple[Stream, bytes]] = []
        at = 0
        while at < len(data):
            if not self._left:
                more = HEAD - len(self._head)
                self._head += data[at : at + more]
                at += more
                if len(self._head) == HEAD:
                    self._stream = STREAMS.get(self._head[0])
                    self._left = int.from_bytes(self._head[4:], "big")
                    self._head = b""
                continue
            piece = data[at : at + self._left]
            at += len(piece)
            self._left -= len(piece)
            if self._stream is not None:
                pieces.append((self._stream, piece))
        return pieces


class Marks:
    """What stands inside for us says on the error stream: `ready`, the report of the code, the files it has left.

    A mark is MARK, `word`, a colon, a letter, a length in hexadecimal digits, a line end and that many bytes.
    The code can forge one, but only about itself; output cannot be taken for one by accident.
    """

    def __init__(self, word: str, largest: int) -> None:
        """What is larger than `largest` bytes is dropped, with `oversized` as a note of it."""
        self.version: str | None = None
        """The interpreter's, once it is ready."""
        self.report = b""
        self.oversized = False
        self.status: int | None = None
        """How the interpreter ended, once what follows is no output any more but the files it has left."""
        self.take_rest: Callable[[bytes], None] | None = None
        """Gets what follows then."""
        self._begin = MARK + word.encode() + b":"
        self._head = len(self._begin) + 1 + SIZE + 1
        self._largest = largest
        self._held = b""
        self._kind = b""
        self._left = 0
        self._body = bytearray()

    def feed(self, data: bytes) -> bytes:
        """`data` without marks; what could be the beginning of one is kept back."""
        shown = b""
        data = self._held + data
        self._held = b""
        while data:
            if self.status is not None:
                if self.take_rest is not None:
                    self.take_rest(data)
                return shown
            if self._kind:
                data = self._take(data)
                continue
            place = data.find(self._begin)
            if place < 0:
                keep = self._beginning(data)
                self._held = data[len(data) - keep :]
                return shown + data[: len(data) - keep]
            shown += data[:place]
            data = data[place:]
            if len(data) < self._head:
                self._held = data
                return shown
            shown += self._read_head(data[: self._head])
            data = data[self._head :]
        return shown

    def rest(self) -> bytes:
        """What was kept back and is no mark after all, at the end of the stream."""
        held, self._held = self._held, b""
        return held

    def _read_head(self, head: bytes) -> bytes:
        kind, digits = head[len(self._begin) : len(self._begin) + 1], head[-SIZE - 1 : -1]
        try:
            self._left = int(digits, 16)
        except ValueError:
            return head
        self._kind = kind
        self._body = bytearray()
        self.oversized = self.oversized or self._left > self._largest
        return b""

    def _take(self, data: bytes) -> bytes:
        piece = data[: self._left]
        self._left -= len(piece)
        if len(self._body) + len(piece) <= self._largest:
            self._body += piece
        if not self._left:
            self._settle()
        return data[len(piece) :]

    def _settle(self) -> None:
        kind, self._kind = self._kind, b""
        if kind == b"R" and self.version is None:
            self.version = self._body[:100].decode("utf-8", "replace")
        elif kind == b"E":
            self.report = bytes(self._body)
        elif kind == b"C":
            self.status = int(self._body) if self._body.isdigit() and len(self._body) == STATUS else 1

    def _beginning(self, data: bytes) -> int:
        """How many bytes at the end of `data` may be the beginning of a mark."""
        place = data.rfind(self._begin[:1], max(0, len(data) - len(self._begin) + 1))
        return len(data) - place if place >= 0 and self._begin.startswith(data[place:]) else 0
