"""Markdown as blocks of plain pieces: nothing is fetched, no link leads anywhere, HTML stays text.

Only what programs write in reports is known: headings, lists, quotes, code, rules, and marks inside of a line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.files.found import (
    MOST_BLOCKS,
    MOST_PIECES,
    BlockKind,
    MarkdownBlock,
    MarkdownPage,
    MarkdownPiece,
    PieceKind,
)
from app.parts.text.visible_characters import expose
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_LINES = 2000
LONGEST_LINE = 2000
"""Characters of a line that are looked at and shown."""
DEEPEST_ITEM = 5
_HEADING = re.compile(r"(#{1,6}) (.*)")
_ITEM = re.compile(r"([-*+]|[0-9]{1,4}[.)]) (.*)")
_RULES = ({"-"}, {"*"}, {"_"})
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|(?P<picture>!?)\[(?P<words>[^\[\]]{0,300})\]\((?P<address>[^()\s]{0,300})[^()]{0,100}\)"
    r"|\*\*(?P<strong>[^*]{1,300})\*\*"
    r"|\*(?P<emphasis>[^*\s][^*]{0,300})\*"
)
"""Each repetition ends at its own closing sign or after so many characters, so that no line takes more than its length
times that."""


def page(text: str) -> MarkdownPage:
    """Return `text` as it is shown."""
    lines = text.split("\n", MOST_LINES)
    whole = len(lines) <= MOST_LINES
    blocks: list[MarkdownBlock] = []
    pieces = 0
    for block in _blocks(lines[:MOST_LINES]):
        pieces += len(block.pieces)
        if len(blocks) == MOST_BLOCKS or pieces > MOST_PIECES:
            whole = False
            break
        blocks.append(block)
    count = text.count("\n") + (not text.endswith("\n"))
    said = plural("{count} line", "{count} lines", count)
    return MarkdownPage(tuple(blocks), said if whole else tr("The beginning of {said}", said=said))


def _blocks(lines: list[str]) -> Iterator[MarkdownBlock]:
    paragraph: list[str] = []
    fence = ""
    code: list[str] = []
    for raw in lines:
        line = raw.rstrip("\r")
        bare = line.strip()
        if fence:
            if bare.startswith(fence):
                yield _code(code)
                fence, code = "", []
            else:
                code.append(_cut(line))
            continue
        block = _alone(line, bare)
        opens = bare[:3] if bare.startswith(("```", "~~~")) else ""
        if (not bare or block or opens) and paragraph:
            yield MarkdownBlock(BlockKind.PARAGRAPH, tuple(_inline(" ".join(paragraph))))
            paragraph = []
        if opens:
            fence = opens
        elif block is not None:
            yield block
        elif bare:
            paragraph.append(bare[:LONGEST_LINE])
    if fence:
        yield _code(code)
    if paragraph:
        yield MarkdownBlock(BlockKind.PARAGRAPH, tuple(_inline(" ".join(paragraph))))


def _alone(line: str, bare: str) -> MarkdownBlock | None:
    """Return the block that a line is by itself; None where it is none."""
    if len(bare) >= 3 and {*bare.replace(" ", "")} in _RULES:
        return MarkdownBlock(BlockKind.RULE, ())
    if found := _HEADING.fullmatch(bare):
        return MarkdownBlock(BlockKind.HEADING, tuple(_inline(found[2].rstrip("# "))), len(found[1]))
    if bare.startswith("|"):
        # A row of a table keeps its columns in letters of one width.
        return MarkdownBlock(BlockKind.CODE, (MarkdownPiece(_cut(bare), PieceKind.CODE),))
    if found := _ITEM.fullmatch(bare):
        mark = found[1] if found[1][0].isdigit() else "\N{BULLET}"
        depth = min((len(line) - len(line.lstrip())) // 2, DEEPEST_ITEM)
        return MarkdownBlock(BlockKind.ITEM, (MarkdownPiece(f"{mark} "), *_inline(found[2])), depth)
    if bare.startswith(">"):
        return MarkdownBlock(BlockKind.QUOTE, tuple(_inline(bare.lstrip("> "))))
    return None


def _code(lines: list[str]) -> MarkdownBlock:
    return MarkdownBlock(BlockKind.CODE, (MarkdownPiece("\n".join(lines), PieceKind.CODE),))


def _inline(text: str) -> Iterator[MarkdownPiece]:
    text = text[:LONGEST_LINE]
    at = 0
    for found in _INLINE.finditer(text):
        if found.start() > at:
            yield MarkdownPiece(_cut(text[at : found.start()]))
        at = found.end()
        if found["code"] is not None:
            yield MarkdownPiece(_cut(found["code"]), PieceKind.CODE)
        elif found["strong"] is not None:
            yield MarkdownPiece(_cut(found["strong"]), PieceKind.STRONG)
        elif found["emphasis"] is not None:
            yield MarkdownPiece(_cut(found["emphasis"]), PieceKind.EMPHASIS)
        else:
            what = tr("Picture, not fetched: {found}", found=found["words"]) if found["picture"] else found["words"]
            yield MarkdownPiece(_cut(f"{what} "))
            yield MarkdownPiece(_cut(f"({found['address']})"), PieceKind.ADDRESS)
    if at < len(text):
        yield MarkdownPiece(_cut(text[at:]))


def _cut(line: str) -> str:
    shown = expose(line[:LONGEST_LINE]).text
    return shown + ("\N{HORIZONTAL ELLIPSIS}" if len(line) > LONGEST_LINE else "")
