"""Text of an agent for a table or a report: nothing in it is hidden, and no program that opens it obeys it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import escape

from runner.model.shown import hides

# Spreadsheets take these for the beginning of a formula, after spaces too. A program that expects semicolons between
# its cells begins a new one at each of them, whatever the quotation marks say.
_FORMULA = re.compile("(^|;)(\\s*)(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])")


def seen(text: str, keep: str = "") -> str:
    """Return `text` with each character that shows nothing, or that reorders others, written out; not those in `keep`.

    Takes a time that grows with the text, and little of it where the text has few different characters.
    """
    if text.isascii() and (text.isprintable() or _without(text, keep).isprintable()):
        return text
    hidden = {ord(one): f"\\u{{{ord(one):x}}}" for one in set(text) if (hides(one) or one == "\t") and one not in keep}
    return text.translate(hidden) if hidden else text


def _without(text: str, characters: str) -> str:
    for one in characters:
        text = text.replace(one, "")
    return text


def cell(value: object) -> object:
    """Return a value for a table: numbers as they are, text so that no spreadsheet takes it for a formula."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    text = seen(str(value))
    # Most cells: they begin with a letter or a digit, and nothing in them begins another cell.
    return text if text[:1].isalnum() and ";" not in text else _FORMULA.sub(r"\1\2'", text)


def marked_up(text: object) -> str:
    """Return `text` for HTML, also inside of an attribute; ends of lines and tabs stay."""
    return escape(seen(str(text), "\n\t"), quote=True)


def utc(seconds: float | None) -> str:
    """Return a time as in ISO 8601, in UTC; empty where there is none."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
