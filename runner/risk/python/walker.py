"""Walks the `ast` of one Python program: the state that only Python has, and the function for each type of node.

A handler is a function of (walker, node) that stands in a table by the type of its node: STATEMENTS in `statements.py`,
EXPRESSIONS in `expressions.py`. Of `home = "/home/" + user` the walker gives the node `Assign` to `assignment`, which
asks `walker.value` for the right side; that is a `BinOp` and goes to `binary`, which asks for both of its sides in
turn. What a call does, and what names stand for, is the matter of `walker.machine`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from runner.risk.model.value import UNKNOWN, Function, Value, reference, text
from runner.risk.python.methods import METHODS
from runner.risk.python.names import EXCEPTIONS, lookup
from runner.risk.python.syntax import constant, parse, place
from runner.risk.trace.machine import DEEPEST, Machine, Special, TooDeep
from runner.risk.trace.values import each_of

if TYPE_CHECKING:
    from runner.risk.model.acts import Place, Trail
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.world import World


@dataclass(frozen=True, slots=True)
class PythonTables:
    """What is done with each type of node, and with functions of the language and its libraries by their names."""

    statements: Mapping[type[ast.stmt], Handler]
    expressions: Mapping[type[ast.expr], Handler]
    specials: Mapping[str, Special]


class Python:
    """One Python program. It holds the machine that follows the calls."""

    language = "python"
    constructor = "__init__"
    harming: frozenset[str] = frozenset()
    keepers = EXCEPTIONS

    def __init__(self, tables: PythonTables, vocabulary: Vocabulary, trail: Trail, nested: World) -> None:
        self.statements = tables.statements
        self.expressions = tables.expressions
        self.specials = tables.specials
        self.vocabulary = vocabulary
        self.trail = trail
        self.nested = nested
        self.budget = trail.budget
        self.lines: list[str] = []
        """The code, where it matters how it is written."""
        self.fixtures: dict[str, Function] = {}
        """Functions of the program that give pytest the values of parameters of their names."""
        self.constants: dict[str, bool] | None = None
        """Names that hold the same truth value all the time, once a condition has asked for them."""
        self.keeping: dict[str, tuple[str, ...]] = {}
        """What is replaced while a test runs that asks for one of them."""
        self.set_once: frozenset[str] | None = None
        """Names that the program defines once; None while nobody has asked."""
        self.names_used: frozenset[str] | None = None
        """Names that the program uses; None while nobody has asked."""
        self.endless = 0
        """Loops without end around what is looked at."""
        self.body: Sequence[ast.stmt] = ()
        """The statements of the whole program."""
        self.gives_back: frozenset[str] | None = None
        """Whether what a test replaces may do what it did before; None while nobody has asked."""
        self.machine = Machine(self, vocabulary, trail, nested)

    def block(self, statements: Sequence[ast.stmt]) -> Value:
        """Go through statements in their order. Return the value of the last one."""
        last = UNKNOWN
        machine = self.machine
        machine.depth += 1
        if machine.depth > DEEPEST:
            raise TooDeep
        for statement in statements:
            self.budget.spend()
            handler = self.statements.get(type(statement))
            if handler is not None:
                last = handler(self, statement) or UNKNOWN
        machine.depth -= 1
        return last

    def branch(self, statements: Sequence[ast.stmt]) -> None:
        """Go through a body that may run or not."""
        self.machine.branches += 1
        try:
            self.block(statements)
        finally:
            self.machine.branches -= 1

    def value(self, node: ast.expr) -> Value:
        """Return what is known of the expression."""
        self.budget.left -= 1
        if type(node) is ast.Constant:
            if self.nested.mentions is not None and isinstance(node.value, str):
                self.nested.mentioned(node.value, place(node))
            if self.nested.escapes and isinstance(node.value, str | bytes):
                self.nested.written_out(self._written(node), place(node))
            return constant(node.value)
        if type(node) is ast.Name:
            return lookup(self.machine, node.id)
        handler = self.expressions.get(type(node))
        if handler is None:
            return UNKNOWN
        machine = self.machine
        machine.depth += 1
        if machine.depth > DEEPEST:
            raise TooDeep
        try:
            return cast("Value", handler(self, node))
        finally:
            machine.depth -= 1

    def _written(self, node: ast.Constant) -> str:
        """Return how a literal stands in the code, as far as its line and some more."""
        if node.lineno > len(self.lines):
            return ""
        line = self.lines[node.lineno - 1].encode("utf-8", "replace")
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return line[node.col_offset : end].decode("utf-8", "replace")

    # What the machine asks of the syntax.

    def enter(self, function: Function) -> None:
        if function.simple:
            self.machine.returned[-1].append(self.value(cast("ast.expr", function.body)))
        else:
            kept = self.trail.around
            self.block(cast("Sequence[ast.stmt]", function.body))
            self.trail.around = kept

    def runs_later(self, function: Function) -> bool:
        body = [] if function.simple else cast("Sequence[ast.stmt]", function.body)
        return function.later or any(
            isinstance(one, ast.Yield | ast.YieldFrom) for part in body for one in ast.walk(part)
        )

    def inner(self, code: str) -> Value:
        tree, _ = parse(code.lstrip())
        return self.block(tree.body)

    def method(self, owner: Value, name: str, args: list[Value], place: Place) -> Value | None:
        handler = METHODS.get(name)
        return handler(self.machine, owner, args) if handler is not None else None

    def filled(self, function: Function, args: list[Value]) -> list[Value]:
        return args

    def unbound(self, parameter: str, labels: frozenset[str]) -> Value:
        """Return the value of a parameter; those that pytest fills in have temporary folders."""
        if parameter in ("tmp_path", "tmpdir"):
            made = self.trail.own.made(0, 0, text("/tmp")).labelled(labels)
            return Value(made.texts, "pathlib.Path()", made.labels)
        if parameter == "monkeypatch":
            return Value(name="pytest.MonkeyPatch()", labels=labels)
        if (fixture := self.fixtures.get(parameter)) is not None and not fixture.active:
            made = self.machine.follow(fixture, [], {})
            return each_of(made) if made.attribute == "yield" else made
        return reference(f"~{parameter}", labels)

    def answer_place(self, function: Function, at: Place) -> Place:
        """Return where a function returns last."""
        body = function.body
        for statement in reversed(body) if isinstance(body, list) else ():
            if isinstance(statement, ast.Return):
                return place(statement)
        return at


Handler = Callable[[Python, Any], Value | None]
"""What a node of one type does, and gives: nothing for most statements."""
