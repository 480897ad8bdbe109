"""A place in the code: of a finding, of the line to look at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range in the code. Lines count from 1, columns from 0 in characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> str:
        """The line in words; empty where no line of the code is meant."""
        return "" if self == WHOLE else f"line {self.line}"


WHOLE = Span(1, 0, 1, 0)
"""Of what belongs to no line of the code."""
