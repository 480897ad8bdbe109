"""A picture that stands in a program as text."""

from __future__ import annotations

from dataclasses import dataclass

from runner.model.expression import expression

BASE64 = expression(r"[A-Za-z0-9+/]+={0,2}")
"""The characters that such a text is made of: none ends a literal, begins another, or means something inside of one."""
BEGIN = "iVBORw0KGgo"
"""How every PNG begins in base64."""
LEAST = 1000
"""Characters of a text that is worth folding: some ten rows of a window."""


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """Characters `start` to `end` of a line are base64 of one PNG and nothing else."""

    line: int
    """From 1."""
    start: int
    end: int
    width: int
    """In pixels, as `height`."""
    height: int
