"""Comprehensions of a Python program: turn by turn where what they go through is known, else once with any of it.

Of `"".join(chr(n - 1) for n in (109, 112))` each turn gives one character, and so the text is known: `lo`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.acts import PICKED
from runner.risk.model.value import Scope, Value
from runner.risk.python.binding import bind
from runner.risk.trace.values import each_of

if TYPE_CHECKING:
    from runner.risk.python.walker import Python


def comprehension(walker: Python, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    machine = walker.machine
    outside = machine.scope, machine.branches
    machine.scope, machine.branches = Scope(machine.scope), 0  # its names are its own, and each turn sets them
    try:
        first = node.generators[0]
        whole = walker.value(first.iter)
        turns = fold.spread(whole) if len(node.generators) == 1 else None
        with machine.turn_by_turn(len(turns or ())) as one_by_one:
            if turns and one_by_one:
                return _unrolled(walker, first, node.elt, Value(items=turns, labels=whole.labels))
        for generator in node.generators:
            bind(walker, generator.target, each_of(whole if generator is first else walker.value(generator.iter)))
            for condition in generator.ifs:
                walker.value(condition)
        met = walker.value(node.elt)
        labels = met.labels | whole.labels
        if any(generator.ifs for generator in node.generators):
            labels |= {PICKED}
        return Value(items=None, name=f"{met.name}*" if met.name else "", labels=labels, texts=())
    finally:
        machine.scope, machine.branches = outside


def _unrolled(walker: Python, generator: ast.comprehension, element: ast.expr, whole: Value) -> Value:
    """`[f(x) for x in known]`, item by item: how texts are assembled from numbers."""
    assert whole.items is not None
    items: list[Value] = []
    for item in whole.items:
        chosen = _chosen(walker, generator, item)
        # What the element does is noted whether it is taken or not: a condition may have changed meanwhile.
        value = walker.value(element)
        if chosen:
            items.append(value)
    return Value(items=items if items else None, labels=whole.labels)


def _chosen(walker: Python, generator: ast.comprehension, item: Value) -> bool:
    """Take one turn of a comprehension; return whether its conditions may hold."""
    walker.budget.spend(5)
    bind(walker, generator.target, item)
    own = {node.id for node in ast.walk(generator.target) if isinstance(node, ast.Name)}
    chosen = True
    for condition in generator.ifs:
        value = walker.value(condition)
        # A name from outside may hold something else by now; then a wrong text would be taken for the right one.
        names = {node.id for node in ast.walk(condition) if isinstance(node, ast.Name)}
        chosen = chosen and not (value.name == "False" and names <= own)
    return chosen


def map_comprehension(walker: Python, node: ast.DictComp) -> Value:
    machine = walker.machine
    outside = machine.scope, machine.branches
    machine.scope, machine.branches = Scope(machine.scope), 0
    try:
        first = node.generators[0]
        whole = walker.value(first.iter)
        turns = fold.spread(whole) if len(node.generators) == 1 else None
        with machine.turn_by_turn(len(turns or ())) as one_by_one:
            if turns and one_by_one:
                met = [(_chosen(walker, first, one), walker.value(node.key), walker.value(node.value)) for one in turns]
                fields = {key.text if key.texts else "?": value for chosen, key, value in met if chosen}
                return Value(fields=fields)
        for generator in node.generators:
            bind(walker, generator.target, each_of(whole if generator is first else walker.value(generator.iter)))
        key, value = walker.value(node.key), walker.value(node.value)
        return Value(fields={key.text if key.texts else "?": value})
    finally:
        machine.scope, machine.branches = outside
