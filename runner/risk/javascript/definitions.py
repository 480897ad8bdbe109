"""Functions and classes that a program defines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.properties import key_of
from runner.risk.javascript.syntax import code_of
from runner.risk.model.value import UNKNOWN, Value
from runner.risk.trace.machine import Class, Function

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import Walker


def declare(walker: Walker, node: Node) -> Value:
    """Define a function under its name in the present scope."""
    name = node.child_by_field_name("name")
    if name is not None:
        known = code_of(name)
        walker.scope.names[known] = define(walker, node, known)
    return UNKNOWN


def define(walker: Walker, node: Node, name: str = "") -> Value:
    """Return a function with its parameters; patterns among them are bound when it is followed."""
    listed = node.child_by_field_name("parameters")
    single = node.child_by_field_name("parameter")
    body = node.child_by_field_name("body")
    nodes = [single] if single is not None else listed.named_children if listed is not None else []
    parameters: list[str] = []
    patterns: list[tuple[str, Node]] = []
    rest = ""
    defaults: dict[str, Value] = {}
    for i, parameter in enumerate(nodes):
        if parameter.type == "identifier":
            parameters.append(code_of(parameter))
        elif parameter.type == "rest_pattern" and parameter.named_children:
            rest = code_of(parameter.named_children[0])
        elif parameter.type == "assignment_pattern":
            left, right = parameter.child_by_field_name("left"), parameter.child_by_field_name("right")
            if left is not None and left.type == "identifier":
                parameters.append(code_of(left))
                if right is not None:
                    defaults[parameters[-1]] = walker.value(right)
            elif left is not None:
                parameters.append(f"#{i}")
                patterns.append((f"#{i}", left))
        elif parameter.type != "comment":
            parameters.append(f"#{i}")
            patterns.append((f"#{i}", parameter))
    function = Function(name, parameters, (body or node, patterns), walker.scope, defaults, rest)
    function.simple = body is not None and body.type != "statement_block"
    if body is not None:
        walker.functions.append(function)
    made = Value()
    made.function = function
    return made


def class_definition(walker: Walker, node: Node) -> Value:
    name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    bases = [walker.value(heritage.named_children[0])] if heritage is not None and heritage.named_children else []
    kind = Class(code_of(name_node) if name_node is not None else "", bases, {})
    made = Value()
    made.kind = kind
    if name_node is not None:
        walker.scope.names[kind.name] = made
    for member in body.named_children if body is not None else ():
        _class_member(walker, kind, member)
    return made


def _class_member(walker: Walker, kind: Class, member: Node) -> None:
    name = member.child_by_field_name("name") or member.child_by_field_name("property")
    if member.type == "method_definition" and name is not None:
        value = define(walker, member, code_of(name))
        if value.function is not None:
            value.function.self_name = "this"
        kind.members[key_of(walker, name)] = value
    elif member.type == "field_definition" and name is not None:
        value_node = member.child_by_field_name("value")
        kind.members[code_of(name)] = walker.value(value_node) if value_node is not None else UNKNOWN
    elif member.type == "class_static_block":
        walker.block(member.named_children)
