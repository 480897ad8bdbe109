"""Nodes of a program that tree-sitter has parsed: found by kind, and replaced in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node, Parser


def nodes(parser: Parser, code: str, kind: str) -> Iterator[Node]:
    """Yield the nodes of one kind, in the order in which they begin."""
    waiting = [parser.parse(code.encode()).root_node]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            yield node
        waiting += reversed(node.named_children)


def source(node: Node) -> str:
    return (node.text or b"").decode()


def edited(code: str, edits: Sequence[tuple[Node, str]]) -> str:
    """Return `code` with nodes replaced, the inner one where one is in another."""
    data = code.encode()
    start = len(data) + 1
    for node, made in sorted(edits, key=lambda edit: -edit[0].start_byte):
        if node.end_byte <= start:
            data = data[: node.start_byte] + made.encode() + data[node.end_byte :]
            start = node.start_byte
    return data.decode()
