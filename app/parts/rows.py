"""Rows of the screen for lines, some of which take more than one row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Rows:
    """Lines and rows count from 0. Costs are of the number of long lines, not of all lines."""

    def __init__(self) -> None:
        self._lines = 0
        self._long: list[int] = []
        self._before = [0]
        self._starts: list[int] = []

    def add(self, more: int) -> None:
        """Append a line with `more` rows beyond its first."""
        if more > 0:
            self._long.append(self._lines)
            self._starts.append(self._lines + self._before[-1])
            self._before.append(self._before[-1] + more)
        self._lines += 1

    @property
    def total(self) -> int:
        """Rows of all lines."""
        return self._lines + self._before[-1]

    def row(self, line: int) -> int:
        """Return the first row of `line`."""
        return line + self._before[bisect_left(self._long, line)]

    def at(self, row: int) -> tuple[int, int]:
        """Return the line shown in `row`, and which of its rows that is, from 0."""
        place = bisect_right(self._starts, row) - 1
        if place < 0:
            return row, 0
        line, start = self._long[place], self._starts[place]
        more = self._before[place + 1] - self._before[place]
        return (line, row - start) if row <= start + more else (line + row - start - more, 0)
