"""Where a JavaScript program can be changed: its texts, and the functions of modules that it calls."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from tests.risk.disguises.nodes import edited, nodes, source
from tests.risk.disguises.step import MOST_PLACES, Maker, Step, named, worth

if TYPE_CHECKING:
    from collections.abc import Callable

    Builder = Callable[[str, Maker], str]
    """From the code of an expression, or a text, to the code of one with the same value."""

PARSER = Parser(Language(tree_sitter_javascript.language()))
REQUIRED = re.compile(r"(?:const|let|var)\s+(\w+)\s*=\s*require\b")


def text_step(build: Builder) -> Step:
    """Return a step that writes each text of a program as `build` does."""

    def change(code: str, maker: Maker) -> str:
        edits: list[tuple[Node, str]] = []
        for node in nodes(PARSER, code, "string"):
            text = _meaning(node)
            if text is not None and worth(text) and _is_value(node) and len(edits) < MOST_PLACES:
                edits.append((node, build(text, maker)))
        return "\n".join([*maker.lines, edited(code, edits)]) if edits else code

    return Step(named(build), change)


def call_step(build: Builder) -> Step:
    """Return a step that writes each function of a module that is called, `a.b`, as `build` does."""

    def change(code: str, maker: Maker) -> str:
        modules = set(REQUIRED.findall(code))
        edits: list[tuple[Node, str]] = []
        for node in nodes(PARSER, code, "call_expression"):
            function = node.child_by_field_name("function")
            owner = function.child_by_field_name("object") if function is not None else None
            if function is None or owner is None or function.type != "member_expression":
                continue
            plain = source(function) == f"{source(owner)}.{source(function).rpartition('.')[2]}"
            if plain and source(owner) in modules and len(edits) < MOST_PLACES:
                edits.append((function, build(source(function), maker)))
        return edited(code, edits) if edits else code

    return Step(named(build), change)


def module_step(build: Builder) -> Step:
    """Return a step that writes each `require` of a program as `build` does."""

    def change(code: str, maker: Maker) -> str:
        edits: list[tuple[Node, str]] = []
        for node in nodes(PARSER, code, "call_expression"):
            function = node.child_by_field_name("function")
            if function is not None and source(function) == "require" and len(edits) < MOST_PLACES:
                edits.append((function, build("require", maker)))
        return "\n".join([*maker.lines, edited(code, edits)]) if edits else code

    return Step(named(build), change)


def _meaning(node: Node) -> str | None:
    """Return the text that a literal stands for; None where its escapes are not those of JSON."""
    inner = source(node)[1:-1]
    if source(node)[0] == "'":
        inner = inner.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(json.loads(f'"{inner}"'))
    except ValueError:
        return None


def _is_value(node: Node) -> bool:
    """Return whether any expression may stand where the literal does."""
    parent = node.parent
    if parent is None or parent.type in ("expression_statement", "import_statement", "export_statement"):
        return False
    return not (parent.type == "pair" and parent.child_by_field_name("key") == node)


def quoted(text: str) -> str:
    """Return the literal for a text."""
    return json.dumps(text, ensure_ascii=False)


def owner_and_name(function: str) -> tuple[str, str]:
    owner, _, name = function.rpartition(".")
    return owner, name
