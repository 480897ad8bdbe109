"""Expressions of a Python program: what each gives, by the type of its node.

Of `"rm -rf " + os.environ["HOME"]` the node is a `BinOp`. `binary` asks for its sides: the text `rm -rf `, and, by
`subscript`, what `os.environ.get` gives for `HOME`, which is the path `~`. `fold.added` makes `rm -rf ~` of both.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model import fold
from runner.risk.model.acts import PICKED, THING, Source
from runner.risk.model.bounds import excerpt
from runner.risk.model.value import (
    UNKNOWN,
    Value,
    chosen,
    concatenate,
    either,
    labels_of,
    reference,
    text,
    yields,
)
from runner.risk.python.calls import calls
from runner.risk.python.comprehensions import comprehension, map_comprehension
from runner.risk.python.definitions import anonymous
from runner.risk.python.files import below
from runner.risk.python.formatting import percent
from runner.risk.python.names import BUILTINS, assign, lookup, reach
from runner.risk.python.operators import DUNDERS, OPERATORS, compared
from runner.risk.python.syntax import hidden_name, place
from runner.risk.trace.conditions import difference
from runner.risk.trace.everything import choice
from runner.risk.trace.shown import hint_of
from runner.risk.trace.values import dunder, each_of, element

if TYPE_CHECKING:
    from runner.risk.python.walker import Handler, Python

LARGE, GIANT = 10_000_000, 20_000_000_000
"""Repetitions of a text or list that fill the memory: in a loop without end, and at once."""

OF_MONGO = expression(r"(?:pymongo|motor)\.(?:\w+\.){0,3}\w*Client\(\)(?:\[\]|\.\w+(?:\(\))?)")
"""The name of a database of MongoDB, of which each element is a collection."""
LONGEST_NAME = 60
HOLD_NAMES = ("__globals__", "__builtins__", ".f_builtins", ".f_globals")
"""How the names of mappings end that hold the functions of Python and of a program."""


def member(walker: Python, node: ast.Attribute) -> Value:
    owner = walker.value(node.value)
    return reach(walker.machine, owner, node.attr)


def subscript(walker: Python, node: ast.Subscript) -> Value:
    owner = walker.value(node.value)
    if isinstance(node.slice, ast.Slice):
        ends = [
            walker.value(end) if end is not None else UNKNOWN
            for end in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        part = fold.sliced(owner, *ends)
        if owner.items and part.items == [] and ends[1].unknown:
            # A list that a loop fills has one part for all that the loop adds, so behind its first may be more.
            last = [one.labelled((PICKED, "narrowed")) if "found" in one.labels else one for one in owner.items[-1:]]
            part = Value(items=last, labels=part.labels)
        if "found" in part.labels:
            part = part.labelled((PICKED,))
        return hint_of(part) if part.labels and fold.is_hint(*ends[:2]) else part
    key = walker.value(node.slice)
    if key.exact and OF_MONGO.fullmatch(owner.name) is not None:
        return element(owner, key).labelled((f"{THING}collection={excerpt(key.exact, LONGEST_NAME)}",))
    if key.texts and (owner.name in BUILTINS or owner.name.endswith(HOLD_NAMES)):
        return either([reference(known, owner.labels | fold.ASSEMBLED) for known in key.texts])
    if key.texts and owner.name in ("sys.modules", "globals()", "locals()", "vars()"):
        found = either([lookup(walker.machine, known) for known in key.texts])
        return found.labelled(owner.labels | hidden_name(node.slice))
    if owner.name == "os.environ" and key.texts:
        return walker.machine.call(walker.machine.attribute(owner, "get"), [key], {}, place(node))
    if (
        key.texts
        and owner.name
        and owner.fields is None
        and all(label.startswith("$") for label in owner.labels)
        and any(walker.vocabulary.knows(f"{owner.name.replace('()', '')}.{known}") for known in key.texts)
    ):
        return either([reference(f"{owner.name}.{known}", fold.ASSEMBLED) for known in key.texts])
    if (own := dunder(owner, "__getitem__")) is not None:
        return walker.machine.call(own, [key], {}, place(node))
    return element(owner, key)


def binary(walker: Python, node: ast.BinOp) -> Value:
    # Chains such as "a" + "b" + ... lean to the left; their length is no nesting.
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = walker.value(chain[-1].left)
    for step in reversed(chain):
        other = walker.value(step.right)
        if isinstance(step.op, ast.Mult):
            swells(walker, value, other, node)
        value = _operate(walker, value, other, step.op)
    return value


def swells(walker: Python, left: Value, right: Value, node: ast.expr) -> None:
    """Note a text or list that fills the memory: a giant one, or a large one again and again."""
    times, what = (left, right) if left.number is not None else (right, left)
    if (what.texts or what.items) and (times.number or 0) >= (LARGE if walker.endless else GIANT):
        walker.trail.add("swell", "*", {}, place(node))


def _operate(walker: Python, left: Value, right: Value, sign: ast.operator) -> Value:
    walker.budget.left -= 1
    kind = OPERATORS.get(type(sign), "?")
    if (method := DUNDERS.get(kind)) and (own := dunder(left, method)) is not None:
        return walker.machine.call(own, [right], {}, (1, 0, 1, 0))
    if kind == "%" and left.texts:
        return percent(left, right)
    if kind == "/" and (left.name.startswith("pathlib") or right.name.startswith("pathlib")):
        whole = concatenate((below(left), right), "/")
        return Value(whole.texts, left.name or right.name, whole.labels)
    made = walker.machine.weighed(fold.added(left, right, kind))
    return difference(left, right, made) if kind == "-" and made.labels else made


def template(walker: Python, node: ast.JoinedStr) -> Value:
    return concatenate(walker.value(part) for part in node.values) if node.values else text("")


def hole(walker: Python, node: ast.FormattedValue) -> Value:
    return walker.value(node.value)


def sequence(walker: Python, node: ast.List | ast.Tuple | ast.Set) -> Value:
    items: list[Value] = []
    for part in node.elts:
        value = walker.value(part.value if isinstance(part, ast.Starred) else part)
        items += value.items or [] if isinstance(part, ast.Starred) else [value]
    return Value(items=items)


def mapping(walker: Python, node: ast.Dict) -> Value:
    fields: dict[str, Value] = {}
    for key, part in zip(node.keys, node.values, strict=True):
        value = walker.value(part)
        if key is None:
            fields.update(value.fields or {"?": value})
            continue
        known = walker.value(key)
        name = known.text if known.texts else str(known.number) if known.number is not None else "?"
        fields[name] = value if name != "?" or name not in fields else either((fields[name], value))
    return Value(fields=fields)


def conditional_value(walker: Python, node: ast.IfExp) -> Value:
    walker.value(node.test)
    return chosen((_perhaps_reached(walker, node.body), _perhaps_reached(walker, node.orelse)))


def either_of(walker: Python, node: ast.BoolOp) -> Value:
    return chosen([walker.value(node.values[0]), *(_perhaps_reached(walker, one) for one in node.values[1:])])


def _perhaps_reached(walker: Python, node: ast.expr) -> Value:
    """Return what is known of an expression that may never be evaluated."""
    walker.machine.branches += 1
    try:
        return walker.value(node)
    finally:
        walker.machine.branches -= 1


def named(walker: Python, node: ast.NamedExpr) -> Value:
    value = walker.value(node.value)
    assign(walker.machine, node.target.id, value)
    return value


def passed(walker: Python, node: ast.Await | ast.Starred) -> Value:
    return walker.value(node.value)


def yielded(walker: Python, node: ast.Yield | ast.YieldFrom) -> Value:
    value = walker.value(node.value) if node.value is not None else UNKNOWN
    value = each_of(value) if isinstance(node, ast.YieldFrom) else value
    if walker.machine.returned:
        yields(walker.machine.returned[-1], value)
    return UNKNOWN


def unary(walker: Python, node: ast.UnaryOp) -> Value:
    value = walker.value(node.operand)
    if isinstance(node.op, ast.USub) and value.number is not None:
        return Value(number=-value.number)
    return Value(labels=value.labels)


def comparison(walker: Python, node: ast.Compare) -> Value:
    values = [walker.value(node.left), *map(walker.value, node.comparators)]
    labels = labels_of(values)
    choice(walker.trail, values, place(node))
    for value in values:
        if value.texts and len(value.text) < 60 and labels:
            walker.trail.add("compare", "", {"text": value, "with": Value(labels=labels)}, place(node))
    known = compared(values[0], node.ops[0], values[1]) if len(node.ops) == 1 else None
    if known is not None:
        return Value(number=int(known), name=str(known))
    return Value(labels=labels - {Source.DOWNLOADED, Source.SECRET})


EXPRESSIONS: dict[type[ast.expr], Handler] = {
    ast.Attribute: member,
    ast.Subscript: subscript,
    ast.Call: calls,
    ast.BinOp: binary,
    ast.JoinedStr: template,
    ast.FormattedValue: hole,
    ast.List: sequence,
    ast.Tuple: sequence,
    ast.Set: sequence,
    ast.Dict: mapping,
    ast.Lambda: anonymous,
    ast.IfExp: conditional_value,
    ast.BoolOp: either_of,
    ast.NamedExpr: named,
    ast.Await: passed,
    ast.YieldFrom: yielded,
    ast.Starred: passed,
    ast.Yield: yielded,
    ast.UnaryOp: unary,
    ast.Compare: comparison,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.GeneratorExp: comprehension,
    ast.DictComp: map_comprehension,
}
