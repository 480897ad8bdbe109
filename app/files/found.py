"""What a look into a file finds: a picture, a table or a text, each of bounded size."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_TEXT = 256_000
"""Characters of a text that are shown."""
MOST_TABLE = 4_000_000
"""Characters of a table that are read."""
WIDEST = 2400
"""Pixels of a side of what is drawn; larger pictures are made smaller."""
PNG, JPEG = b"png", b"jpeg"
PICTURES = {b"\x89PNG\r\n\x1a\n": PNG, b"\xff\xd8\xff": JPEG}
"""How each kind of pictures begins, and what Qt calls it."""


class Undrawn(Exception):
    """A picture that is not drawn, and why."""


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: int
    transparent: bool
    """Whether a ground shows through."""
    said: str
    pixels: bytes = field(repr=False, default=b"")
    """Row by row, four bytes each: Qt's ARGB32_Premultiplied, or its RGB32 where nothing shows through."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as they are shown; the first row is the heading."""

    rows: tuple[tuple[str, ...], ...]
    said: str


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    language: str
    said: str


Preview = Picture | Table | Text


def form_of(data: bytes) -> bytes:
    """Return which kind of picture `data` says it is; nothing where it says nothing like that."""
    return next((form for begin, form in PICTURES.items() if data.startswith(begin)), b"")
