"""The places of a syntax tree at which code could not be parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.acts import Place

DEEPEST = 400
"""Levels of a tree that are looked through."""


def first_broken(root: Node) -> Place | None:
    """Return the first line that the grammar could not read; None where that is everything, or nothing.

    What is missing at the end is missing after the last line with something in it. Columns count bytes of UTF-8.
    """
    node = root
    for _ in range(DEEPEST):
        inner = next((one for one in node.children if one.has_error or one.is_missing or one.type == "ERROR"), None)
        if inner is None:
            return None
        node = inner
        if node.type == "ERROR" or node.is_missing:
            break
    else:
        return None
    # Statements in it that are whole were read; what they stand in begins with the first word of its own.
    node = next((one for one in node.children if not one.is_named and one.type.isalpha()), node)
    lines = (root.text or b"").split(b"\n")
    line = min(node.start_point[0], len(lines) - 1)
    while line > 0 and not lines[line].strip():
        line -= 1
    return line + 1, 0, line + 1, max(1, len(lines[line]))
