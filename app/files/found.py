"""The content found in a file: a picture, a table, a tree, a page or a text, each of bounded size."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

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
    shares: tuple[tuple[float | None, ...], ...] = ()
    """For each row below the heading, and each column: the number as a share of the largest of its column, from -1 to
    1. None in a column that holds anything else. Empty where no column is one of numbers."""


@dataclass(frozen=True, slots=True)
class JsonNode:
    """One value of a tree, with how deep it lies. Those inside of it follow."""

    depth: int
    text: str
    """Its name and what it is, as they are shown."""
    kind: str = ""
    """`string`, `number`, `builtin` for true, false and null; empty for what holds others."""


@dataclass(frozen=True, slots=True)
class JsonRows:
    """The values of a JSON text in their order."""

    nodes: tuple[JsonNode, ...]
    said: str


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    QUOTE = "quote"
    CODE = "code"
    RULE = "rule"


class PieceKind(StrEnum):
    PLAIN = "plain"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    CODE = "code"
    ADDRESS = "address"
    """Where a link leads to, or a picture is: shown, never followed."""


@dataclass(frozen=True, slots=True)
class MarkdownPiece:
    text: str
    kind: PieceKind = PieceKind.PLAIN


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    kind: BlockKind
    pieces: tuple[MarkdownPiece, ...]
    depth: int = 0
    """Of a heading 1 to 6; of an item how far it is indented, from 0."""


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    blocks: tuple[MarkdownBlock, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    language: str
    said: str


Preview = Picture | Table | JsonRows | MarkdownPage | Text
MOST_NODES = 2000
"""Values of a tree that are shown."""
MOST_BLOCKS = 400
MOST_PIECES = 4000
"""Of all blocks of a page together."""


def form_of(data: bytes) -> bytes:
    """Return which kind of picture `data` says it is; nothing where it says nothing like that."""
    return next((form for begin, form in PICTURES.items() if data.startswith(begin)), b"")
