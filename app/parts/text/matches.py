"""Searching a scrollback: what is looked for, and the match that was gone to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.parts.text.selection import TextPosition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Find = Callable[[str], list[tuple[int, int]]]


class Matches:
    """Finds in one line at a time; lines are numbered as in the scrollback."""

    def __init__(self) -> None:
        self._find: Find | None = None
        self.current: tuple[TextPosition, TextPosition] | None = None
        """Where the match that was gone to begins and ends."""

    @property
    def wanted(self) -> bool:
        """Whether anything is looked for."""
        return self._find is not None

    def look_for(self, find: Find | None) -> None:
        """Look for what `find` gives of a line, as (start, end); None for nothing."""
        self._find = find
        self.current = None

    def forget_current(self) -> None:
        self.current = None

    def within(self, text: str) -> list[tuple[int, int]]:
        """Return the matches in one line."""
        return self._find(text) if self._find else []

    def step(self, first: int, texts: Sequence[str], top: int, step: int) -> TextPosition | None:
        """Go to the next match downward (1) or upward (-1), around at the ends. Return where it begins, or None.

        `texts` are the lines from number `first` on; without a current match the search begins at line `top`.
        """
        if self._find is None:
            return None
        here = self.current[0] if self.current else TextPosition(top, -1)
        for ahead in range(len(texts) + 1):
            index = (here.line - first + step * ahead) % len(texts) if texts else 0
            found = self._find(texts[index]) if texts else []
            if ahead == 0:
                found = [hit for hit in found if (hit[0] > here.column if step > 0 else hit[0] < here.column)]
            if found:
                begin, end = found[0 if step > 0 else -1]
                self.current = TextPosition(first + index, begin), TextPosition(first + index, end)
                return self.current[0]
        return None
