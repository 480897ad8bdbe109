"""Puts texts on the clipboard: what would command a terminal or turn the order of a line is made visible."""

from __future__ import annotations

import re

from PySide6.QtGui import QGuiApplication

from app.parts.text.visible_characters import escape

_COMMANDS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"  # with ESC a pasted text would end its own pasting
    "|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def to_clipboard(text: str) -> None:
    """Copy `text`, whoever wrote it. Blanks and joiners of other scripts stay: code would not be the same."""
    QGuiApplication.clipboard().setText(_COMMANDS.sub(lambda found: escape(found[0]), text))
