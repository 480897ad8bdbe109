"""Literals that can only be data, in any language."""

from __future__ import annotations

import re

Span = tuple[int, int]
"""Where a literal begins and ends, in bytes."""
TELLING = re.compile(
    r"__\w+__|^[rwaxbt+]{1,4}$|\.(?:py|pyc|pyw|pyd|pth|so|sh|bash|js|mjs|cjs|node|zip|egg|whl|rb|pl)$"
    r"|\b(?:eval|exec|import|require|system|popen|subprocess|lambda|constructor|prototype)\b",
    re.IGNORECASE,
)
"""Literals that read like code, name a file that is code, or say whether a file is written, count letter by letter."""


class NoOutline(Exception):
    """The code has no outline."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def is_data(text: str) -> bool:
    """Return whether a literal with this text can only be data."""
    return TELLING.search(text) is None
