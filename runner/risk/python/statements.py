"""Statements of a Python program: assignments, branches, loops and what leaves them.

Nothing is decided on the way, but what never changes (`not_reached.py`): of `if`, `try` and `match` all branches are
gone through, one after the other, and what is assigned in them may not be. So after

    path = "/tmp/a"
    if keep:
        path = "/etc/b"

`path` has two texts, and `os.remove(path)` deletes either. A loop is gone through once, with whatever it meets; turn by
turn only where a short body adds to a text or a list, which is how names and commands are put together.
"""

from __future__ import annotations

import ast
from contextlib import nullcontext
from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.acts import NOT_REACHED
from runner.risk.model.value import UNKNOWN, Value, either, reference, text
from runner.risk.python.binding import bind
from runner.risk.python.conditions import depends_on, floods
from runner.risk.python.definitions import classes, function
from runner.risk.python.held_modules import full_name
from runner.risk.python.mocking import mocked_by
from runner.risk.python.names import BUILTINS, assign, calls_for_sure, lookup
from runner.risk.python.not_reached import taken
from runner.risk.python.operators import OPERATORS
from runner.risk.python.replaced_in_tests import patcher, stubbed
from runner.risk.python.syntax import place
from runner.risk.trace.conditions import note_condition
from runner.risk.trace.shown import note_written
from runner.risk.trace.values import each_of, merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.python.walker import Handler, Python


def expression(walker: Python, node: ast.Expr) -> Value:
    return walker.value(node.value)


def imports(walker: Python, node: ast.Import) -> None:
    for alias in node.names:
        walker.trail.add("import", alias.name, {"module": text(alias.name)}, place(node))
        if alias.asname:
            assign(walker.machine, alias.asname, reference(alias.name))
        else:
            first = alias.name.partition(".")[0]
            assign(walker.machine, first, reference(first))


def imports_from(walker: Python, node: ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "")
    walker.trail.add("import", module, {"module": text(module)}, place(node))
    for alias in node.names:
        if alias.name == "*":
            walker.machine.stars.append(module)
            continue
        name = full_name(module, alias.name)
        walker.machine.has_arguments = walker.machine.has_arguments or name == "sys.argv"
        if module in BUILTINS or (module in ("io", "codecs") and alias.name == "open"):
            name = alias.name
        assign(walker.machine, alias.asname or alias.name, reference(name))


def assignment(walker: Python, node: ast.Assign) -> None:
    value = walker.value(node.value)
    if type(node.value) is ast.Constant and type(node.targets[0]) is ast.Name:
        note_written(walker.trail, node.targets[0].id, value.text, place(node))
    for target in node.targets:
        bind(walker, target, value)


def annotated(walker: Python, node: ast.AnnAssign) -> None:
    if any(isinstance(part, ast.Call) for part in ast.walk(node.annotation)):
        walker.value(node.annotation)  # it is worked out as well
    if node.value is not None:
        bind(walker, node.target, walker.value(node.value))


def augmented(walker: Python, node: ast.AugAssign) -> None:
    left = walker.value(node.target)
    right = walker.value(node.value)
    value = walker.machine.weighed(fold.added(left, right, OPERATORS.get(type(node.op), "?")))
    if value.texts and len(value.text) > 3:
        value = Value(value.texts, labels=value.labels - fold.ASSEMBLED | left.labels | right.labels)
    bind(walker, node.target, value)


def returns(walker: Python, node: ast.Return) -> None:
    if node.value is not None:
        value = walker.value(node.value)
        if walker.machine.returned:
            walker.machine.returned[-1].append(value)


def conditional(walker: Python, node: ast.If) -> None:
    current: ast.If = node
    while True:
        test, start = walker.value(current.test), len(walker.trail.acts)
        around = walker.trail.around
        known = taken(walker, current.test)
        walker.trail.picked()
        with walker.trail.around_with(NOT_REACHED) if known is False else nullcontext():
            walker.branch(current.body)
        walker.trail.around = around
        if test.labels:
            note_condition(walker.trail, depends_on(current.test, test), start, place(current.test))
        if len(current.orelse) == 1 and isinstance(current.orelse[0], ast.If):
            current = current.orelse[0]
            continue
        if current.orelse:
            walker.trail.picked()
            with walker.trail.around_with(NOT_REACHED) if known is True else nullcontext():
                walker.branch(current.orelse)
            walker.trail.around = around
        if isinstance(node.body[-1], LEAVES):
            walker.trail.picked()
        return


LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)
"""Statements after which the rest of a turn is not done."""


def loop(walker: Python, node: ast.For | ast.AsyncFor) -> None:
    machine, over = walker.machine, walker.value(node.iter)
    turns = fold.spread(over) if _collects(node.body) else None
    before = machine.scope.names.get(node.target.id) if isinstance(node.target, ast.Name) and machine.branches else None
    with machine.turn_by_turn(len(turns or ())) as one_by_one:
        # A text that grows turn by turn: how names and commands are put together.
        for turn in (turns or ()) if one_by_one else ():
            walker.budget.spend(5)
            _bind_turn(walker, node.target, turn)
            with walker.trail.again() if _is_given(node.iter) else nullcontext():
                walker.block(node.body)
    if turns and one_by_one:
        if isinstance(node.target, ast.Name) and before is not None:
            machine.scope.names[node.target.id] = merged(before, machine.scope.names[node.target.id])
        return
    if isinstance(node.target, ast.Name):
        _perhaps(walker, node.target.id, each_of(over))
    else:
        bind(walker, node.target, each_of(over))
    again(walker, node.body)
    walker.branch(node.orelse)


