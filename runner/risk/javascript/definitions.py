"""Functions and classes that a program defines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript.properties import key_of
from runner.risk.javascript.syntax import code_of
from runner.risk.model.value import UNKNOWN, Class, Function, Value

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript

SENT = expression(r"@(?:Body|Cookies|Headers|MessageBody|Param|Payload|Query|RawBody)\b")
"""Marks a parameter of a controller that holds what a visitor sends."""
TYPED_PARAMETERS = ("required_parameter", "optional_parameter")
PROPERTY_MODIFIERS = ("accessibility_modifier", "override_modifier", "readonly")
"""What makes a parameter of a constructor a property as well."""


def declare(walker: JavaScript, node: Node) -> Value:
    """Define a function under its name in the present scope."""
    name = node.child_by_field_name("name")
    if name is not None:
        known = code_of(name)
        walker.machine.scope.names[known] = define(walker, node, known)
    return UNKNOWN


def define(walker: JavaScript, node: Node, name: str = "") -> Value:
    """Return a function with its parameters; patterns among them are bound when it is followed."""
    listed = node.child_by_field_name("parameters")
    single = node.child_by_field_name("parameter")
    body = node.child_by_field_name("body")
    nodes = [single] if single is not None else listed.named_children if listed is not None else []
    patterns: list[tuple[str, Node]] = []
    function = Function(name or _name_of(node), [], (body or node, patterns), walker.machine.scope)
    for parameter in nodes:
        if parameter.type not in ("comment", "decorator"):
            _add_parameter(walker, function, patterns, parameter)
    function.getter = accessor(node) == "get"
    function.simple = body is not None and body.type != "statement_block"
    if body is not None:
        walker.machine.functions.append(function)
    made = Value()
    made.function = function
    return made


def _name_of(node: Node) -> str:
    """Return what a function is called that is no declaration: after itself, or after what holds it."""
    named = node.child_by_field_name("name")
    parent = node.parent
    if named is None and parent is not None:
        held = parent.child_by_field_name({"pair": "key", "assignment_expression": "left"}.get(parent.type, "name"))
        named = held.child_by_field_name("property") or held if held is not None else None
    return code_of(named) if named is not None else ""


def accessor(node: Node) -> str:
    """Return `get` or `set` for a method that reading or storing a property calls; '' for any other function."""
    if node.type != "method_definition":
        return ""
    return next((child.type for child in node.children if child.type in ("get", "set")), "")


def member_key(walker: JavaScript, method: Node, name: Node) -> str:
    """Return under which key a method is held: what stores a property stands beside what reads it."""
    known = key_of(walker, name)
    return f"set {known}" if accessor(method) == "set" else known


def _add_parameter(walker: JavaScript, function: Function, patterns: list[tuple[str, Node]], node: Node) -> None:
    """Note the name of one parameter with its default, or the pattern that it is."""
    target, default = node, None
    if node.type == "assignment_pattern":
        target, default = node.child_by_field_name("left") or node, node.child_by_field_name("right")
    elif node.type in TYPED_PARAMETERS:
        target, default = node.child_by_field_name("pattern") or node, node.child_by_field_name("value")
    if target.type == "this":
        # TypeScript's way to give `this` a type; nothing is handed in for it.
        return
    if target.type == "rest_pattern" and target.named_children:
        function.rest = code_of(target.named_children[0])
    elif target.type == "identifier":
        function.parameters.append(code_of(target))
        if default is not None:
            function.defaults[function.parameters[-1]] = walker.value(default)
    else:
        function.parameters.append(f"#{len(function.parameters)}")
        patterns.append((function.parameters[-1], target))
    if any(child.type == "decorator" and SENT.match(code_of(child)) for child in node.children):
        function.defaults.setdefault(function.parameters[-1], Value(labels=frozenset({"input"})))
    if any(child.type in PROPERTY_MODIFIERS for child in node.children):
        patterns.append((function.parameters[-1], node))


def class_definition(walker: JavaScript, node: Node) -> Value:
    name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    bases = _bases(walker, heritage) if heritage is not None else []
    kind = Class(code_of(name_node) if name_node is not None else "", bases, {})
    made = Value()
    made.kind = kind
    if name_node is not None:
        walker.machine.scope.names[kind.name] = made
    for member in body.named_children if body is not None else ():
        _class_member(walker, kind, member)
    return made


def _bases(walker: JavaScript, heritage: Node) -> list[Value]:
    """Return the class that is extended; interfaces are no classes."""
    clauses = [child for child in heritage.named_children if child.type != "implements_clause"]
    base = clauses[0] if clauses else None
    if base is not None and base.type == "extends_clause":
        base = base.child_by_field_name("value")
    return [walker.value(base)] if base is not None else []


def _class_member(walker: JavaScript, kind: Class, member: Node) -> None:
    name = member.child_by_field_name("name") or member.child_by_field_name("property")
    if member.type == "method_definition" and name is not None:
        value = define(walker, member, code_of(name))
        if value.function is not None:
            value.function.self_name = "this"
            value.function.of = kind
        kind.members[member_key(walker, member, name)] = value
    elif member.type in ("field_definition", "public_field_definition") and name is not None:
        value_node = member.child_by_field_name("value")
        kind.members[code_of(name)] = walker.value(value_node) if value_node is not None else UNKNOWN
    elif member.type == "decorator":
        walker.all_of(member)
    elif member.type == "class_static_block":
        walker.block(member.named_children)
