"""The last lines of a run's output: bounded in number and in bytes, however much the program prints."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import groupby

from app.parts.amounts import size
from runner.model.translation import tr
from runner.sandbox.output import OutputNews, Stream

LONGEST = 4096
"""Characters of a line that are kept."""
_LINES = 10_000
_BYTES = 24 << 20
"""A pane full of the longest lines keeps fewer of them."""
_JOINED = 512
"""Lines up to which a block takes those that come after it."""


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line as it came. `stream` is None for a remark of Assent's own."""

    stream: Stream | None
    data: bytes
    cut: int
    """Bytes of this line that are not kept."""


@dataclass(slots=True)
class _Unfinished:
    """The line a stream is writing."""

    data: bytearray = field(default_factory=bytearray)
    lost: int = 0

    def add(self, data: bytes) -> None:
        self.data += data
        if len(self.data) <= 4 * LONGEST:
            return
        # A progress display rewrites its line; only what follows the last return is to be seen.
        fresh = self.data.rfind(b"\r", 0, len(self.data) - 1) + 1
        if fresh:
            del self.data[:fresh]
            self.lost = 0
        self.lost += max(0, len(self.data) - 4 * LONGEST)
        del self.data[4 * LONGEST :]

    def take(self) -> tuple[bytes, int]:
        data, lost = bytes(self.data), self.lost
        self.data.clear()
        self.lost = 0
        return data, lost


@dataclass(slots=True)
class _Block:
    """Lines of one stream that follow one another, and how many bytes of each are not kept.

    A flood makes a hundred thousand of them a second, most never looked at: what is done to all is done by lists.
    """

    stream: Stream | None
    lines: list[bytes]
    cuts: list[int]


class Scrollback:
    """Lines are numbered from 0 since the start of the run; the oldest are dropped."""

    def __init__(self, lines: int = _LINES) -> None:
        self._most = lines
        self._blocks: deque[_Block] = deque()
        self._count = 0
        """Lines in all blocks."""
        self._bytes = 0
        self._first = 0
        self._unfinished = {stream: _Unfinished() for stream in Stream}

    @property
    def first(self) -> int:
        """The number of the oldest line still here."""
        return self._first

    @property
    def end(self) -> int:
        """The number after that of the newest line, unfinished ones included."""
        return self._first + self._count + sum(1 for line in self._unfinished.values() if line.data)

    def take(self, news: OutputNews) -> None:
        """Add what is new."""
        if news.skipped:
            self.remark(tr("{size} went by too fast to show", size=size(news.skipped)))
        for stream, pieces in groupby(news.pieces, key=lambda piece: piece.stream):
            self.add(stream, b"".join(piece.data for piece in pieces))
        if news.ended:
            self._finish()

    def add(self, stream: Stream, data: bytes) -> None:
        """Add bytes of one stream."""
        unfinished = self._unfinished[stream]
        *whole, last = data.rsplit(b"\n", self._most)
        if not whole:
            unfinished.add(last)
            return
        # Only as many lines are cut out as can be kept; what is before them is counted.
        before, cut_out = whole[0], whole[1:]
        *gone, first = before.rsplit(b"\n", 1)
        if gone:
            unfinished.take()
            self._drop(self._count)
            self._first += before.count(b"\n")
        unfinished.add(first)
        start, lost = _fitted(*unfinished.take())
        if max(map(len, cut_out), default=0) <= LONGEST:
            self._push(stream, [start, *cut_out], [lost] + [0] * len(cut_out))
        else:
            fitted = [(start, lost), *map(_fitted, cut_out)]
            self._push(stream, [line for line, _ in fitted], [cut for _, cut in fitted])
        unfinished.add(last)

    def remark(self, words: str) -> None:
        """Add a line of Assent's own."""
        self._finish()
        self._push(None, [words.encode()], [0])

    def lines(self, first: int, count: int) -> list[OutputLine]:
        """Return up to `count` lines from number `first` on; those no longer here are left out."""
        start = max(0, first - self._first)
        stop = max(0, first + count - self._first)
        found: list[OutputLine] = []
        passed = 0
        for block in self._blocks:
            if passed >= stop:
                break
            here = len(block.lines)
            if passed + here > start:
                part = slice(max(0, start - passed), stop - passed)
                pairs = zip(block.lines[part], block.cuts[part], strict=True)
                found += [OutputLine(block.stream, *line) for line in pairs]
            passed += here
        if stop > self._count:
            unfinished = [
                OutputLine(stream, *_fitted(bytes(line.data), line.lost))
                for stream, line in self._unfinished.items()
                if line.data
            ]
            found += unfinished[max(0, start - self._count) : stop - self._count]
        return found

    def _push(self, stream: Stream | None, lines: list[bytes], cuts: list[int]) -> None:
        last = self._blocks[-1] if self._blocks else None
        if last is not None and last.stream is stream and len(last.lines) + len(lines) <= _JOINED:
            last.lines += lines
            last.cuts += cuts
        else:
            self._blocks.append(_Block(stream, lines, cuts))
        self._count += len(lines)
        self._bytes += sum(map(len, lines))
        self._drop(self._count - self._most)
        while self._bytes > _BYTES and self._count > 1:
            self._drop(1)

    def _drop(self, count: int) -> None:
        while count > 0:
            block = self._blocks[0]
            gone = block.lines[:count]
            if len(gone) == len(block.lines):
                self._blocks.popleft()
            else:
                del block.lines[:count]
                del block.cuts[:count]
            self._bytes -= sum(map(len, gone))
            self._count -= len(gone)
            self._first += len(gone)
            count -= len(gone)

    def _finish(self) -> None:
        """End the unfinished line of streams that ended or of which a part is missing."""
        for stream, unfinished in self._unfinished.items():
            if unfinished.data:
                line, lost = _fitted(*unfinished.take())
                self._push(stream, [line], [lost])


def _fitted(data: bytes, lost: int = 0) -> tuple[bytes, int]:
    """Return a line cut to `LONGEST` characters, and the bytes left out in all."""
    if len(data) <= LONGEST:
        return data, lost
    kept = data[: 4 * LONGEST].decode("utf-8", "replace")[:LONGEST].encode()
    return kept, max(0, lost + len(data) - len(kept))
