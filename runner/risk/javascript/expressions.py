"""Expressions: names, operators, assignments, arrays and objects."""

from __future__ import annotations

import operator as op
from typing import TYPE_CHECKING, Any

from runner.risk.javascript.binding import bind
from runner.risk.javascript.calls import call_expression, new_expression
from runner.risk.javascript.definitions import class_definition, define, member_key
from runner.risk.javascript.literals import LITERALS, converted, template_string
from runner.risk.javascript.properties import GLOBALS, key_of, member_expression, subscript_expression
from runner.risk.javascript.syntax import code_of
from runner.risk.model import fold
from runner.risk.model.acts import Source
from runner.risk.model.value import UNKNOWN, Value, chosen, reference, yields
from runner.risk.trace.conditions import difference, telling
from runner.risk.trace.everything import choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from runner.risk.javascript.walker import Handler, JavaScript


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": op.eq,
    "===": op.eq,
    "!=": op.ne,
    "!==": op.ne,
    "<": op.lt,
    ">": op.gt,
    "<=": op.le,
    ">=": op.ge,
}


def identifier(walker: JavaScript, node: Node) -> Value:
    name = code_of(node)
    found = walker.machine.scope.get(name)
    if found is not None:
        return found
    return reference("globalThis" if name in GLOBALS else name)


def this_expression(walker: JavaScript, node: Node) -> Value:
    found = walker.machine.scope.get("this")
    if found is None:
        found = walker.this[-1] if walker.this else reference("this" if walker.machine.returned else "globalThis")
    return found


NOTHING = frozenset(("null", "undefined", "false"))
"""What stands in one branch of `a ? b : null`, where only the other one is used."""


def binary_expression(walker: JavaScript, node: Node) -> Value:
    # Chains such as "a" + "b" + ... lean to the left; their length is no nesting.
    chain = [node]
    while (left := chain[-1].child_by_field_name("left")) is not None and left.type == "binary_expression":
        chain.append(left)
    left = chain[-1].child_by_field_name("left")
    value = walker.value(left) if left is not None else UNKNOWN
    for step in reversed(chain):
        right, operator = step.child_by_field_name("right"), step.child_by_field_name("operator")
        other = walker.value(right) if right is not None else UNKNOWN
        value = _operate(walker, value, other, operator.type if operator is not None else "?")
    return value


def _operate(walker: JavaScript, left: Value, right: Value, operator: str) -> Value:
    walker.budget.left -= 1
    if operator == "&&" and right is not UNKNOWN:
        return right  # the left one is the result only where it is nothing
    if operator in ("||", "??", "&&"):
        return chosen((left, right))
    if operator == "+" and left.texts and right.texts and len(right.text) < 4 and len(left.text) < 60:
        walker.crumbs += 1
    both = left.labels | right.labels
    if operator in COMPARISONS and "undefined" not in (left.name, right.name):
        choice(walker.trail, (left, right), (1, 0, 1, 0))
    labels = telling(both) | (both & {Source.MOMENT})
    if operator in ("in", "instanceof"):
        return UNKNOWN.labelled(labels)
    if operator in COMPARISONS:
        return _compared(left, right, operator).labelled(labels)
    if operator == "+":
        left, right = converted(walker, left), converted(walker, right)
    made = walker.machine.weighed(fold.added(left, right, operator))
    return difference(left, right, made) if operator == "-" and made.labels else made


def _compared(left: Value, right: Value, operator: str) -> Value:
    """Return the result of comparing two texts or two numbers, where they are known."""
    compare = COMPARISONS[operator]
    if left.number is not None and right.number is not None:
        known = compare(left.number, right.number)
    elif left.exact is not None and right.exact is not None:
        known = compare(left.exact, right.exact)
    else:
        return UNKNOWN
    return Value(name=str(known), number=int(known))


