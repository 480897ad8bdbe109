"""What TypeScript adds to JavaScript: types are passed over, enumerations and namespaces are objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.definitions import class_definition
from runner.risk.javascript.properties import key_of, member_expression
from runner.risk.javascript.syntax import code_of
from runner.risk.model.value import UNKNOWN, Scope, Value, text

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import Handler, JavaScript

TYPES = frozenset(
    (
        "accessibility_modifier",
        "ambient_declaration",
        "function_signature",
        "interface_declaration",
        "type_alias_declaration",
        "type_annotation",
        "type_arguments",
        "type_parameters",
    )
)
"""What is not there any more when the code runs."""


def typed_expression(walker: JavaScript, node: Node) -> Value:
    """`value as T`, `value!`: the value stands first."""
    parts = _parts(node)
    return walker.value(parts[0]) if parts else UNKNOWN


def type_assertion(walker: JavaScript, node: Node) -> Value:
    """`<T>value`."""
    parts = _parts(node)
    return walker.value(parts[-1]) if parts else UNKNOWN


def enum_declaration(walker: JavaScript, node: Node) -> Value:
    """Make an enumeration an object; members without a value count from the one before."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    fields: dict[str, Value] = {}
    following = 0
    for member in _parts(body) if body is not None else ():
        key, value = member.child_by_field_name("name"), member.child_by_field_name("value")
        made = walker.value(value) if value is not None else Value(number=following)
        known = key_of(walker, key if key is not None else member)
        fields[known] = made
        if isinstance(made.number, int):
            fields[str(made.number)] = text(known)
            following = made.number + 1
    if name is not None:
        walker.machine.assign(code_of(name), Value(fields=fields))
    return UNKNOWN


def namespace(walker: JavaScript, node: Node) -> Value:
    """Go through the body of a namespace, in a scope whose names are its properties."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    outside, inside = walker.machine.scope, Scope(walker.machine.scope)
    walker.machine.scope = inside
    try:
        if body is not None:
            walker.block(body.named_children)
    finally:
        walker.machine.scope = outside
    made = Value(fields=inside.names)
    first, *rest = code_of(name).split(".") if name is not None and name.type != "string" else [""]
    for part in reversed(rest):
        made = Value(fields={part: made})
    if first:
        walker.machine.assign(first, made)
    return UNKNOWN


def import_alias(walker: JavaScript, node: Node) -> Value:
    """`import name = Some.other`."""
    parts = _parts(node)
    if len(parts) == 2:
        walker.machine.assign(code_of(parts[0]), walker.value(parts[1]))
    return UNKNOWN


def _parts(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


TYPED_STATEMENTS: dict[str, Handler] = {
    "abstract_class_declaration": class_definition,
    "enum_declaration": enum_declaration,
    "import_alias": import_alias,
    "internal_module": namespace,
    "module": namespace,
}
TYPED_EXPRESSIONS: dict[str, Handler] = {
    "as_expression": typed_expression,
    "instantiation_expression": typed_expression,
    "nested_identifier": member_expression,
    "non_null_expression": typed_expression,
    "satisfies_expression": typed_expression,
    "type_assertion": type_assertion,
}
