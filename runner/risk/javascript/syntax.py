"""The syntax tree of a JavaScript program: parsing, and the text and place of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tree_sitter_javascript
from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.acts import Place

GRAMMAR = Language(tree_sitter_javascript.language())


def parse(code: str) -> Node:
    """Return the root of the tree; `has_error` says whether all of the code was understood."""
    return Parser(GRAMMAR).parse(code.encode("utf-8", "surrogatepass")).root_node


def code_of(node: Node) -> str:
    """Return the code that a node covers."""
    return (node.text or b"").decode("utf-8", "replace")


def place(node: Node) -> Place:
    """Return where a node stands: lines from 1, columns in bytes from 0."""
    start, end = node.start_point, node.end_point
    return start[0] + 1, start[1], end[0] + 1, end[1]
