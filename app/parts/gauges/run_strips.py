"""The readings of a run as strips over one axis of time, and which lines of output belong to a moment."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from app.parts.amounts import percent, size
from app.parts.text.output_order import in_order
from app.parts.text.visible_characters import visible
from runner.model.result import Outcome
from runner.model.translation import tr
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from app.parts.text.output_order import OrderedLines
    from runner.model.request import Isolation, Limits, Request
    from runner.model.result import Result, Usage

Points = tuple[tuple[float, float], ...]
FAR = 4.0
"""Times its peak above which a limit is out of the strip, and only written: a curve at the bottom says nothing."""
ROOM = 1.15
"""Of the peak, up to which a strip reaches."""
WROTE = 4096
"""Bytes by which the disk in use has to rise between two readings to be marked."""
LATEST = 1.0
"""Seconds after the last output at which a file of the run may have been written."""
CUT_SHORT = {
    Outcome.TIMED_OUT: tr("time limit"),
    Outcome.OUT_OF_MEMORY: tr("memory limit"),
    Outcome.OUT_OF_DISK: tr("disk limit"),
    Outcome.OUTPUT_LIMIT: tr("output limit"),
    Outcome.KILLED: tr("stopped"),
}
"""Ends that were not the program's own, in the words of the cap at the end of the axis."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One curve. `words` turns a value into text."""

    name: str
    points: Points
    words: Callable[[float], str]
    ink: str
    limit: float | None = None

    @property
    def peak(self) -> float:
        return max((value for _, value in self.points), default=0.0)

    @property
    def top(self) -> float:
        """The value at the upper edge."""
        highest = self.peak * ROOM
        return max(highest, self.limit * 1.04) if self.limit_shown and self.limit else highest or 1.0

    @property
    def limit_shown(self) -> bool:
        return self.limit is not None and self.limit <= self.peak * FAR

    def at(self, moment: float) -> float | None:
        """Return the value of the last reading that is not after `moment`."""
        place = bisect_right(self.points, moment, key=lambda point: point[0])
        return self.points[place - 1][1] if place else None

    @property
    def said(self) -> str:
        """The peak, and the limit where there is one."""
        limit = tr(" of {words}", words=self.words(self.limit)) if self.limit else ""
        return f"{self.words(self.peak)}{limit}"


def strips(readings: Sequence[Usage], limits: Limits, place: Isolation | Request) -> list[Strip]:
    """Return a strip for each resource of which there are at least two readings."""
    cores = limits.cpu_cores * 100 if place.limits_cpu else None
    found = [
        Strip(tr("CPU"), _points(readings, lambda one: one.cpu_percent), percent, "accent", cores),
        Strip(tr("Memory"), _points(readings, lambda one: one.memory_bytes), size, "medium", limits.memory_mb << 20),
        Strip(tr("Output"), _rates(readings, _printed), lambda value: f"{size(value)}/s", "low"),
        Strip(tr("Network"), _rates(readings, _moved), lambda value: f"{size(value)}/s", "critical"),
    ]
    return [one for one in found if len(one.points) > 1 and (one.peak or one.name in (tr("CPU"), tr("Memory")))]


class Written(NamedTuple):
    """A moment at which something was written."""

    at: float
    """Seconds since the start."""
    words: str


def written(readings: Sequence[Usage]) -> list[Written]:
    """Return when the disk in use was seen to have risen, and by how many bytes."""
    known = [(one.at, one.disk_bytes) for one in readings if one.disk_bytes is not None]
    return [
        Written(now, tr("{size} written", size=size(after - before)))
        for (_, before), (now, after) in pairwise(known)
        if after - before >= WROTE
    ]


def files_written(result: Result) -> list[Written]:
    """Return when each file that the run left was changed last; none where the sandbox could not see it."""
    found = [Written(file.at, visible(file.path)) for file in result.files if file.at is not None]
    # A run that was paused has times beyond its own: these belong to no moment of the axis.
    return sorted(one for one in found if one.at <= result.duration + LATEST)


