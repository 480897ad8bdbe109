"""The syntax tree of a JavaScript or TypeScript program: parsing, and the text and place of a node."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import tree_sitter_typescript
from tree_sitter import Language, Parser, Query, QueryCursor

from runner.model.expression import expression
from runner.risk.executing.executing_javascript import root_of
from runner.risk.model.held import until_forgotten

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.acts import Place

TYPESCRIPT = (Language(tree_sitter_typescript.language_typescript()), Language(tree_sitter_typescript.language_tsx()))
"""Without and with JSX: `<T>value` is one thing in the first and another in the second."""
LONGEST_TYPESCRIPT = 100_000
"""Bytes beyond which code is parsed as JavaScript only: a grammar takes up to half a second for this much nonsense."""
ERASED = (
    "[(interface_declaration) (type_alias_declaration) (ambient_declaration) (abstract_class_declaration)"
    " (internal_module) (module) (as_expression) (satisfies_expression)] @erased"
)
"""What begins with words that are ordinary names in JavaScript."""
NEW_LINE = expression("[\n\r\u2028\u2029]")


@lru_cache(maxsize=2)
def parse(code: str) -> Node:
    """Return the root of the tree; `has_error` says whether all of the code was understood.

    Code that is no JavaScript but TypeScript gives the tree of that. The last ones are held in memory until `forget`.
    """
    root = root_of(code)
    data = code.encode("utf-8", "surrogatepass") if root.has_error else b""
    if root.has_error and len(data) <= LONGEST_TYPESCRIPT:
        for number, grammar in enumerate(TYPESCRIPT):
            other = Parser(grammar).parse(data).root_node
            if not other.has_error and not _may_be_statements(other, erased(number), data):
                return other
    return root


until_forgotten(parse.cache_clear)


def is_typescript(code: str) -> bool:
    """Return whether code is TypeScript and no JavaScript."""
    return root_of(code).has_error and not parse(code).has_error


@cache
def erased(number: int) -> Query:
    """Return the query for one of the grammars; making it takes longer than loading all of them."""
    return Query(TYPESCRIPT[number], ERASED)


def _may_be_statements(root: Node, erased: Query, data: bytes) -> bool:
    """Return whether JavaScript would read something as statements that TypeScript erases.

    After a line break `interface`, `Name` and `{ ... }` are three statements, and `as (...)` is a call.
    """
    for node in QueryCursor(erased).captures(root).get("erased", []):
        word = next((child for child in node.children if child.type in ("as", "satisfies")), None)
        named = [child for child in node.named_children if child.type != "comment"]
        if word is not None:
            between = data[node.children[0].end_byte : word.start_byte]
        else:
            between = data[node.start_byte : named[0].start_byte] if named else b""
        if NEW_LINE.search(between.decode("utf-8", "replace")):
            return True
    return False


def code_of(node: Node) -> str:
    """Return the code that a node covers."""
    return (node.text or b"").decode("utf-8", "replace")


def place(node: Node) -> Place:
    """Return where a node stands: lines from 1, columns in bytes from 0."""
    start, end = node.start_point, node.end_point
    return start[0] + 1, start[1], end[0] + 1, end[1]