def assignment_expression(walker: JavaScript, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return UNKNOWN
    value = walker.value(right)
    bind(walker, left, value)
    return value


def augmented_assignment(walker: JavaScript, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None:
        return UNKNOWN
    kind = code_of(operator)[:-1] if operator is not None else "+"
    value = _operate(walker, walker.value(left), walker.value(right), kind)
    bind(walker, left, value)
    return value


def array(walker: JavaScript, node: Node) -> Value:
    items: list[Value] = []
    for child in node.named_children:
        if child.type == "spread_element" and child.named_children:
            items += fold.spread(walker.value(child.named_children[0])) or [UNKNOWN]
        elif child.type != "comment":
            items.append(walker.value(child))
    return Value(items=items)


def object_literal(walker: JavaScript, node: Node) -> Value:
    made = Value(fields={})
    fields = made.fields
    assert fields is not None
    for child in node.named_children:
        match child.type:
            case "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None:
                    fields[key_of(walker, key)] = walker.value(value)
            case "shorthand_property_identifier":
                fields[code_of(child)] = identifier(walker, child)
            case "method_definition":
                name = child.child_by_field_name("name")
                value_of = define(walker, child)
                if value_of.function is not None:
                    value_of.function.self_name = "this"
                    value_of.owner = made
                fields[member_key(walker, child, name) if name is not None else "?"] = value_of
            case "spread_element" if child.named_children:
                spread = walker.value(child.named_children[0])
                fields.update(spread.fields or {"?": Value(labels=spread.labels, name=spread.name)})
                made.name = made.name or (spread.name if spread.fields is None else "")
    return made


def ternary_expression(walker: JavaScript, node: Node) -> Value:
    parts = [node.child_by_field_name(field) for field in ("condition", "consequence", "alternative")]
    values = [(walker.value(part), part.type) for part in parts if part is not None][1:]
    return chosen([value for value, kind in values if kind not in NOTHING] or [value for value, _ in values])


def sequence_expression(walker: JavaScript, node: Node) -> Value:
    # `a, b, c` is nested to the left or right by grammar; its length is no nesting.
    value = UNKNOWN
    for child in _flat(node):
        value = walker.value(child)
    return value


def yield_expression(walker: JavaScript, node: Node) -> Value:
    value = last_operand(walker, node)
    if walker.machine.returned:
        yields(walker.machine.returned[-1], value)
    return UNKNOWN


def last_operand(walker: JavaScript, node: Node) -> Value:
    return walker.value(node.named_children[-1]) if node.named_children else UNKNOWN


def unary_expression(walker: JavaScript, node: Node) -> Value:
    value = walker.all_of(node)
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "-" and value.number is not None:
        return Value(number=-value.number)
    if operator is not None and operator.type in ("typeof", "!", "delete", "void"):
        return UNKNOWN
    return Value(labels=value.labels, number=value.number)


def _flat(node: Node) -> list[Node]:
    """Return the expressions of `a, b, c`, however it is nested."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == "sequence_expression":
            waiting += reversed(one.named_children)
        else:
            found.append(one)
    return found


LEAVES: dict[str, Handler] = {
    **LITERALS,
    "identifier": identifier,
    "this": this_expression,
    "meta_property": lambda walker, node: reference(code_of(node)),
}
EXPRESSIONS: dict[str, Handler] = {
    "member_expression": member_expression,
    "subscript_expression": subscript_expression,
    "call_expression": call_expression,
    "new_expression": new_expression,
    "binary_expression": binary_expression,
    "assignment_expression": assignment_expression,
    "augmented_assignment_expression": augmented_assignment,
    "template_string": template_string,
    "array": array,
    "object": object_literal,
    "ternary_expression": ternary_expression,
    "sequence_expression": sequence_expression,
    "parenthesized_expression": last_operand,
    "await_expression": last_operand,
    "yield_expression": yield_expression,
    "spread_element": last_operand,
    "unary_expression": unary_expression,
    "class": class_definition,
}
