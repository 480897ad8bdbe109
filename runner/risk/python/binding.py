"""Storing values where the targets of a Python program say: in names, attributes, elements, several at once.

Of `a, *b = [f, g, h]` the target is a `Tuple`: `a` gets `f` itself, and `b`, as nobody counts from behind, whatever
may be in the list.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.temporary import TEMPORARY
from runner.risk.model.value import NO_LABELS, Value, text
from runner.risk.python.names import assign, stored
from runner.risk.python.syntax import place
from runner.risk.trace.remote import opened_to
from runner.risk.trace.values import OF_PROGRAM, each_of, element

if TYPE_CHECKING:
    from runner.risk.python.walker import Python


OF_ROW = expression(
    r"\.(?:query|scalars)\(\)(?:\.(?:order_by|options|join)\(\))*(?P<all>(?:\.(?:all|yield_per)\(\))?\[\])?(?:.{0,80}(?:\[\]|\.(?:one|first|get|one_or_none|scalar)\(\)))?$"
)
"""The name of a row that a session of SQLAlchemy gives, or of each of all: what is set in it is written back."""


def bind(walker: Python, target: ast.expr, value: Value) -> None:
    """Store `value` where `target` says."""
    machine = walker.machine
    match target:
        case ast.Name(id=name):
            assign(machine, name, value)
        case ast.Attribute():
            owner = walker.value(target.value)
            if target.attr == "__code__":
                walker.trail.add("replaced-code", owner.name, {}, place(target))
            if owner.kind is not None and owner.fields is None:
                owner.kind.members[target.attr] = value
            if owner.fields is not None:
                old = owner.fields.get(target.attr) if machine.branches else None
                owner.fields[target.attr] = value if old is None else value.labelled(old.labels)
            stored(machine, f"{owner.name}.{target.attr}" if owner.name else "", value, target)
            _set_inside(walker, owner, target, value)
        case ast.Subscript():
            owner, key = walker.value(target.value), walker.value(target.slice)
            _store_element(walker, target, owner, key, value)
        case ast.Starred():
            bind(walker, target.value, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            starred = next((i for i, part in enumerate(parts) if isinstance(part, ast.Starred)), len(parts))
            for i, part in enumerate(parts):
                if value.items is not None and i < len(value.items) and i < starred:
                    bind(walker, part, value.items[i])
                elif value.name in OF_PROGRAM and i < starred:
                    bind(walker, part, element(value, Value(number=i)))
                else:
                    bind(walker, part, each_of(value))


def _set_inside(walker: Python, owner: Value, target: ast.Attribute, value: Value) -> None:
    """Note a setting of an object of a library: what it works on is something else from here on."""
    whose = owner.name
    if any(label.startswith(TEMPORARY) for label in owner.labels):
        whose = "tempfile.TemporaryDirectory()"
        walker.trail.own.replaced(owner)
    if owner.kind is None and (found := OF_ROW.search(whose)) is not None:
        every = found["all"] is not None and "repeated" in walker.trail.around
        fields = {"effect": text("CHANGES_ALL" if every else "CHANGES"), "at": owner}
        walker.machine.nested.done(walker.trail.add("query", f"{whose}.{target.attr}", fields, place(target)))
    if whose.endswith("()") and owner.kind is None and (opened := opened_to(target.attr, value)):
        fields = {"at": text("the cloud"), "opens": text(opened)}
        walker.trail.add("configure", f"{whose}.{target.attr}", fields, place(target))
    if whose.endswith("()") and owner.kind is None:
        walker.nested.handed(f"{whose}.{target.attr}", [value], NO_LABELS, place(target), python=True)


def _store_element(walker: Python, target: ast.Subscript, owner: Value, key: Value, value: Value) -> None:
    machine = walker.machine
    if owner.fields is None and owner.items is None and isinstance(target.value, ast.Name):
        owner = Value(owner.texts, owner.name, owner.labels, fields={})
        assign(machine, target.value.id, owner)
    if owner.fields is not None:
        for known in key.texts or ("?",):
            old = owner.fields.get(known)
            owner.fields[known] = value if old is None or known != "?" else value.labelled(old.labels)
    elif owner.items is not None and value.labels and isinstance(target.value, ast.Name):
        assign(machine, target.value.id, owner.labelled(value.labels))
    if owner.name in ("globals()", "locals()", "vars()") and key.exact:
        assign(machine, key.exact, value, machine.scope.top if owner.name == "globals()" else None)
    if owner.name == "os.environ" and key.exact:
        machine.variables[key.exact] = value
    if owner.name and key.texts:
        stored(machine, f"{owner.name}[{key.text}]", value, target)
