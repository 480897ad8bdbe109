"""Keys as the keyboard of the person names them: `Ctrl+K`, in German `Strg+K`."""

from __future__ import annotations

import re

from runner.model.translation import to_translate, translated

NAMES = (
    to_translate("Ctrl"),
    to_translate("Shift"),
    to_translate("Alt"),
    to_translate("Enter"),
    to_translate("Escape"),
    to_translate("Space"),
    to_translate("Tab"),
    to_translate("End"),
    to_translate("Page Down"),
    to_translate("to"),
)
_NAME = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")


def key_text(keys: str) -> str:
    """Return keys, written as on an English keyboard: `Ctrl+Shift+H`. Qt's own names need an application."""
    return _NAME.sub(lambda found: translated(found[0]), keys)
