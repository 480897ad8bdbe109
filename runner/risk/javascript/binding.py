"""Storing values: in names, in properties, and in several at once by a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.properties import by_key, key_of, owner_and_key, reach
from runner.risk.javascript.syntax import code_of, place
from runner.risk.model.value import UNKNOWN, Value, either, text
from runner.risk.trace.search_path import note_programs
from runner.risk.trace.values import OF_PROGRAM, each_of, element

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript

TYPED = (
    "as_expression",
    "non_null_expression",
    "satisfies_expression",
    "required_parameter",
    "optional_parameter",
)

"""Targets in TypeScript that hold the real one."""


def bind(walker: JavaScript, target: Node, value: Value) -> None:
    """Store `value` where a name, a property or a pattern says."""
    match target.type:
        case "identifier" | "shorthand_property_identifier_pattern":
            _store_name(walker, code_of(target), value)
        case "member_expression":
            _store_member(walker, target, value)
        case "subscript_expression":
            _store_element(walker, target, value)
        case "object_pattern":
            _bind_properties(walker, target, value)
        case "array_pattern":
            _bind_items(walker, target, value)
        case "assignment_pattern" | "object_assignment_pattern":
            _bind_with_default(walker, target, value)
        case "rest_pattern" | "parenthesized_expression":
            for child in target.named_children:
                bind(walker, child, value)
        case kind if kind in TYPED:
            _bind_typed(walker, target, value)


def _bind_typed(walker: JavaScript, target: Node, value: Value) -> None:
    """Store in `target as T` or `target!`; for a parameter that is a property as well, in that property."""
    pattern = target.child_by_field_name("pattern")
    if pattern is None:
        for child in target.named_children[:1]:
            bind(walker, child, value)
        return
    own = walker.machine.scope.names.get("this")
    if own is not None and own.fields is not None:
        own.fields[code_of(pattern)] = value


def _bind_items(walker: JavaScript, target: Node, value: Value) -> None:
    for i, child in _places(target):
        if child.type == "rest_pattern":
            bind(walker, child, Value(items=value.items[i:]) if value.items is not None else each_of(value))
            continue
        known = value.items is not None or value.name in OF_PROGRAM
        item = element(value, Value(number=i)) if known else each_of(value)
        bind(walker, child, item)


def _places(pattern: Node) -> Iterator[tuple[int, Node]]:
    """Yield the targets of an array pattern with their places; `[, a]` leaves one out."""
    at = 0
    for child in pattern.children:
        if child.type == ",":
            at += 1
        elif child.is_named and child.type != "comment":
            yield at, child


def _bind_with_default(walker: JavaScript, target: Node, value: Value) -> None:
    left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
    default = walker.value(right) if right is not None else UNKNOWN  # it may be worked out, whatever comes of it
    if left is not None:
        bind(walker, left, either((value, default)) if right is not None and value.unknown else value)


def _store_name(walker: JavaScript, name: str, value: Value) -> None:
    walker.machine.assign(name, value, walker.machine.scope.holder(name))


def _bind_properties(walker: JavaScript, target: Node, value: Value) -> None:
    for child in target.named_children:
        _bind_property(walker, child, value)


def _bind_property(walker: JavaScript, child: Node, value: Value) -> None:
    if child.type == "pair_pattern":
        key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
        if key is not None and inner is not None and key.type == "computed_property_name" and key.named_children:
            name = walker.value(key.named_children[0])
            bind(walker, inner, reach(walker, value, name.text) if name.texts else by_key(walker, value, name))
        elif key is not None and inner is not None:
            bind(walker, inner, reach(walker, value, key_of(walker, key)))
    elif child.type == "rest_pattern":
        bind(walker, child, value)
    else:
        left = child.child_by_field_name("left") if child.type == "object_assignment_pattern" else child
        if left is not None:
            bind(walker, child, reach(walker, value, code_of(left)))


def _store_member(walker: JavaScript, target: Node, value: Value) -> None:
    owner_node, name_node = target.child_by_field_name("object"), target.child_by_field_name("property")
    if owner_node is None or name_node is None:
        return
    owner, name = walker.value(owner_node), code_of(name_node)
    if owner.name == "process.env":
        _store_variable(walker, target, name, value)
        return
    _put(walker, owner_node, owner, name, value)
    if owner.name:
        full = f"{owner.name}.{name}"
        walker.trail.add("store", full, {"value": value, "target": text(full)}, place(target))
    if value.function is not None and name.startswith("on"):
        walker.machine.follow(value.function, [Value(labels=owner.labels)], {})


def _store_variable(walker: JavaScript, target: Node, name: str, value: Value) -> None:
    walker.machine.variables[name] = value
    full = f"process.env.{name}"
    walker.trail.add("store", full, {"value": value, "target": text(full)}, place(target))
    if name == "PATH":
        note_programs(walker.trail, value, place(target))


def _put(walker: JavaScript, owner_node: Node, owner: Value, name: str, value: Value) -> None:
    """Store `value` as the property `name`; what is only known by its name becomes an object by that."""
    if owner.fields is None and owner_node.type == "identifier":
        held = Value(owner.texts, owner.name, owner.labels, owner.items, {})
        held.function, held.kind = owner.function, owner.kind
        walker.machine.scope.holder(code_of(owner_node)).names[code_of(owner_node)] = held
        owner = held
    if owner.fields is not None:
        if (setter := owner.fields.get(f"set {name}")) is not None and setter.function is not None:
            walker.machine.follow(setter.function, [value], {}, owner)
        old = owner.fields.get(name) if walker.machine.branches else None
        owner.fields[name] = value if old is None else value.labelled(old.labels)


def _store_element(walker: JavaScript, target: Node, value: Value) -> None:
    owner, key = owner_and_key(walker, target)
    node = target.child_by_field_name("object")
    if node is None:
        return
    if owner.items is not None and isinstance(key.number, int) and 0 <= key.number < len(owner.items):
        owner.items[key.number] = value
    elif key.texts and owner.name == "process.env" and owner.fields is None:
        _store_variable(walker, target, key.text, value)
    elif key.texts:
        _put(walker, node, owner, key.text, value)
    elif owner.fields is not None:
        owner.fields["?"] = either((owner.fields.get("?", UNKNOWN), value))
    elif value.labels and node.type == "identifier":
        _store_name(walker, code_of(node), owner.labelled(value.labels))
