"""Finds the files and packages that JavaScript code loads by names that it writes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.syntax import code_of, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

LOADS = frozenset(("require", "import"))


def loaded(code: str) -> tuple[str, ...]:
    """Return the names in `require`, `import` and `export ... from`; those with escapes are left out."""
    return tuple(dict.fromkeys(_names(parse(code))))


def _names(root: Node) -> Iterator[str]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in ("import_statement", "export_statement", "import_require_clause"):
            yield from _text(node.child_by_field_name("source"))
        elif node.type == "call_expression":
            function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if function is not None and code_of(function) in LOADS and given is not None and given.named_children:
                yield from _text(given.named_children[0])
        waiting += node.named_children


def _text(node: Node | None) -> Iterator[str]:
    """Yield the text of a plain string."""
    if node is not None and node.type == "string" and not any(one.type == "escape_sequence" for one in node.children):
        yield code_of(node)[1:-1]
