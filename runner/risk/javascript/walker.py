"""The state of following one JavaScript program, and the dispatch of each node to the function for its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from runner.risk.model.value import NONE, UNKNOWN, Value
from runner.risk.trace.machine import DEEPEST, Machine, TooDeep

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.acts import Place, Trail
    from runner.risk.model.value import Function
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.world import World


class Walker(Machine):
    """Walk a syntax tree. A subclass brings the functions that know the types of nodes."""

    language = "javascript"
    constructor = "constructor"
    hoisted: Mapping[str, Handler] = {}
    """Declarations that hold in the whole block around them."""
    statements: Mapping[str, Handler] = {}
    expressions: Mapping[str, Handler] = {}
    leaves: Mapping[str, Handler] = {}
    """Expressions without parts: names and literals."""
    function_kinds: Mapping[str, Handler] = {}
    ignored: frozenset[str] = frozenset()

    def __init__(self, vocabulary: Vocabulary, trail: Trail, nested: World) -> None:
        super().__init__(vocabulary, trail, nested)
        self.crumbs = 0
        """Texts put together from pieces of a few letters."""
        self.this: list[Value] = []
        """The owners of the methods that are being followed, the innermost last."""
        self.declared: tuple[str, Node] | None = None
        """The name that is being declared, and the call that gives its value."""
        self.expected = ""
        """The same name while that call is made."""
        self.listeners: dict[str, list[Value]] = {}
        """Functions that wait for an event, by its name."""

    def callbacks(
        self, called: Value, args: Sequence[Value], named: Mapping[str, Value], result: Value, place: Place
    ) -> None:
        # What a call is given runs later than that: `const s = connect(() => s.write(...))`.
        name, self.expected = self.expected, ""
        if name and any(arg.function is not None for arg in args):
            self.assign(name, result)
        super().callbacks(called, args, named, result, place)

    def block(self, nodes: Sequence[Node]) -> Value:
        """Go through statements in their order. Return the value of the last one."""
        last = UNKNOWN
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        for node in nodes:
            if (declare := self.hoisted.get(node.type)) is not None:
                declare(self, node)
        for node in nodes:
            self.budget.spend()
            last = self.statement(node)
        self.depth -= 1
        return last

    def filled(self, function: Function, args: list[Value]) -> list[Value]:
        """Return the arguments of a call; what is not given and has no default is `undefined`."""
        left = function.parameters[len(args) :]
        if not left or function.rest or any(name in function.defaults for name in left):
            return args
        return [*args, *[NONE] * len(left)]

    def branch(self, node: Node | None) -> None:
        """Go through a body that may run or not."""
        if node is None:
            return
        self.branches += 1
        try:
            self.block(node.named_children if node.type in ("statement_block", "else_clause") else [node])
        finally:
            self.branches -= 1

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
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def all_of(self, node: Node) -> Value:
        """Go through the parts of an expression of another kind. Return the value of the last one."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        value = UNKNOWN
        for child in node.named_children:
            value = self.value(child)
        self.depth -= 1
        return value


Handler = Callable[[Walker, "Node"], Value]
"""What a node of one type does and gives."""