class OutputTimes:
    """Which line of a finished run's output was the last one at a moment, and when a line came.

    The lines are numbered as `OutputView.set_text` shows them.
    Knows nothing where the record holds less of the output than was printed, or no readings of it.
    """

    def __init__(self, result: Result) -> None:
        self._readings = [one for one in result.curve if _printed(one) is not None]
        out, err = result.stdout.encode("utf-8", "replace"), result.stderr.encode("utf-8", "replace")
        last = self._readings[-1] if self._readings else None
        whole = last is not None and (last.stdout_bytes, last.stderr_bytes) == (len(out), len(err))
        self.known = whole and bool(out or err)
        self._ends = [_line_ends(out), _line_ends(err)] if self.known else [[], []]
        self._shown = list(_numbered(result)) if self.known else []

    def line_at(self, moment: float) -> int | None:
        """Return the number of the line that was printed last before `moment`; None where nothing was."""
        place = bisect_right(self._readings, moment, key=lambda one: one.at) if self.known else 0
        if not place:
            return None
        now = self._readings[place - 1]
        before = self._readings[place - 2] if place > 1 else None
        news_of_errors = now.stderr_bytes and (before is None or now.stderr_bytes != before.stderr_bytes)
        if news_of_errors:
            return self._number(Stream.ERR, self._line(1, now.stderr_bytes or 0))
        return self._number(Stream.OUT, self._line(0, now.stdout_bytes)) if now.stdout_bytes else None

    def moment_of(self, line: int) -> float | None:
        """Return when a line was there first, as seen by the readings."""
        if not self.known or line < 0:
            return None
        found_at = next((one for one in self._shown if one[0] <= line < one[0] + len(one[1].lines)), None)
        if found_at is None or found_at[1].stream is None:
            return None
        number, piece = found_at
        stream, place = int(piece.stream is Stream.ERR), piece.first + line - number
        begin = self._ends[stream][place - 1] if place else 0
        amounts = [(one.stderr_bytes if stream else one.stdout_bytes) or 0 for one in self._readings]
        found = bisect_right(amounts, begin)
        return self._readings[found].at if found < len(self._readings) else None

    def _number(self, stream: Stream, place: int) -> int | None:
        """Return the number on screen of a line of `stream`."""
        for number, piece in self._shown:
            if piece.stream is stream and piece.first <= place < piece.first + len(piece.lines):
                return number + place - piece.first
        return None

    def _line(self, stream: int, amount: int) -> int:
        return min(bisect_left(self._ends[stream], amount), max(0, len(self._ends[stream]) - 1))


def _numbered(result: Result) -> Iterator[tuple[int, OrderedLines]]:
    """Yield what is shown, with the number of its first line on screen."""
    number = 0
    for piece in in_order(result.stdout, result.stderr, result.order):
        yield number, piece
        number += len(piece.lines)


def _line_ends(data: bytes) -> list[int]:
    """Return the offset after each line."""
    ends, place = [], data.find(b"\n")
    while place >= 0:
        ends.append(place + 1)
        place = data.find(b"\n", place + 1)
    return ends if not data or data.endswith(b"\n") else [*ends, len(data)]


def _points(readings: Sequence[Usage], value: Callable[[Usage], float | None]) -> Points:
    found = ((one.at, value(one)) for one in readings)
    return tuple((at, amount) for at, amount in found if amount is not None)


def _rates(readings: Sequence[Usage], value: Callable[[Usage], float | None]) -> Points:
    """Return what was added in each second between two readings."""
    known = _points(readings, value)
    start = ((0.0, 0.0),) if known and known[0][0] > 0 else ()
    return tuple(
        (now, max(0.0, (after - before) / (now - then)))
        for (then, before), (now, after) in pairwise((*start, *known))
        if now > then
    )


def _printed(one: Usage) -> int | None:
    return None if one.stdout_bytes is None else one.stdout_bytes + (one.stderr_bytes or 0)


def _moved(one: Usage) -> int | None:
    return None if one.sent is None else one.sent + (one.received or 0)
