"""Walks the syntax tree of one JavaScript program: the state that only JavaScript has, and the function for each node.

A handler is a function of (walker, node) that stands in a table by the type of its node; `program.py` puts the tables
together. Of `const home = "/home/" + user` the walker gives the node `lexical_declaration` to `variable_declaration`,
which asks `walker.value` for the right side; that is a `binary_expression`, which asks for both of its sides in turn.
What a call does, and what names stand for, is the matter of `walker.machine`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from runner.risk.javascript.methods import METHODS
from runner.risk.javascript.syntax import parse
from runner.risk.model.value import NONE, UNKNOWN, Value, reference
from runner.risk.trace.machine import DEEPEST, Machine, Special, TooDeep

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.acts import Place, Trail
    from runner.risk.model.value import Class, Function
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.world import World


@dataclass(frozen=True, slots=True)
class JavaScriptTables:
    """What is done with each type of node, and with functions of the language and its libraries by their names."""

    hoisted: Mapping[str, Handler]
    """Declarations that hold in the whole block around them."""
    statements: Mapping[str, Handler]
    expressions: Mapping[str, Handler]
    leaves: Mapping[str, Handler]
    """Expressions without parts: names and literals."""
    function_kinds: Mapping[str, Handler]
    ignored: frozenset[str]
    bind: Callable[[JavaScript, Node, Value], None]
    """Store a value where a pattern says."""
    specials: Mapping[str, Special]


class JavaScript:
    """One JavaScript or TypeScript program. It holds the machine that follows the calls."""

    language = "javascript"
    constructor = "constructor"
    harming = frozenset({"fs", "child_process", "vm", "fs.promises", "Deno", "Bun"})
    keepers = frozenset(
        f"{of}expect{asks}" for of in ("", "vitest.", "@jest/globals.", "chai.") for asks in ("", ".any")
    )

    def __init__(self, tables: JavaScriptTables, vocabulary: Vocabulary, trail: Trail, nested: World) -> None:
        self.hoisted = tables.hoisted
        self.statements = tables.statements
        self.expressions = tables.expressions
        self.leaves = tables.leaves
        self.function_kinds = tables.function_kinds
        self.ignored = tables.ignored
        self.bind = tables.bind
        self.specials = tables.specials
        self.vocabulary = vocabulary
        self.trail = trail
        self.nested = nested
        self.budget = trail.budget
        self.crumbs = 0
        """Texts put together from pieces of a few letters."""
        self.written = ""
        """The program itself."""
        self.root: Node | None = None
        """The root of its tree."""
        self.constants: dict[str, bool] | None = None
        """Names that hold the same truth value all the time, once a condition has asked for them."""
        self.this: list[Value] = []
        self.within: list[Class | None] = []
        """The classes whose methods are being followed, beside their objects in `this`."""
        """The owners of the methods that are being followed, the innermost last."""
        self.declared: tuple[str, Node] | None = None
        """The name that is being declared, and the call that gives its value."""
        self.listeners: dict[str, list[Value]] = {}
        """Functions that wait for an event, by its name."""
        self.machine = Machine(self, vocabulary, trail, nested)

    def block(self, nodes: Sequence[Node]) -> Value:
        """Go through statements in their order. Return the value of the last one."""
        last, machine = UNKNOWN, self.machine
        machine.depth += 1
        if machine.depth > DEEPEST:
            raise TooDeep
        for node in nodes:
            if (declare := self.hoisted.get(node.type)) is not None:
                declare(self, node)
        for node in nodes:
            self.budget.spend()
            last = self.statement(node)
        machine.depth -= 1
        return last

    def branch(self, node: Node | None) -> None:
        """Go through a body that may run or not."""
        if node is None:
            return
        self.machine.branches += 1
        try:
            self.block(node.named_children if node.type in ("statement_block", "else_clause") else [node])
        finally:
            self.machine.branches -= 1

    def statement(self, node: Node) -> Value:
        """Go through one statement, or one expression that stands as one. Return its value."""
        handler = self.statements.get(node.type)
        if handler is not None:
            return handler(self, node)
        if node.type in self.ignored:
            return UNKNOWN
        if node.type in self.expressions or node.type in self.leaves:
            return self.value(node)
        return self.block(node.named_children)

    def certain_body(self, node: Node | None) -> None:
        """Go through a body that certainly runs."""
        self.budget.spend(5)
        if node is not None:
            self.block(node.named_children if node.type == "statement_block" else [node])

    def value(self, node: Node) -> Value:
        """Return what is known of an expression."""
        self.budget.left -= 1
        kind = node.type
        leaf = self.leaves.get(kind)
        if leaf is not None:
            return leaf(self, node)
        handler = self.expressions.get(kind)
        if handler is None:
            if (define := self.function_kinds.get(kind)) is not None:
                return define(self, node)
            if node.named_child_count and kind not in self.ignored:
                return self.statement(node) if kind in self.statements else self.all_of(node)
            return UNKNOWN
        machine = self.machine
        machine.depth += 1
        if machine.depth > DEEPEST:
            raise TooDeep
        try:
            return handler(self, node)
        finally:
            machine.depth -= 1

    def all_of(self, node: Node) -> Value:
        """Go through the parts of an expression of another kind. Return the value of the last one."""
        value, machine = UNKNOWN, self.machine
        machine.depth += 1
        if machine.depth > DEEPEST:
            raise TooDeep
        for child in node.named_children:
            value = self.value(child)
        machine.depth -= 1
        return value

    # What the machine asks of the syntax.

    def enter(self, function: Function) -> None:
        body, patterns = cast("tuple[Node, list[tuple[str, Node]]]", function.body)
        names = self.machine.scope.names
        for name, pattern in patterns:
            self.bind(self, pattern, names.get(name, UNKNOWN))
        this = names.get("this")
        if this is not None:
            self.this.append(this)
            self.within.append(function.of)
        try:
            if body.type == "statement_block":
                self.block(body.named_children)
            else:
                self.machine.returned[-1].append(self.value(body))
        finally:
            if this is not None:
                self.this.pop()
                self.within.pop()

    def inner(self, code: str) -> Value:
        return self.block(parse(code).named_children)

    def runs_later(self, function: Function) -> bool:
        return function.later

    def method(self, owner: Value, name: str, args: list[Value], place: Place) -> Value | None:
        handler = METHODS.get(name)
        return handler(self.machine, owner, args, place) if handler is not None else None

    def filled(self, function: Function, args: list[Value]) -> list[Value]:
        """Return the arguments of a call; what is not given and has no default is `undefined`."""
        left = function.parameters[len(args) :]
        if not left or function.rest or any(name in function.defaults for name in left):
            return args
        return [*args, *[NONE] * len(left)]

    def unbound(self, parameter: str, labels: frozenset[str]) -> Value:
        return reference(f"~{parameter}", labels)

    def answer_place(self, function: Function, at: Place) -> Place:
        return at


Handler = Callable[[JavaScript, "Node"], Value]
"""What a node of one type does and gives."""
