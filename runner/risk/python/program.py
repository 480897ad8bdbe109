"""Follows a Python program: first its statements, then the functions that none of them calls."""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.bounds import excerpt
from runner.risk.python.builtin import SPECIALS
from runner.risk.python.expressions import EXPRESSIONS
from runner.risk.python.statements import STATEMENTS
from runner.risk.python.statements_run import examples
from runner.risk.python.syntax import Unparsed
from runner.risk.python.walker import Python, PythonTables

if TYPE_CHECKING:
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
    if walker.trail.depth == 0:
        walker.trail.tested = _tested(walker, tree)
    walker.machine.leftovers()
    return value


def _tested(walker: Python, tree: ast.Module) -> tuple[str, ...]:
    """Return what the tests of a program try that it runs: its own functions and classes that are none of them."""
    tests = [one for one in walker.machine.functions if one.name.startswith("test")]
    runs = not RUNNERS.isdisjoint(walker.trail.called) or any(one.called and one.of is None for one in tests)
    given = {parameter for one in tests for parameter in one.parameters}
    own = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    named = (one.name for one in own if not isinstance(one, ast.ClassDef) or not any(map(_is_case, one.bases)))
    if not tests or not runs:
        return ()
    return tuple(name for name in named if not OF_TESTS.match(name) and name not in given)


def _is_case(base: ast.expr) -> bool:
    return getattr(base, "attr", getattr(base, "id", "")).endswith("TestCase")


RUNNERS = frozenset(("unittest.main", "pytest.main", "unittest.TextTestRunner().run"))
OF_TESTS = expression(
    r"(?i)_|tests?(?![a-z])|test_|main$|set_?up|tear_?down|fake|mock|stub|dummy|.{0,60}Tests?$|Test[A-Z]"
)


def _doctest(walker: Python, tree: ast.Module) -> None:
    """Follow the examples in docstrings, which `doctest` runs."""
    if code := examples(tree.body):
        with walker.trail.inside((1, 0, 1, 0), excerpt(code, 200), "python"), contextlib.suppress(Unparsed):
            walker.inner(code)
