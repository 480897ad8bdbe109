"""TypeScript without its types: what is left stands where it stood, so that any Node.js runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.executing.executing_javascript import root_of
from runner.risk.javascript.syntax import code_of, is_typescript, parse
from runner.risk.javascript.typescript import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

GONE = (
    TYPES
    | {"implements_clause", "override_modifier", "abstract_class_signature", "asserts_annotation", "readonly"}
    | {
        "abstract_method_signature",
        "method_signature",
        "type_predicate_annotation",
    }
)
WORDS = frozenset({"abstract", "declare", "override", "readonly"})
"""Words before a member or a class."""
VALUED = frozenset({"as_expression", "satisfies_expression", "non_null_expression"})
"""The value stands first, its type behind it."""
MARKED = frozenset(
    {"optional_parameter", "required_parameter", "public_field_definition", "method_definition", "variable_declarator"}
)
"""What may have a ? or a ! behind its name."""

WHOLE = frozenset(
    {"interface_declaration", "type_alias_declaration", "ambient_declaration", "import_statement", "export_statement"}
    | {"function_signature"}
)
"""Statements that may be taken away as a whole."""
STATEMENTS = frozenset(
    {"expression_statement", "lexical_declaration", "variable_declaration", "return_statement", "throw_statement"}
)
"""What may end at a line break, without a semicolon; a declaration of a class's field is one as well."""

Edit = tuple[int, int, bytes]
"""From, to, and what stands there instead."""


def without_types(code: str) -> str:
    """Return code without types, enumerations as objects; code that is no TypeScript as it is.

    What was read is what runs: a statement that ends where a type ends, ends there without it as well. Namespaces and
    decorators stay: they are no types, and Node.js says so.
    """
    if not is_typescript(code):
        return code
    data = code.encode("utf-8", "surrogatepass")
    found = bytearray(data)
    for start, end, text in sorted(_edits(parse(code)), reverse=True):
        found[start:end] = text
    return found.decode("utf-8", "replace")


def is_javascript(plain: str) -> bool:
    """Return whether Node.js can read what is left of TypeScript."""
    root = root_of(plain)
    if root.has_error:
        return False
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "decorator":
            return False
        waiting.extend(node.named_children)
    return True


def _edits(root: Node) -> Iterator[Edit]:
    """Yield edits that do not overlap. A list, not calls: code may be nested as deep as it likes."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if (whole := _whole(node)) is not None:
            yield whole
            continue
        waiting.extend(node.children)
        yield from _parts(node)
        if node.type in VALUED and node.named_children:
            first = node.named_children[0]
            yield _blank(node, first.end_byte, node.end_byte)
            waiting = [one for one in waiting if one.start_byte < first.end_byte or one.start_byte >= node.end_byte]
        elif node.type == "type_assertion" and node.named_children:
            start, end, text = _blank(node, node.start_byte, node.named_children[-1].start_byte)
            # A line break after `return` would end it.
            yield start, end, b" " * len(text)
            waiting = [
                one for one in waiting if not (node.start_byte <= one.start_byte < node.named_children[-1].start_byte)
            ]


def _whole(node: Node) -> Edit | None:
    """Return the edit that takes a node away as a whole, or makes something else of it; None for none."""
    if node.type in GONE:
        return _blank(node, node.start_byte, node.end_byte)
    if node.type in ("import_statement", "export_statement") and any(one.type == "type" for one in node.children):
        return _blank(node, node.start_byte, node.end_byte)
    if node.type == "export_statement" and any(one.type in GONE for one in node.children):
        return _blank(node, node.start_byte, node.end_byte)
    if node.type in ("import_specifier", "export_specifier") and node.children[0].type == "type":
        return _blank_with_comma(node)
    if node.type == "required_parameter" and node.children and node.children[0].type == "this":
        return _blank_with_comma(node)
    return _enumeration(node) if node.type == "enum_declaration" else None


def _parts(node: Node) -> Iterator[Edit]:
    for child in node.children:
        word = child.type in WORDS and not child.named_children
        if word or (child.type in "?!" and node.type in MARKED):
            yield _blank(node, child.start_byte, child.end_byte)
    if node.type == "method_definition":
        yield from _properties(node)


def _properties(method: Node) -> Iterator[Edit]:
    """Yield what a constructor does with parameters that are properties: `constructor(private name: string) {}`."""
    parameters, body = method.child_by_field_name("parameters"), method.child_by_field_name("body")
    if parameters is None or body is None:
        return
    names = [
        code_of(pattern)
        for one in parameters.named_children
        if any(each.type in ("accessibility_modifier", "readonly") for each in one.children)
        and (pattern := one.child_by_field_name("pattern")) is not None
    ]
    if names:
        text = "".join(f" this.{name} = {name};" for name in names).encode()
        above = method.parent.parent if method.parent is not None else None
        derived = above is not None and any(one.type == "class_heritage" for one in above.children)
        at = body.end_byte - 1 if derived else body.start_byte + 1  # there is no `this` before `super()`
        yield at, at, text


def _enumeration(node: Node) -> Edit:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    members: list[str] = []
    following = "0"
    for member in body.named_children if body is not None else ():
        if member.type == "comment":
            continue
        key, value = member.child_by_field_name("name"), member.child_by_field_name("value")
        given = following if value is None else code_of(value)
        members.append(f"{code_of(key if key is not None else member)}: {given}")
        following = str(int(given) + 1) if given.isdecimal() and len(given) < 10 else "0"
    text = f"var {code_of(name) if name is not None else '_'} = {{ {', '.join(members)} }};"
    return node.start_byte, node.end_byte, (text + "\n" * (node.text or b"").count(b"\n")).encode()


def _blank_with_comma(node: Node) -> Edit:
    """Return an edit that takes away one of a list."""
    after = node.next_sibling
    comma = after if after is not None and after.type == "," else None
    if comma is None or node.parent is None:
        return _blank(node, node.start_byte, node.end_byte)
    return _blank(node.parent, node.start_byte, comma.end_byte)


def _blank(node: Node, start: int, end: int) -> Edit:
    """Return an edit that leaves the line breaks, and the end of a statement where one ended."""
    text = (node.text or b"")[start - node.start_byte : end - node.start_byte]
    plain = bytes(one if one in b"\r\n" else 32 for one in text)
    return start, end, plain[:-1] + b";" if plain.endswith(b" ") and _ends_statement(node, end) else plain


def _ends_statement(node: Node, end: int) -> bool:
    """Return whether a statement without a semicolon ends at the byte `end`, where a part of `node` does."""
    above: Node | None = node
    while above is not None and above.end_byte == end:
        if above.type in STATEMENTS or above.type in WHOLE or (above.parent and above.parent.type == "class_body"):
            return True
        above = above.parent
    return False
