"""The output of a run as it arrives: head and tail are stored, the middle is counted (spec X4)."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from enum import IntEnum

from runner.model.result import OutputOrder


class Stream(IntEnum):
    OUT = 1
    ERR = 2


@dataclass(frozen=True, slots=True)
class OutputPiece:
    """A chunk as it came from one stream. `offset` is its place among all bytes of both streams."""

    offset: int
    stream: Stream
    data: bytes


@dataclass(frozen=True, slots=True)
class OutputNews:
    """What `Transcript.since` gives: the pieces still held from a position on, and how much went by unseen."""

    pieces: tuple[OutputPiece, ...]
    skipped: int
    """Bytes between the position asked for and the first piece given: they came too fast to be held."""
    position: int
    """Ask again from here."""
    ended: bool


class OutputBudget:
    """Memory for the output of all runs together. Used by the threads of all of them."""

    def __init__(self, size: int = 128 << 20) -> None:
        """`size` in bytes. What each run may store in any case (`GRANTED`) does not count."""
        self._lock = threading.Lock()
        self._left = size

    @property
    def left(self) -> int:
        return self._left

    def take(self, size: int) -> bool:
        """Take so many bytes; return False, and take none, where fewer are left."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        with self._lock:
            self._left += size


class Transcript:
    """One writer (the sandbox), any number of readers in any thread; memory is bounded by the arguments.

    Of each stream the first half of `limit` bytes and the last half are kept for the result, less where `budget` is
    used up. For live reading, the newest pieces of both are kept up to `window` bytes and `MOST_BLOCKS`. Small writes
    of one stream are joined, so a program that writes byte by byte costs no more memory than any other.
    """

    def __init__(self, limit: int, window: int = 1 << 19, budget: OutputBudget | None = None) -> None:
        """`release` gives back what was taken from `budget`; without one only the other bounds count."""
        self._lock = threading.Lock()
        self._window = window
        self._live: deque[_Block] = deque()
        self._live_bytes = 0
        self._total = 0
        self._totals = [0, 0]
        self._ended = False
        self._kept = {stream: _Kept(limit, budget) for stream in Stream}
        self._turns = [0]
        """Lines ended by each stream in turn, standard output first."""
        self._turns_whole = True

    def append(self, stream: Stream, data: bytes) -> None:
        with self._lock:
            self._kept[stream].add(data)
            self._note_lines(stream, data.count(b"\n"))
            if self._live and self._live[-1].takes(stream, data):
                self._live[-1].data += data
            else:
                self._live.append(_Block(self._total, stream, bytearray(data)))
            self._total += len(data)
            self._totals[stream is Stream.ERR] += len(data)
            self._live_bytes += len(data)
            while (self._live_bytes > self._window or len(self._live) > MOST_BLOCKS) and len(self._live) > 1:
                self._live_bytes -= len(self._live.popleft().data)

    def _note_lines(self, stream: Stream, lines: int) -> None:
        if not lines or not self._turns_whole:
            return
        if len(self._turns) % 2 == (stream is Stream.OUT):
            self._turns[-1] += lines
        elif len(self._turns) < MOST_TURNS:
            self._turns.append(lines)
        else:
            self._turns_whole = False

    def order(self) -> OutputOrder | None:
        """Return the order of the lines that `text` gives, as far as it was kept; None where one stream has all."""
        with self._lock:
            if not all(self._totals):
                return None
            heads = (self._kept[stream].head_lines() for stream in Stream)
            return OutputOrder(tuple(self._turns), self._turns_whole).within(*heads)

    def end(self) -> None:
        """Mark the output as complete."""
        with self._lock:
            self._ended = True

    def release(self) -> None:
        """Free the output stored for the result; the newest pieces stay for live readers."""
        with self._lock:
            self._ended = True
            for kept in self._kept.values():
                kept.release()
            self._kept = {stream: _Kept(0, None) for stream in Stream}

    def since(self, position: int) -> OutputNews:
        """Return everything from byte `position` (of both streams together) on that is still held."""
        with self._lock:
            pieces = tuple(block.after(position) for block in self._live if block.end > position)
            first = pieces[0].offset if pieces else self._total
            return OutputNews(pieces, max(0, first - position), self._total, self._ended)

    @property
    def total(self) -> int:
        """Bytes written so far, both streams."""
        return self._total

    @property
    def totals(self) -> tuple[int, int]:
        """Bytes of standard output and of standard error written so far."""
        with self._lock:
            return self._totals[0], self._totals[1]

    def text(self, stream: Stream) -> tuple[str, int]:
        """Return what is kept of `stream`, with a visible mark where bytes are missing, and how many are missing."""
        with self._lock:
            return self._kept[stream].text()


