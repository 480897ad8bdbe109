"""The pictures that stand in a program as base64, found by its syntax and unpacked whole.

Each lies within one literal of one line, in which no character means anything but itself. What the program does with it
is another question, and so is what its pixels are.
"""

from __future__ import annotations

import ast
import base64
import binascii
import zlib
from typing import TYPE_CHECKING

from tree_sitter import Parser

from runner.model.embedded_picture import BEGIN, LEAST, EmbeddedPicture
from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.executing.executing_javascript import JAVASCRIPT
from runner.risk.executing.executing_shell import BASH
from runner.risk.model.outline_data import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

Literal = tuple[int, int, str]
"""The line of a literal, from 1, the column at which it begins, in characters, and its source."""
RUN = expression(rf"(?:^|[^A-Za-z0-9+/=])({BEGIN}[A-Za-z0-9+/]*={{0,2}})(?:$|[^A-Za-z0-9+/=])")
OTHER_LINES = "\r\f\0"
"""Characters with which the count of lines and columns depends on who counts."""
READ_AGAIN = {Language.PYTHON: "\\", Language.JAVASCRIPT: "\\", Language.SHELL: "\\$`!"}
"""Characters by which a part of a literal means something else than itself."""
MOST_PICTURES = 20
MOST_PIXELS = 4_000_000
MOST_OTHER = 1000
"""Bytes of all chunks of a PNG that are no picture: a program that draws signs its name, and its resolution."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""By the type of color (PNG specification, 11.2.2)."""


def pictures(language: Language | None, code: str) -> tuple[EmbeddedPicture, ...]:
    """Return the pictures in `code`, in their order; none where its syntax is not understood. Pure."""
    if BEGIN not in code or any(sign in code for sign in OTHER_LINES):
        return ()
    try:
        match language:
            case Language.PYTHON:
                literals = list(_python(code))
            case Language.JAVASCRIPT:
                literals = list(_parsed(JAVASCRIPT, code, ("string",)))
            case Language.SHELL:
                literals = list(_parsed(BASH, code, ("string", "raw_string")))
            case _:
                return ()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: list[EmbeddedPicture] = []
    for line, column, source in sorted(literals):
        if any(sign in source for sign in READ_AGAIN[language]):
            continue
        for run in RUN.finditer(source):
            start, end = run.span(1)
            size = _size(run[1]) if end - start >= LEAST else None
            if size is not None:
                found.append(EmbeddedPicture(line, column + start, column + end, *size))
            if len(found) == MOST_PICTURES:
                return tuple(found)
    return tuple(found)


# ---- literals of one line ----


def _python(code: str) -> Iterator[Literal]:
    lines = code.split("\n")
    todo: list[ast.AST] = [ast.parse(code)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.JoinedStr):
            continue  # between its braces is code, and its parts have no places of their own
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and node.end_lineno == node.lineno:
            line = lines[node.lineno - 1].encode()
            source = line[node.col_offset : node.end_col_offset].decode()
            yield node.lineno, len(line[: node.col_offset].decode()), source
        todo += ast.iter_child_nodes(node)


def _parsed(grammar: object, code: str, kinds: tuple[str, ...]) -> Iterator[Literal]:
    root = Parser(grammar).parse(code.encode()).root_node  # type: ignore[arg-type]
    if root.has_error:
        return
    lines = code.split("\n")
    todo: list[Node] = [root]
    while todo:
        node = todo.pop()
        if node.type not in kinds:
            todo += node.children
        elif node.start_point[0] == node.end_point[0]:
            row, column = node.start_point
            yield row + 1, len(lines[row].encode()[:column].decode()), text(node)


# ---- PNG ----


def _size(encoded: str) -> tuple[int, int] | None:
    """Return width and height of the PNG that `encoded` is, to its last bit; None where it is none."""
    try:
        return _whole(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError, zlib.error):
        return None


def _whole(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(SIGNATURE):
        return None
    chunks = list(_chunks(data))
    kinds = [kind for kind, _ in chunks]
    if not chunks or kinds[0] != b"IHDR" or kinds.count(b"IHDR") != 1 or len(chunks[0][1]) != 13:
        return None
    header = chunks[0][1]
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    depth, color, interlaced = header[8], header[9], header[12]
    if kinds[-1] != b"IEND" or chunks[-1][1] or color not in CHANNELS or interlaced or header[10] or header[11]:
        return None
    other = sum(len(content) for kind, content in chunks[1:] if kind not in (b"IDAT", b"PLTE"))
    if other > MOST_OTHER or not 0 < width * height <= MOST_PIXELS:
        return None
    row = 1 + (width * depth * CHANNELS[color] + 7) // 8
    unpacking = zlib.decompressobj()
    packed = b"".join(content for kind, content in chunks if kind == b"IDAT")
    pixels = unpacking.decompress(packed, row * height + 1)
    whole = len(pixels) == row * height and unpacking.eof and not unpacking.unused_data
    return (width, height) if whole else None


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and content of each chunk. Raises ValueError where one is cut or damaged, or anything follows."""
    at = len(SIGNATURE)
    kind = b""
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        kind, content = data[at + 4 : at + 8], data[at + 8 : end - 4]
        if kind == b"" or end > len(data) or zlib.crc32(kind + content) != int.from_bytes(data[end - 4 : end], "big"):
            raise ValueError
        yield kind, content
        at = end
        if kind == b"IEND" and at < len(data):
            raise ValueError
    if kind != b"IEND":
        raise ValueError
