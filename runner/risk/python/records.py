"""Objects that are made of named values: dataclasses, named tuples, models."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.model.value import Class, Value
from runner.risk.python.arguments import first

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special


def parts_of(node: ast.ClassDef, bases: Iterable[Value]) -> tuple[str, ...]:
    """Return the names of what an instance of a class is made of, where nothing else makes it: those of bases first."""
    names = [name for base in bases if base.kind is not None for name in base.kind.parts]
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.append(statement.target.id)
    return tuple(dict.fromkeys(names))


def named_tuple(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """namedtuple('Point', 'x y') and namedtuple('Point', ['x', 'y'])."""
    given = args[1] if len(args) > 1 else named.get("field_names", Value())
    listed = given.exact.replace(",", " ").split() if given.exact else [one.text for one in given.items or ()]
    made = Value()
    made.kind = Class(first(args).text, [], {}, tuple(listed))
    return made


RECORDS: dict[str, Special] = {"collections.namedtuple": named_tuple}
