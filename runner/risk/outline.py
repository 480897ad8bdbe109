"""The outline of a program: its text letter by letter, but for texts and numbers that can only be data.

Where a program runs text, starts programs, or reaches what could, it has no outline: there every letter counts. What
is not known to be harmless counts as such, so that a new way to run text gives no outline rather than a wrong one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tree_sitter import Parser

from runner.model.request import Language
from runner.risk import outline_python as python
from runner.risk.javascript import syntax as javascript
from runner.risk.outline_data import NoOutline, Span, is_data, words
from runner.risk.shell import syntax as shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

HOLE = "\0"
"""Stands where a literal stood. No code that is taken in has one (`runner.requests.intake`)."""

JS_MODULES = words("assert crypto events fs fs/promises os path readline url util")
JS_DENIED = words(
    "eval Function AsyncFunction GeneratorFunction constructor prototype __proto__ __defineGetter__ __defineSetter__ "
    "global globalThis window self module Reflect Proxy WebAssembly Worker createRequire binding dlopen mainModule "
    "unlink unlinkSync rm rmSync rmdir rmdirSync chmod chmodSync chown chownSync symlink symlinkSync link linkSync "
    "env kill fetch XMLHttpRequest WebSocket"
)
OF_PROCESS = words("stdout stderr stdin argv exit exitCode cwd hrtime memoryUsage")

COMMANDS = words(
    "[ basename cat cd cut date df diff dirname du echo false file grep head ls md5sum mkdir printf pwd seq sha256sum "
    "sleep stat tail test tr true uniq wc"
)


@lru_cache(maxsize=8)
def outline(language: Language | None, code: str) -> str:
    """Pure; '' where there is none, or where nothing in `code` could be another."""
    try:
        match language:
            case Language.PYTHON:
                spans = list(python.spans(code))
            case Language.JAVASCRIPT:
                spans = list(_javascript(code))
            case Language.SHELL:
                spans = list(_shell(code))
            case None:
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


# ---- JavaScript ----


def _javascript(code: str) -> Iterator[Span]:
    for node in _tree(javascript.GRAMMAR, code):
        _check_javascript(node)
        if (node.type == "number" or node.type == "string") and _is_js_data(node):
            yield node.start_byte, node.end_byte


def _is_js_data(node: Node) -> bool:
    parent = node.parent
    above = parent.type if parent is not None else ""
    if above in ("import_statement", "export_statement", "import_attribute", "expression_statement"):
        return False
    if node.type == "number":
        return True
    if parent is None or above in ("subscript_expression", "method_definition", "field_definition"):
        return False
    if above == "pair" and parent.child_by_field_name("key") == node:
        return False
    call = parent.parent if above == "arguments" else None
    return (call is None or _called(call) != "require") and _plain(node)


def _check_javascript(node: Node) -> None:
    """Raise NoOutline for what could run text."""
    ok = True
    match node.type:
        case "identifier" | "property_identifier" | "shorthand_property_identifier" | "private_property_identifier":
            ok = _text(node) not in JS_DENIED and (_text(node) != "process" or _is_harmless_process(node))
            ok = ok and (_text(node) != "require" or _requires_known(node))
        case "call_expression" | "new_expression":
            called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
            ok = called is not None and (called.type in ("identifier", "member_expression") or _is_function(called))
        case "import_statement" | "export_statement":
            source = node.child_by_field_name("source")
            ok = source is None or _module(source)
        case "with_statement" | "import" | "html_comment":
            ok = node.type == "import" and node.parent is not None and node.parent.type == "import_statement"
    if not ok:
        raise NoOutline


def _is_function(node: Node) -> bool:
    """Return whether the node is a function that is called where it is defined."""
    inner = node.named_children
    kinds = ("arrow_function", "function_expression")
    return node.type == "parenthesized_expression" and len(inner) == 1 and inner[0].type in kinds


def _is_harmless_process(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type != "member_expression" or parent.child_by_field_name("object") != node:
        return False
    name = parent.child_by_field_name("property")
    return name is not None and _text(name) in OF_PROCESS


def _requires_known(node: Node) -> bool:
    call = node.parent
    if call is None or call.type != "call_expression":
        return False
    given = call.child_by_field_name("arguments")
    return given is not None and len(given.named_children) == 1 and _module(given.named_children[0])


def _module(node: Node) -> bool:
    return node.type == "string" and _text(node)[1:-1].removeprefix("node:") in JS_MODULES


def _called(node: Node) -> str:
    function = node.child_by_field_name("function")
    return "" if function is None else _text(function)


# ---- shell ----


def _shell(code: str) -> Iterator[Span]:
    for node in _tree(shell.GRAMMAR, code):
        if node.type == "function_definition" or (node.type == "command" and _name(node) not in COMMANDS):
            raise NoOutline
        parent = node.parent
        if parent is None or parent.type != "command":
            continue
        # Only what stands by itself as an argument: words without quotes, assignments and redirections count.
        if node.type == "number" or (node.type in ("string", "raw_string") and _plain(node)):
            yield node.start_byte, node.end_byte


def _name(command: Node) -> str:
    name = command.child_by_field_name("name")
    one = name.named_children[0] if name is not None and len(name.named_children) == 1 else None
    return _text(one) if one is not None and one.type == "word" else ""


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


def _plain(node: Node) -> bool:
    """Return a quoted text with nothing in it that is read again: no expansion, no number of a character, no option."""
    inside = _text(node)[1:-1]
    if any(sign in inside for sign in "\\$`!") or inside.startswith("-"):
        return False
    return is_data(inside)


def _text(node: Node) -> str:
    return "" if node.text is None else node.text.decode()