MOST_TURNS = 400
"""Times that the stream may change for which the order of lines is kept: about 1 KB in the history."""
BLOCK = 1 << 12
"""Bytes up to which writes are joined."""
GRANTED = 1 << 18
"""Bytes that each stream may store whatever other runs have stored."""
MOST_BLOCKS = 1 << 12
"""Pieces for live readers. A program that writes a byte to both streams in turn would make half a million, and hold up
whoever reads them, the window too, for a second."""
STEP = 1 << 18
"""Bytes that are taken from a budget at once."""
LEAST_TAIL = 1 << 15
"""Bytes of the end of a stream that are kept also where there is no more memory."""


@dataclass(slots=True)
class _Block:
    """Consecutive bytes of one stream, growing while they are few."""

    offset: int
    stream: Stream
    data: bytearray

    @property
    def end(self) -> int:
        return self.offset + len(self.data)

    def takes(self, stream: Stream, data: bytes) -> bool:
        return self.stream is stream and len(self.data) + len(data) <= BLOCK

    def after(self, position: int) -> OutputPiece:
        start = max(position, self.offset)
        return OutputPiece(start, self.stream, bytes(self.data[start - self.offset :]))


class _Kept:
    """Head and tail of one stream."""

    def __init__(self, limit: int, budget: OutputBudget | None) -> None:
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self._budget = budget
        self._taken = 0

    def add(self, data: bytes) -> None:
        if self._budget is not None:
            self._take_memory(self._budget, len(data))
        if (space := self._head_limit - len(self._head)) > 0:
            self._head += data[:space]
            data = data[space:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit + BLOCK:  # seldom, so that what is moved stays small
            self._cut_tail()

    def text(self) -> tuple[str, int]:
        self._cut_tail()
        if not self._dropped:
            return (self._head + self._tail).decode("utf-8", "replace"), 0
        head = self._head[: _whole(self._head)]
        start = _begin(self._tail)
        dropped = self._dropped + len(self._head) - len(head) + start
        mark = f"\n... (output truncated: {dropped:,} bytes left out) ...\n"
        return head.decode("utf-8", "replace") + mark + self._tail[start:].decode("utf-8", "replace"), dropped

    def head_lines(self) -> int | None:
        """Return how many whole lines stand before the gap; None where there is none."""
        self._cut_tail()
        return self._head.count(b"\n") if self._dropped else None

    def release(self) -> None:
        """Give back the memory. Nothing is added afterwards."""
        if self._budget is not None:
            self._budget.give_back(self._taken)
        self._budget, self._taken = None, 0

    def _take_memory(self, budget: OutputBudget, more: int) -> None:
        """Take memory for `more` bytes; where there is none, keep no more of this stream than now and less of its end.

        The tail takes twice its limit: it is cut seldom.
        """
        wanted = min(len(self._head) + len(self._tail) + more, self._head_limit + 2 * self._tail_limit + BLOCK)
        while (granted := GRANTED + self._taken) < wanted:
            if budget.take(STEP):
                self._taken += STEP
                continue
            self._head_limit = min(self._head_limit, max(len(self._head), granted // 2))
            self._tail_limit = min(self._tail_limit, max(LEAST_TAIL, (granted - self._head_limit) // 2))
            break

    def _cut_tail(self) -> None:
        if (over := len(self._tail) - self._tail_limit) > 0:
            del self._tail[:over]
            self._dropped += over


def _whole(data: bytearray) -> int:
    """Return the length of `data` without the beginning of a UTF-8 character that is cut off at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < needed else len(data)
        if byte < 0x80:
            break
    return len(data)


def _begin(data: bytearray) -> int:
    """Return where the first whole UTF-8 character of `data` begins; 0 for what is no UTF-8 anyway."""
    for start in range(min(4, len(data))):
        if data[start] & 0xC0 != 0x80:
            return start
    return 0
