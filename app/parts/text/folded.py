"""A piece of a line that is shown as what it is, in place of its characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.embedded_picture import BASE64

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

PICTURE_ROWS = 6
"""Rows that a picture takes."""


@dataclass(frozen=True, slots=True)
class FoldedPiece:
    """Columns `start` to `end` of a line of the source. Its first and its last row stay as they are."""

    start: int
    end: int
    words: str
    """What stands in place of the rows between them."""
    picture: QImage

    def fits(self, line: str) -> bool:
        """Return whether this piece of `line` can hide nothing: no character of it ends or begins anything."""
        return 0 <= self.start < self.end <= len(line) and bool(BASE64.fullmatch(line, self.start, self.end))
