"""The selection in text that is drawn by ourselves: from where to where."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class TextPosition(NamedTuple):
    """A place between two characters of the source. Columns count from 0, lines as the owner numbers them."""

    line: int
    column: int


class TextSelection:
    """From the anchor, where it began, to the caret, in either order; empty where they are the same place."""

    def __init__(self) -> None:
        self.caret = self.anchor = TextPosition(0, 0)

    @property
    def ends(self) -> tuple[TextPosition, TextPosition]:
        """The first and the last place, in the order of the text."""
        return min(self.anchor, self.caret), max(self.anchor, self.caret)

    @property
    def empty(self) -> bool:
        return self.anchor == self.caret

    def put(self, place: TextPosition, keep_anchor: bool = False) -> None:
        """Move the caret to `place`, and the anchor with it unless it is to stay."""
        self.caret = place
        if not keep_anchor:
            self.anchor = place

    def within(self, line: int, length: int) -> tuple[int, int] | None:
        """Return which columns of `line`, `length` characters long, are selected; None for none of its own."""
        first, last = self.ends
        if self.empty or not first.line <= line <= last.line:
            return None
        begin = first.column if line == first.line else 0
        return begin, min(last.column, length) if line == last.line else length

    def text(self, lines: Sequence[str]) -> str:
        """Return the selected piece of `lines`, which count from 0."""
        first, last = self.ends
        if first.line == last.line:
            return lines[first.line][first.column : last.column]
        middle = lines[first.line + 1 : last.line]
        return "\n".join([lines[first.line][first.column :], *middle, lines[last.line][: last.column]])
