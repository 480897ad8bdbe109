"""Turns the bytes of a file into what stands on a card of the results: drawn where it can be, and short.

As `app.files.preview`, this is called in a process of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.files import json_nodes, markdown
from app.files.found import Preview, Text, Undrawn, form_of
from app.files.kinds import JSON, LANGUAGES, PAGES, TABLES, VECTORS, ending
from app.files.preview import MOST_CHECKED, as_text, hexadecimal, plain_text, table
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from app.files.found import Table

WIDEST = 1280
"""Pixels of the longer side of a picture."""
MOST_ROWS = 200
"""Below the heading of a table: so many points a chart has."""
MOST_COLUMNS = 12
MOST_LINES = 60
"""Of a text."""
MOST_CHARACTERS = 6000


def card(data: bytes, path: str) -> Preview:
    """Return what to show of a file with this content and name."""
    if form := form_of(data):
        from app.files.pixels import drawn

        try:
            return drawn(data, form, WIDEST)
        except Undrawn as why:
            return hexadecimal(data[:256], str(why))
    text = as_text(data)
    if text is None:
        return hexadecimal(data[:256])
    kind = ending(path)
    if kind in TABLES and (found := table(text, kind)) is not None:
        return _short(found)
    if kind in JSON and len(text) <= MOST_CHECKED:
        try:
            return json_nodes.tree(json_nodes.read(text))
        except RecursionError:
            return _beginning(text, "", tr("Nested too deeply to be shown as a tree"))
        except ValueError:
            return _beginning(text, "", tr("Not valid JSON"))
    if kind in PAGES:
        return markdown.page(text)
    if kind in VECTORS:
        return _vector(text)
    return _beginning(text, LANGUAGES.get(kind, ""))


def _vector(text: str) -> Preview:
    from app.files.vector import drawn

    try:
        return drawn(text, WIDEST)
    except Undrawn as why:
        return _beginning(text, "", str(why).rstrip("."))


def _short(found: Table) -> Table:
    rows = tuple(row[:MOST_COLUMNS] for row in found.rows[: MOST_ROWS + 1])
    shares = tuple(row[:MOST_COLUMNS] for row in found.shares[:MOST_ROWS])
    return replace(found, rows=rows, shares=shares)


def _beginning(text: str, language: str, said: str = "") -> Text:
    lines = text.split("\n", MOST_LINES)
    begin = "\n".join(lines[:MOST_LINES])[:MOST_CHARACTERS]
    whole = plain_text(text, language, said)
    if len(begin) >= len(text.rstrip("\n")):
        return replace(whole, text=begin)
    count = plural("{count} line", "{count} lines", text.count("\n") + (not text.endswith("\n")))
    return Text(begin, language, ". ".join(filter(None, (said, tr("The beginning of {count}", count=count)))))
