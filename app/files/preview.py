"""Turns the bytes of a file into something to look at. The bytes may be hostile; everything here is bounded.

What a file is, is seen from what it holds: its name only chooses among the ways to show text. The console calls this
in a process of its own, by `app.files.apart`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import TYPE_CHECKING

from app.files.found import MOST_TABLE, MOST_TEXT, Preview, Table, Text, Undrawn, form_of
from app.files.kinds import JSON, LANGUAGES, TABLES, ending
from app.parts.amounts import size
from app.parts.text.visible_characters import expose
from runner.model.translation import capital, numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_CHECKED = 2 * MOST_TEXT
"""Characters of JSON that are checked: that holds up the window while it lasts."""
MOST_ROWS = 1000
MOST_COLUMNS = 50
MOST_CELL = 300
"""Characters of a cell."""
MOST_HEX = 4096
"""Bytes of what is no text."""
DEEPEST = 30
"""Levels by which JSON is indented."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,8}|[0-9]{1,30})(?:\.[0-9]{0,30})?(?:[eE][+-]?[0-9]{1,3})?")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
"""A string that is never closed goes to the end: looking for its end from each quote would take quadratic time."""


def preview(data: bytes, path: str) -> Preview:
    """Return what to show for a file with this content and name."""
    if form := form_of(data):
        return _picture(data, form)
    text = as_text(data)
    if text is None:
        return hexadecimal(data)
    if ending(path) in TABLES and (found := table(text, ending(path))) is not None:
        return found
    if ending(path) in JSON:
        return _json(text)
    return plain_text(text, LANGUAGES.get(ending(path), ""))


# ---- pictures ----


def _picture(data: bytes, form: bytes) -> Preview:
    # Only here is Qt needed, which takes longer to load than all else.
    from app.files.pixels import drawn

    try:
        return drawn(data, form)
    except Undrawn as why:
        return hexadecimal(data, str(why))


# ---- tables ----


def table(text: str, kind: str) -> Table | None:
    """Return what a text of this ending holds, with its numbers; None where it cannot be read as a table."""
    more = len(text) > MOST_TABLE
    begin = text[:MOST_TABLE].rpartition("\n")[0] if more else text
    reader = csv.reader(io.StringIO(begin, newline=""), delimiter=_delimiter(text, kind))
    rows: list[tuple[str, ...]] = []
    widest = 0
    try:
        for row in reader:
            if len(rows) > MOST_ROWS:
                more = True
                break
            widest = max(widest, len(row))
            rows.append(tuple(map(_cell, row[:MOST_COLUMNS])))
    except csv.Error:
        return None
    if not rows:
        return None
    return Table(tuple(rows), _extent(len(rows), more, widest, text), shares(rows))


def shares(rows: Sequence[Sequence[str]]) -> tuple[tuple[float | None, ...], ...]:
    """Return the numbers of `rows` below the heading, each as a share of the largest of its column."""
    below = rows[1:]
    columns = [_shares([row[place] if place < len(row) else "" for row in below]) for place in range(len(rows[0]))]
    if not any(columns):
        return ()
    return tuple(tuple(column[row] if column else None for column in columns) for row in range(len(below)))


def _shares(cells: list[str]) -> list[float | None]:
    """Return nothing for a column in which anything but numbers and empty cells stands."""
    numbers = [float(cell.replace(",", "")) if _NUMBER.fullmatch(cell.strip()) else None for cell in cells]
    largest = max((abs(one) for one in numbers if one is not None), default=0.0)
    odd = any(one is None and cell.strip() for one, cell in zip(numbers, cells, strict=True))
    if odd or not 0 < largest < math.inf:
        return []
    return [None if one is None else one / largest for one in numbers]


def _extent(rows: int, more: bool, widest: int, text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    shown = (
        tr(
            "the first {counted} of {counted_2}",
            counted=plural("{count} row", "{count} rows", rows - 1),
            counted_2=plural("{count} line", "{count} lines", lines),
        )
        if more
        else plural("{count} row", "{count} rows", rows - 1)
    )
    columns = plural("{count} column", "{count} columns", widest)
    if widest > MOST_COLUMNS:
        columns = tr("the first {most_columns} of {columns}", most_columns=MOST_COLUMNS, columns=columns)
    return capital(f"{shown}, {columns}")


def _delimiter(text: str, kind: str) -> str:
    first = text[:4096].partition("\n")[0]
    return "\t" if kind == ".tsv" else max(",;\t|", key=first.count)


def _cell(text: str) -> str:
    shown = expose(text[:MOST_CELL]).text
    return shown + ("\N{HORIZONTAL ELLIPSIS}" if len(text) > MOST_CELL else "")


# ---- texts ----


def as_text(data: bytes) -> str | None:
    """Return UTF-8 text; None for anything else."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _json(text: str) -> Text:
    """With a line for each value. Nothing of it is altered: neither order nor numbers nor names that come twice."""
    said, all_of_it = "", len(text) <= MOST_CHECKED
    if not all_of_it:
        said, text = tr("Too long to be checked"), text[:MOST_CHECKED]
    else:
        try:
            json.loads(text, parse_int=str, parse_float=str)
        except RecursionError:
            said = tr("Nested too deeply to be checked")
        except ValueError as error:
            return plain_text(text, "", tr("Not valid JSON ({error})", error=error))
    pieces: list[str] = []
    length = 0
    for piece in _indented(text):
        pieces.append(piece)
        length += len(piece)
        if length > MOST_TEXT:
            break
    return plain_text("".join(pieces), "javascript", said, whole=all_of_it and length <= MOST_TEXT)


def _indented(text: str) -> Iterator[str]:
    depth = 0
    opened = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            depth -= 1
            yield token if opened else _line(depth) + token
            opened = False
            continue
        if opened:
            yield _line(depth)
        opened = token in "{["
        depth += opened
        if token == ",":
            yield token + _line(depth)
        else:
            yield ": " if token == ":" else token


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, DEEPEST)


def plain_text(text: str, language: str, said: str = "", whole: bool = True) -> Text:
    """Return the beginning of `text`, with what `said` says of it; `whole` where it is all there is."""
    parts = [said] if said else []
    if not whole or len(text) > MOST_TEXT:
        parts.append(
            tr("The first {most_text} characters are shown. Save it to see all of it", most_text=numeral(MOST_TEXT))
        )
    elif not text:
        parts.append(tr("Empty"))
    elif not said:
        parts.append(plural("{count} line", "{count} lines", text.count("\n") + (not text.endswith("\n"))))
    return Text(text[:MOST_TEXT], language, ". ".join(parts))


def hexadecimal(data: bytes, said: str = "") -> Text:
    """Return the first bytes as numbers and letters; `said` is why they are not shown as more."""
    head = data[:MOST_HEX]
    lines = [
        f"{at:06x}  {head[at : at + 8].hex(' '):<23}  {_letters(head[at : at + 8])}" for at in range(0, len(head), 8)
    ]
    cut = (
        tr("The first {size} of {size_2} as bytes", size=size(MOST_HEX), size_2=size(len(data)))
        if len(data) > MOST_HEX
        else tr("Shown as bytes")
    )
    return Text("\n".join(lines), "", f"{said} {cut}".strip())


def _letters(data: bytes) -> str:
    return "".join(chr(one) if 32 <= one < 127 else "." for one in data)
