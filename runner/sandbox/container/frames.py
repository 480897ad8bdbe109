"""Takes apart what a container writes: the engine's frames, and our own marks among the errors."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = 8
STREAMS = {1: Stream.OUT, 2: Stream.ERR}
MARK = b"\x1e\x1fassent:"
"""Begins every mark; a random word of its sender and a colon follow."""
DIGITS = 16
"""Hexadecimal digits of a word."""
HEADS = re.compile(re.escape(MARK) + rb"([0-9a-f]{%d}):([REC])([0-9a-f]{8})\n" % DIGITS)
HEAD_OF_MARK = len(MARK) + DIGITS + 1 + 1 + 8 + 1
SHORT = 100
"""Most bytes of a mark that is no report."""
STATUS = 3
"""Digits of an exit status."""


@dataclass(frozen=True, slots=True)
class Words:
    """The secret words of one run's marks."""

    interpreter: str
    keeper: str

    @staticmethod
    def new() -> Words:
        return Words(secrets.token_hex(DIGITS // 2), secrets.token_hex(DIGITS // 2))


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
    """Marks on the error stream: `ready`, the report of the code, and that the files it has left follow.

    A mark is MARK, a random word, a colon, a letter, a length in hexadecimal digits, a line end and that many bytes.
    The interpreter's word is in its memory, so the code can forge a report, but only about itself. The keeper's word
    never is in a process that runs code.
    """

    def __init__(self, words: Words, largest: int) -> None:
        """What claims to be a report of more than `largest` bytes is none; nor is any when four times as many came."""
        self.largest = largest
        self.version: str | None = None
        """The interpreter's, once it is ready."""
        self.report = b""
        self.status: int | None = None
        """How the interpreter ended, once what follows is no output any more but the files it has left."""
        self.take_rest: Callable[[bytes], None] | None = None
        """Gets what follows then."""
        self._words = {
            b"R": words.interpreter.encode(),
            b"E": words.interpreter.encode(),
            b"C": words.keeper.encode(),
        }
        self._came = 0
        self._held = b""
        self._kind = b""
        self._left = 0
        self._body = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Return `data` without marks; what could be the beginning of one is held back."""
        shown = bytearray()
        data, self._held = self._held + data, b""
        at = 0
        while at < len(data):
            if self.status is not None:
                if self.take_rest is not None:
                    self.take_rest(data[at:])
                break
            if self._kind:
                at = self._take(data, at)
                continue
            place = data.find(MARK, at)
            if place < 0:
                place = len(data) - _beginning(data, at)
            shown += data[at:place]
            if len(data) - place < HEAD_OF_MARK:
                self._held = data[place:]
                break
            if end := self._begun(data, place):
                at = end
            else:
                shown += data[place : place + 1]
                at = place + 1
        return bytes(shown)

    def rest(self) -> bytes:
        """Return what was held back and is no mark after all, at the end of the stream."""
        held, self._held = self._held, b""
        return held

    def _begun(self, data: bytes, place: int) -> int:
        """Begin the mark whose head is at `place` and return where the head ends; 0 for what only looks like one."""
        head = HEADS.match(data, place)
        if head is None or head[1] != self._words[head[2]]:
            return 0
        kind, size = head[2], int(head[3], 16)
        if kind == b"E":
            if size > min(self.largest, 4 * self.largest - self._came):
                return 0
            self._came += size
        elif size > SHORT:
            return 0
        self._kind, self._left, self._body = kind, size, bytearray()
        if not size:
            self._settle()
        return head.end()

    def _take(self, data: bytes, at: int) -> int:
        end = min(len(data), at + self._left)
        self._body += data[at:end]
        self._left -= end - at
        if not self._left:
            self._settle()
        return end

    def _settle(self) -> None:
        kind, self._kind = self._kind, b""
        if kind == b"R" and self.version is None:
            self.version = self._body.decode("utf-8", "replace")
        elif kind == b"E":
            self.report = bytes(self._body)
        elif kind == b"C":
            self.status = int(self._body) if re.fullmatch(rb"[0-9]{%d}" % STATUS, self._body) else 1


def _beginning(data: bytes, at: int) -> int:
    """Return how many bytes at the end of `data`, from `at` on, may be the beginning of a mark."""
    place = data.rfind(MARK[:1], max(at, len(data) - len(MARK) + 1))
    return len(data) - place if place >= 0 and MARK.startswith(data[place:]) else 0
