"""The outline of a program: its text letter by letter, but for texts and numbers that can only be data.

Where a program runs text, starts programs, or reaches what could, it has no outline: there every letter counts. What
is not known to be harmless counts as such, so that a new way to run text gives no outline rather than a wrong one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tree_sitter import Parser

from runner.model.request import Language
from runner.risk.executing.executing_javascript import JAVASCRIPT
from runner.risk.executing.executing_shell import BASH
from runner.risk.literals import outline_javascript as javascript
from runner.risk.literals import outline_python as python
from runner.risk.model.outline_data import WRITTEN, NoOutline, Span, is_plain, require, text, words
from runner.risk.rules.knowledge import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

HOLE = "\0"
"""Stands where a literal stood. No code that is taken in has one (`runner.requests.intake`)."""

COMMANDS = words(table()["running"]["shell"]["literals"])


WRITING = {"date": words("-s --set"), "file": words("-C --compile")}
"""Options by which one of them changes something."""
NONE = frozenset[str]()
NOWHERE = words("/dev/null /dev/stdout /dev/stderr")
EVALUATING = words(
    "function_definition arithmetic_expansion subscript declaration_command c_style_for_statement unset_command"
)
"""What reads the text of a variable again: as a name, as an expression, and so as a command in it."""


@lru_cache(maxsize=8)
def outline(language: Language | None, code: str) -> str:
    """Pure; '' where there is none, or where nothing in `code` could be another."""
    try:
        match language:
            case Language.PYTHON:
                spans = list(python.spans(code))
            case Language.JAVASCRIPT:
                spans = list(javascript.spans(_tree(JAVASCRIPT, code)))
            case Language.SHELL:
                spans = list(_shell(code))
            case _:
                return ""
    except (NoOutline, SyntaxError, ValueError, RecursionError, MemoryError, UnicodeError):
        return ""
    return _without(code.encode(), spans) if spans else ""


def _without(data: bytes, spans: list[Span]) -> str:
    parts, at = [], 0
    for begin, end in sorted(spans):
        parts += [data[at:begin], HOLE.encode()]
        at = end
    return b"".join([*parts, data[at:]]).decode()


# ---- shell ----


def _shell(code: str) -> Iterator[Span]:
    writes = moves = False
    for node in _tree(BASH, code):
        if node.type == "file_redirect" and not _reads(node):
            require(all(map(_is_data_file, node.children_by_field_name("destination"))))
            writes = writes or any(map(_is_written, node.children_by_field_name("destination")))
        if node.type == "command":
            moves = moves or _name(node) == "cd"
            require(not (WRITING.get(_name(node), NONE) & set(map(text, node.children))))
        # Where the folder is a value, no file that is written is surely the same.
        require(not (writes and moves))
        if node.type in EVALUATING or (node.type == "command" and _name(node) not in COMMANDS):
            raise NoOutline
        if node.type == "test_command" and not text(node).startswith("[ "):
            raise NoOutline
        if node.type == "expansion" and any(sign in text(node) for sign in "@!"):
            raise NoOutline
        if node.type == "word" and text(node) == "-v":
            raise NoOutline
        parent = node.parent
        if parent is None or parent.type != "command":
            continue
        # Only what stands by itself as an argument: words without quotes, assignments and redirections count.
        if node.type == "number" or (node.type in ("string", "raw_string") and is_plain(node)):
            yield node.start_byte, node.end_byte


def _reads(redirect: Node) -> bool:
    return any(child.type in ("<", "<&") for child in redirect.children)


def _is_written(target: Node) -> bool:
    return WRITTEN.fullmatch(text(target)) is not None


def _is_data_file(target: Node) -> bool:
    """Return whether nothing reads as code what is written there."""
    return _is_written(target) or target.type == "number" or text(target) in NOWHERE


def _name(command: Node) -> str:
    name = command.child_by_field_name("name")
    one = name.named_children[0] if name is not None and len(name.named_children) == 1 else None
    return text(one) if one is not None and one.type == "word" else ""


# ---- trees ----


def _tree(grammar: object, code: str) -> Iterator[Node]:
    root = Parser(grammar).parse(code.encode()).root_node  # type: ignore[arg-type]
    if root.has_error or HOLE in code or "\r" in code:
        raise NoOutline
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += node.children
