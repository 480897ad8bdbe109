"""Text of others as plain text, in the places of Qt that would take it for markup."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

_LONGEST = 2000


def plain_label(text: str = "", role: str = "", wrap: bool = False) -> QLabel:
    """Return a label that shows `text` and whatever it is given later letter by letter.

    Qt guesses whether the text of a label is markup, so labels are made here only. `role` is one of the style sheet.
    """
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    label.setWordWrap(wrap)
    if role:
        label.setProperty("role", role)
    return label


def say(label: QLabel, text: str, role: str) -> None:
    """Show `text` in a label, as `role` has it; an empty text hides the label."""
    label.setText(text)
    label.setVisible(bool(text))
    if label.property("role") != role:
        label.setProperty("role", role)
        label.style().unpolish(label)
        label.style().polish(label)


def set_tip(widget: QWidget, text: str) -> None:
    """Give `widget` a tool tip of plain text; a screen reader, which would read its markup aloud, gets the text."""
    widget.setToolTip(tip(text))
    widget.setAccessibleDescription(text)


def tip(text: str) -> str:
    """Return `text` for `setToolTip`. Qt guesses whether it is markup, so it gets markup that holds only text."""
    if not text:
        return ""
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "\N{HORIZONTAL ELLIPSIS}"
    return f'<span style="white-space: pre-wrap">{escape(shown)}</span>'
