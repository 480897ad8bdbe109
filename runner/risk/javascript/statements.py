"""Statements: declarations, branches, loops and what leaves them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript.binding import bind
from runner.risk.javascript.conditions import depends_on, note_flood
from runner.risk.javascript.definitions import class_definition
from runner.risk.javascript.methods import are_commands
from runner.risk.javascript.modules import export_statement, import_statement
from runner.risk.javascript.not_reached import taken
from runner.risk.javascript.syntax import code_of, place
from runner.risk.javascript.within import with_statement
from runner.risk.model import fold
from runner.risk.model.acts import NOT_REACHED
from runner.risk.model.value import UNKNOWN, Value, alternatives
from runner.risk.trace.conditions import note_condition
from runner.risk.trace.members import members
from runner.risk.trace.values import dunder, each_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import Handler, JavaScript
    from runner.risk.model.acts import Place

COUNTED = expression(
    rb"\Afor\s*\(\s*(?:var|let)\s+(\w+)\s*=\s*(?P<start>\d{1,4})\s*[,;](?:(?>[^;]*?(?<!\s)\s*\1\s*<)|[^;]*+;\s*\1\s*<)"
    rb"(?P<equal>=?+)[^;]*+;\s*"
    rb"(?:\1\s*\+\+|\+\+\s*\1|\1\s*\+=\s*(?P<step>\d{1,3}))\s*\)"
)

CALLS = ("call_expression", "new_expression")
COLLECTS = expression(rb"\+=|\.push\(|=\s*\w+\s*\+")


ITERATORS = ("Symbol.iterator", "Symbol.asyncIterator")
"""Methods that give what a loop goes through."""


def expression_statement(walker: JavaScript, node: Node) -> Value:
    return walker.value(node.named_children[0]) if node.named_children else UNKNOWN


def variable_declaration(walker: JavaScript, node: Node) -> Value:
    for child in node.named_children:
        if child.type == "variable_declarator":
            value, name = child.child_by_field_name("value"), child.child_by_field_name("name")
            if value is not None and name is not None and name.type == "identifier" and value.type in CALLS:
                walker.declared = code_of(name), value
            if name is not None:
                bind(walker, name, walker.value(value) if value is not None else UNKNOWN)
    return UNKNOWN


def return_statement(walker: JavaScript, node: Node) -> Value:
    if node.named_children:
        value = walker.value(node.named_children[0])
        if walker.machine.returned:
            walker.machine.returned[-1].append(value)
    return UNKNOWN


def if_statement(walker: JavaScript, node: Node) -> Value:
    current: Node | None = node
    while current is not None:
        condition, start = current.child_by_field_name("condition"), len(walker.trail.acts)
        test = walker.value(condition) if condition is not None else UNKNOWN
        known = taken(walker, condition)
        with walker.trail.around_with(NOT_REACHED) if known is False else nullcontext():
            walker.branch(current.child_by_field_name("consequence"))
        if condition is not None and test.labels:
            note_condition(walker.trail, depends_on(condition, test), start, place(condition))
        alternative = current.child_by_field_name("alternative")
        current = None
        if alternative is not None:
            inner = alternative.named_children
            if len(inner) == 1 and inner[0].type == "if_statement":
                current = inner[0]
            else:
                with walker.trail.around_with(NOT_REACHED) if known is True else nullcontext():
                    walker.branch(alternative)
    return UNKNOWN


def loop(walker: JavaScript, node: Node) -> Value:
    for field in ("initializer", "condition", "increment"):
        part = node.child_by_field_name(field)
        if part is not None:
            walker.statement(part)
    condition = node.child_by_field_name("condition")
    turns = _turns(walker, node)
    with walker.machine.turn_by_turn(len(turns)) as one_by_one:
        for turn in turns if one_by_one else ():
            bind(walker, turn[0], Value(number=turn[1]))
            with walker.trail.again():
                walker.certain_body(node.child_by_field_name("body"))
    if (
        node.type == "while_statement"
        and condition is not None
        and code_of(condition) in ("(true)", "(1)", "(!![])", "(!0)")
    ):
        walker.trail.add("forever", "while", {}, place(condition))
        note_flood(walker, node.child_by_field_name("body"))
    with walker.trail.again():
        walker.branch(node.child_by_field_name("body"))
    return UNKNOWN


def _iterated(walker: JavaScript, over: Value, where: Place) -> Value:
    """Return what a loop goes through: of an object that says so itself what that gives."""
    fields = over.fields or {}
    own = next(filter(None, (fields.get(name) or dunder(over, name) for name in ITERATORS)), None)
    return over if own is None else walker.machine.call(own, [], {}, where)


def for_in_statement(walker: JavaScript, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    over = walker.value(right) if right is not None else UNKNOWN
    keys = any(child.type == "in" for child in node.children)
    body = node.child_by_field_name("body")
    grows = not keys and body is not None and COLLECTS.search(body.text or b"") is not None
    turns = fold.spread(over) if grows or (not keys and are_commands(over, body)) else None
    if left is not None and turns:
        with walker.machine.turn_by_turn(len(turns)) as one_by_one:
            for turn in turns if one_by_one else ():
                bind(walker, left, turn)
                with walker.trail.again():
                    walker.certain_body(body)
        if one_by_one:
            return UNKNOWN
    if left is not None:
        met = (
            alternatives(over.fields)
            if keys and over.fields and "?" not in over.fields
            else Value(labels=over.labels | members(walker.vocabulary, over))
            if keys
            else each_of(_iterated(walker, over, place(node)))
        )
        bind(walker, left, met)
    with walker.trail.again():
        walker.branch(node.child_by_field_name("body"))
    return UNKNOWN


def _turns(walker: JavaScript, node: Node) -> list[tuple[Node, int]]:
    """Return the values that the counter of a `for` has, where a text or list grows by it."""
    body = node.child_by_field_name("body")
    match = COUNTED.match(node.text or b"")
    if match is None or body is None or not COLLECTS.search(body.text or b"") or len(body.named_children) > 4:
        return []
    condition = node.child_by_field_name("condition")
    while condition is not None and condition.type == "expression_statement":
        condition = condition.named_children[0] if condition.named_children else None
    counter = condition.child_by_field_name("left") if condition is not None else None
    end = condition.child_by_field_name("right") if condition is not None else None
    last = walker.value(end).number if end is not None else None
    if counter is None or counter.type != "identifier" or not isinstance(last, int):
        return []
    step = int(match["step"] or 1)
    numbers = range(int(match["start"]), last + (match["equal"] == b"="), step if step > 0 else 1)
    return [(counter, number) for number in numbers] if len(numbers) <= fold.MOST_TURNS else []


def try_statement(walker: JavaScript, node: Node) -> Value:
    before = len(walker.machine.raised)
    for field in ("body", "handler", "finalizer"):
        part = node.child_by_field_name(field)
        if part is not None:
            inner = part.child_by_field_name("body") or part
            if field == "handler":
                caught = part.child_by_field_name("parameter")
                if caught is not None:
                    bind(walker, caught, walker.machine.caught(before))
                walker.branch(inner)
            else:
                walker.block(inner.named_children)
    return UNKNOWN


def switch_statement(walker: JavaScript, node: Node) -> Value:
    value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
    if value is not None:
        walker.value(value)
    for case in body.named_children if body is not None else ():
        walker.machine.branches += 1
        walker.block(case.named_children)
        walker.machine.branches -= 1
    return UNKNOWN


def throw_statement(walker: JavaScript, node: Node) -> Value:
    thrown = node.named_children[0] if node.named_children else None
    value = walker.value(thrown) if thrown is not None else UNKNOWN
    listed = thrown.child_by_field_name("arguments") if thrown is not None else None
    if listed is not None and listed.named_children and thrown is not None and thrown.type == "new_expression":
        value = Value(fields={"message": walker.value(listed.named_children[0])}, labels=value.labels)
    walker.machine.raised.append(value)
    return UNKNOWN


STATEMENTS: dict[str, Handler] = {
    "expression_statement": expression_statement,
    "lexical_declaration": variable_declaration,
    "variable_declaration": variable_declaration,
    "function_declaration": lambda walker, node: UNKNOWN,
    "generator_function_declaration": lambda walker, node: UNKNOWN,
    "class_declaration": class_definition,
    "import_statement": import_statement,
    "export_statement": export_statement,
    "return_statement": return_statement,
    "if_statement": if_statement,
    "for_statement": loop,
    "while_statement": loop,
    "do_statement": loop,
    "for_in_statement": for_in_statement,
    "try_statement": try_statement,
    "switch_statement": switch_statement,
    "throw_statement": throw_statement,
    "with_statement": with_statement,
}
