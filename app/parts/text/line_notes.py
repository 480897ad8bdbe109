"""A line that stands between the lines of a difference and is in neither text: a remark, or the head of a part."""

from __future__ import annotations

from dataclasses import dataclass

from runner.model.difference import DiffLine


@dataclass(frozen=True, slots=True)
class LineNote:
    """One such line. Its text hides nothing: whoever makes it has seen to that."""

    text: str
    ink: str = "muted"
    """The token of its color."""
    part: int = 0
    """Number, from 1, of the part of the difference that begins here; 0 for a remark."""


ShownLine = DiffLine | LineNote
