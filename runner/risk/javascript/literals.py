"""Texts, numbers and regular expressions as they are written in the code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript.syntax import code_of, place
from runner.risk.model.value import HOLE, NONE, UNKNOWN, Value, concatenate, text

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import Handler, JavaScript

ESCAPE = expression(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{1,3}|\r?\n|.)", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def string(walker: JavaScript, node: Node) -> Value:
    raw = code_of(node)[1:-1]
    if walker.nested.escapes:
        walker.nested.written_out(raw, place(node))
    if walker.nested.mentions is not None:
        walker.nested.mentioned(raw, place(node))
    return text(unescaped(raw))


def template_string(walker: JavaScript, node: Node) -> Value:
    parts = []
    for child in node.named_children:
        match child.type:
            case "template_substitution":
                inner = child.named_children[0] if child.named_children else None
                parts.append(converted(walker, walker.value(inner)) if inner is not None else text(""))
            case "string_fragment":
                parts.append(text(code_of(child)))
            case "escape_sequence":
                parts.append(text(unescaped(code_of(child))))
    return concatenate(parts) if parts else text("")


def converted(walker: JavaScript, value: Value) -> Value:
    """Return the text that an object becomes by a function of its own, such as `toString`; any other value as it is."""
    if not value.fields or value.texts:
        return value
    for name in ("Symbol.toPrimitive", "toString", "valueOf"):
        own = value.fields.get(name)
        if own is not None and own.function is not None:
            return walker.machine.follow(own.function, [], {}, value)
    return value


def number(walker: JavaScript, node: Node) -> Value:
    raw = code_of(node).replace("_", "").rstrip("n").lower()
    try:
        if raw[:2] in ("0x", "0o", "0b"):
            return Value(number=int(raw, 0)) if len(raw) < 40 else UNKNOWN
        return Value(number=int(raw)) if raw.isdigit() and len(raw) < 20 else Value(number=float(raw))
    except (ValueError, OverflowError):
        return UNKNOWN


def regular_expression(walker: JavaScript, node: Node) -> Value:
    return Value(name="regex", fields={"pattern": text(code_of(node))})


def unescaped(written: str) -> str:
    """Return a text with its escape sequences replaced by what they stand for."""
    return ESCAPE.sub(_unescape, written) if "\\" in written else written


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    try:
        if code[0] == "u" and len(code) > 1:
            return chr(int(code[1:].strip("{}"), 16))
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code.isdigit() and code != "0":
            return chr(int(code, 8)) if not re.search("[89]", code) else code
    except (ValueError, OverflowError):
        return HOLE
    return "" if code[0] in "\r\n" else LETTERS.get(code, code)


LITERALS: dict[str, Handler] = {
    "string": string,
    "number": number,
    "regex": regular_expression,
    "undefined": lambda walker, node: UNKNOWN,
    "null": lambda walker, node: NONE,
    "true": lambda walker, node: Value(name="True", number=1),
    "false": lambda walker, node: Value(name="False", number=0),
}
