"""Text of others as plain text, in the places of Qt that would take it for markup."""

from __future__ import annotations

from html import escape

_LONGEST = 2000


def tip(text: str) -> str:
    """`text` for `setToolTip`. Qt guesses whether a tool tip is markup, so it gets markup that holds only text."""
    if not text:
        return ""
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "\N{HORIZONTAL ELLIPSIS}"
    return f'<span style="white-space: pre-wrap">{escape(shown)}</span>'
