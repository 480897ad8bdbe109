"""The answer of the process that reads a file: a line of JSON, and the pixels of a picture behind it."""

from __future__ import annotations

import json
from dataclasses import replace

from app.files.found import (
    MOST_BLOCKS,
    MOST_NODES,
    MOST_PIECES,
    MOST_TABLE,
    MOST_TEXT,
    WIDEST,
    JsonRows,
    MarkdownPage,
    Picture,
    Preview,
    Table,
    Text,
)
from runner.model.codec import UnreadableValue, decode, encode
from runner.model.translation import tr

KINDS: dict[str, type[Preview]] = {kind.__name__: kind for kind in (Picture, Table, JsonRows, MarkdownPage, Text)}
LONGEST_ESCAPE = 12
"""Bytes of what is shown for a character that cannot be seen."""
MOST_ANSWER = max(4 * WIDEST * WIDEST, LONGEST_ESCAPE * MOST_TABLE) + (1 << 20)
"""Bytes."""
MOST_SAID = 1000


class NoPreview(Exception):
    """An answer that is none."""


def pack(found: Preview) -> bytes:
    """Return `found` as bytes."""
    pixels = b""
    if isinstance(found, Picture):
        pixels, found = found.pixels, replace(found, pixels=b"")
    data = {"kind": type(found).__name__, **encode(found)}
    data.pop("pixels", None)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" + pixels


def unpack(answer: bytes) -> Preview:
    """Return the preview that `pack` made `answer` of. Raises NoPreview for anything else and for other sizes."""
    head, _, pixels = answer.partition(b"\n")
    try:
        data = json.loads(head)
        found = decode(KINDS[data["kind"]], data)
    except (ValueError, TypeError, KeyError, RecursionError, UnreadableValue) as error:
        raise NoPreview(f"{type(error).__name__}: {error}"[:200]) from error
    if isinstance(found, Picture):
        found = replace(found, pixels=pixels)
    if len(found.said) > MOST_SAID or not _fits(found):
        raise NoPreview(tr("a {name} of other sizes than it may have", name=type(found).__name__))
    return found


def _fits(found: Preview) -> bool:
    if isinstance(found, Picture):
        sides = (found.width, found.height)
        return all(0 < side <= WIDEST for side in sides) and len(found.pixels) == 4 * found.width * found.height
    if isinstance(found, JsonRows):
        return len(found.nodes) <= MOST_NODES
    if isinstance(found, MarkdownPage):
        return len(found.blocks) <= MOST_BLOCKS and sum(len(one.pieces) for one in found.blocks) <= MOST_PIECES
    return isinstance(found, Table) or len(found.text) <= MOST_TEXT
