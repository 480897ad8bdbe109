"""Literals that can only be data, in any language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.expression import expression

if TYPE_CHECKING:
    from tree_sitter import Node

Span = tuple[int, int]
"""Where a literal begins and ends, in bytes."""
TELLING = expression(
    r"__\w+__|^[rwaxbt+]{1,4}$|\.(?:py|pyc|pyw|pyd|pth|so|sh|bash|js|mjs|cjs|node|zip|egg|whl|rb|pl)$"
    r"|\b(?:eval|exec|import|require|system|popen|subprocess|lambda|constructor|prototype)\b",
    re.IGNORECASE,
)
"""Literals that read like code, name a file that is code, or say whether a file is written, count letter by letter."""


WRITTEN = expression(r"(?:[\w-]+/)*[\w-]+\.(?:csv|tsv|txt|json|jsonl|ndjson|md|log)")
"""Files that a program may write, named in its text: no program reads them as code."""
LOADED = expression(r"\.(?:py\w?|pth|so|sh|bash|js|cjs|mjs|node|wasm|pl|rb|php|egg|whl|zip)\Z|\A[^.]*\Z")
"""Files that interpreters load or start by themselves, or that have no ending to tell."""


class NoOutline(Exception):
    """The code has no outline."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def is_data(text: str) -> bool:
    """Return whether a literal with this text can only be data."""
    return TELLING.search(text) is None


def is_plain(node: Node) -> bool:
    """Return whether nothing in a quoted text is read again: no expansion, no character by its number, no option."""
    inside = text(node)[1:-1]
    return not any(sign in inside for sign in "\\$`!") and not inside.startswith("-") and is_data(inside)


def text(node: Node) -> str:
    return "" if node.text is None else node.text.decode()


def require(allowed: bool) -> None:
    """Raise NoOutline for what is not allowed."""
    if not allowed:
        raise NoOutline
