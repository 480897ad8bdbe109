"""The output of a run while it comes in: head and tail are kept, the middle is counted (spec X4)."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from enum import IntEnum


class Stream(IntEnum):
    OUT = 1
    ERR = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk as it came from one stream. `offset` is its place among all bytes of both streams."""

    offset: int
    stream: Stream
    data: bytes


@dataclass(frozen=True, slots=True)
class News:
    """What `Transcript.since` gives: the pieces still held from a position on, and how much went by unseen."""

    pieces: tuple[Piece, ...]
    skipped: int
    """Bytes between the position asked for and the first piece given: they came too fast to be held."""
    position: int
    """Ask again from here."""
    ended: bool


class Transcript:
    """One writer (the sandbox), any number of readers in any thread; memory is bounded by the two arguments.

    Of each stream the first half of `limit` bytes and the last half are kept for the result. For live
    reading, the newest pieces of both are kept up to `window` bytes.
    """

    def __init__(self, limit: int, window: int = 1 << 19) -> None:
        self._lock = threading.Lock()
        self._window = window
        self._live: deque[Piece] = deque()
        self._live_bytes = 0
        self._total = 0
        self._ended = False
        self._kept = {stream: _Kept(limit) for stream in Stream}

    def append(self, stream: Stream, data: bytes) -> None:
        with self._lock:
            self._kept[stream].add(data)
            self._live.append(Piece(self._total, stream, data))
            self._total += len(data)
            self._live_bytes += len(data)
            while self._live_bytes > self._window and len(self._live) > 1:
                self._live_bytes -= len(self._live.popleft().data)

    def end(self) -> None:
        """Nothing more will come."""
        with self._lock:
            self._ended = True

    def since(self, position: int) -> News:
        """Everything from byte `position` (of both streams together) on that is still held."""
        with self._lock:
            pieces = tuple(piece for piece in self._live if piece.offset >= position)
            first = pieces[0].offset if pieces else self._total
            return News(pieces, max(0, first - position), self._total, self._ended)

    @property
    def total(self) -> int:
        """Bytes written so far, both streams."""
        return self._total

    def text(self, stream: Stream) -> tuple[str, int]:
        """What is kept of `stream`, with a visible mark where bytes are missing, and how many are missing."""
        with self._lock:
            return self._kept[stream].text()


class _Kept:
    """Head and tail of one stream."""

    def __init__(self, limit: int) -> None:
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        if room := self._head_room - len(self._head):
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail_bytes - len(self._tail[0]) >= self._tail_room and len(self._tail) > 1:
            gone = len(self._tail.popleft())
            self._tail_bytes -= gone
            self._dropped += gone

    def text(self) -> tuple[str, int]:
        tail = b"".join(self._tail)
        over = max(0, len(tail) - self._tail_room)
        dropped = self._dropped + over
        head = self._head.decode("utf-8", "replace")
        if not dropped:
            return (bytes(self._head) + tail).decode("utf-8", "replace"), 0
        mark = f"\n... (output truncated: {dropped:,} bytes left out) ...\n"
        return head + mark + tail[over:].decode("utf-8", "replace"), dropped