def _perhaps(walker: Python, name: str, value: Value) -> None:
    """Assign what may never be assigned: a function that the name stood for may still be called by it."""
    machine = walker.machine
    before = lookup(machine, name)
    assign(machine, name, value)
    if calls_for_sure(machine, before):
        machine.scope.names[name] = either((machine.scope.names.get(name, value), before))


def _bind_turn(walker: Python, target: ast.expr, turn: Value) -> None:
    """Bind the names of one turn: each turn sets them, also in a branch."""
    machine = walker.machine
    branches, machine.branches = machine.branches, 0
    try:
        bind(walker, target, turn)
    finally:
        machine.branches = branches


def again(walker: Python, statements: Sequence[ast.stmt]) -> None:
    """Go through the body of a loop."""
    with walker.trail.again():
        walker.branch(statements)


def repeat(walker: Python, node: ast.While) -> None:
    walker.value(node.test)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    if endless:
        walker.trail.add("forever", "while", {}, place(node.test))
        if (flood := floods(node.body)) is not None:
            walker.trail.add("flood", "while", {"what": text(flood[1])}, place(flood[0]))
    walker.endless += endless
    again(walker, node.body)
    walker.endless -= endless
    walker.branch(node.orelse)


def attempt(walker: Python, node: ast.Try) -> None:
    before = len(walker.machine.raised)
    walker.branch(node.body)
    caught = walker.machine.caught(before)
    for handler in node.handlers:
        if handler.name is not None:
            _perhaps(walker, handler.name, caught)
        walker.branch(handler.body)
    walker.branch(node.orelse)
    walker.block(node.finalbody)


def using(walker: Python, node: ast.With | ast.AsyncWith) -> None:
    kept, folder, moved = walker.machine.mocked, walker.trail.folder, False
    for item in node.items:
        value = walker.value(item.context_expr)
        if value.name == "contextlib.chdir()":
            walker.trail.go((value.fields or {}).get("path", UNKNOWN))
            moved = True
        walker.machine.mocked += mocked_by(walker, item.context_expr, value) + patcher(walker, item.context_expr, value)
        if item.optional_vars is not None:
            bind(walker, item.optional_vars, value)
    with stubbed(walker, node, node.items[0], value):
        walker.block(node.body)
    walker.machine.mocked = kept
    if moved:
        walker.trail.folder = folder


def outer_names(walker: Python, node: ast.Global | ast.Nonlocal) -> None:
    scope = walker.machine.scope
    scope.outer = (scope.outer or set()) | set(node.names)


def removes(walker: Python, node: ast.Delete) -> None:
    machine = walker.machine
    for target in node.targets:
        walker.value(target)
        if isinstance(target, ast.Name) and (own := machine.scope.names.pop(target.id, None)) is not None:
            # Without the program's own, the name stands for what Python has of it.
            before = lookup(machine, target.id)
            machine.scope.names[target.id] = either((own, before)) if calls_for_sure(machine, before) else own


def raises(walker: Python, node: ast.Raise) -> None:
    if node.exc is not None:
        raised = walker.value(node.exc)
        if isinstance(node.exc, ast.Call) and node.exc.args and (raised.kind is None or raised.fields is not None):
            given = [walker.value(one) for one in node.exc.args]
            fields = {"args": Value(items=given), **(raised.fields or {})}
            made = Value(given[0].texts, labels=given[0].labels, fields=fields)
            made.kind = raised.kind
            raised = made
        walker.machine.raised.append(raised)


def asserts(walker: Python, node: ast.Assert) -> None:
    walker.value(node.test)
    if node.msg is not None:
        walker.value(node.msg)


def matches(walker: Python, node: ast.Match) -> None:
    subject = walker.value(node.subject)
    for case in node.cases:
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                _perhaps(walker, part.name, subject)
        walker.branch(case.body)


def _collects(body: Sequence[ast.stmt]) -> bool:
    """Return whether a loop's body is short and adds to a text or a list."""
    return len(body) <= 4 and any(
        isinstance(statement, ast.AugAssign)
        or (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp | ast.Call))
        or (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
            and statement.value.func.attr == "append"
        )
        for statement in body
    )


def _is_given(node: ast.expr) -> bool:
    """Return whether what a loop goes through is what a call gives, which may be more than what is known of it."""
    return isinstance(node, ast.Call) and not (
        isinstance(node.func, ast.Name) and node.func.id in ("range", "enumerate")
    )


STATEMENTS: dict[type[ast.stmt], Handler] = {
    ast.Expr: expression,
    ast.Import: imports,
    ast.ImportFrom: imports_from,
    ast.Assign: assignment,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.FunctionDef: function,
    ast.AsyncFunctionDef: function,
    ast.ClassDef: classes,
    ast.Return: returns,
    ast.If: conditional,
    ast.For: loop,
    ast.AsyncFor: loop,
    ast.While: repeat,
    ast.Try: attempt,
    ast.TryStar: attempt,
    ast.With: using,
    ast.AsyncWith: using,
    ast.Global: outer_names,
    ast.Nonlocal: outer_names,
    ast.Delete: removes,
    ast.Raise: raises,
    ast.Assert: asserts,
    ast.Match: matches,
}
