"""Follows a Python program: first its statements, then the functions that none of them calls."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from runner.risk.model.bounds import excerpt
from runner.risk.python.builtin import SPECIALS
from runner.risk.python.expressions import EXPRESSIONS
from runner.risk.python.statements import STATEMENTS
from runner.risk.python.statements_run import examples
from runner.risk.python.syntax import Unparsed
from runner.risk.python.walker import Python, PythonTables

if TYPE_CHECKING:
    import ast

    from runner.risk.model.acts import Trail
    from runner.risk.model.value import Value
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.world import World

TABLES = PythonTables(STATEMENTS, EXPRESSIONS, SPECIALS)


def walker_of(vocabulary: Vocabulary, trail: Trail, nested: World) -> Python:
    """Return what goes through one Python program by `run`; what that does is on the trail afterwards."""
    return Python(TABLES, vocabulary, trail, nested)


def run(walker: Python, tree: ast.Module) -> Value:
    """Go through a module and then through the functions it does not call. The value of its last expression."""
    walker.body = tree.body
    value = walker.block(tree.body)
    if any(act.kind == "import" and act.name == "doctest" for act in walker.trail.acts):
        _doctest(walker, tree)
    walker.machine.leftovers()
    return value


def _doctest(walker: Python, tree: ast.Module) -> None:
    """Follow the examples in docstrings, which `doctest` runs."""
    if code := examples(tree.body):
        with walker.trail.inside((1, 0, 1, 0), excerpt(code, 200), "python"), contextlib.suppress(Unparsed):
            walker.inner(code)
