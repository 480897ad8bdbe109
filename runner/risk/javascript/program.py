"""Follows a JavaScript program by its syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from runner.model.expression import expression
from runner.risk.javascript.binding import bind
from runner.risk.javascript.builtin import SPECIALS
from runner.risk.javascript.definitions import declare, define
from runner.risk.javascript.expressions import EXPRESSIONS, LEAVES
from runner.risk.javascript.methods import METHODS
from runner.risk.javascript.statements import STATEMENTS
from runner.risk.javascript.syntax import code_of, parse, place
from runner.risk.javascript.typescript import TYPED_EXPRESSIONS, TYPED_STATEMENTS, TYPES
from runner.risk.javascript.walker import Walker
from runner.risk.model.broken import first_broken
from runner.risk.model.value import UNKNOWN, Value

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.acts import Place
    from runner.risk.model.value import Function

MOST_CRUMBS = 40
"""Texts put together from pieces of a few letters, from which on it is a finding."""
MANGLED = expression(r"\b_0x[0-9a-f]{4,}\b")
# Programs of brackets and marks alone, as `[][(![]+[])[+[]]...`.
SYMBOLS = expression(r"[\[\]()!+]{150,}|=~\[\];")
FUNCTIONS = frozenset(
    (
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
        "function",
    )
)
IGNORED = frozenset(
    (
        "comment",
        "empty_statement",
        "debugger_statement",
        "statement_identifier",
        "hash_bang_line",
        "property_identifier",
        "break_statement",
        "continue_statement",
    )
)


class JavaScript(Walker):
    """Follow one JavaScript or TypeScript program; what it does is on the trail afterwards."""

    specials = SPECIALS
    hoisted = dict.fromkeys(("function_declaration", "generator_function_declaration"), declare)
    statements = STATEMENTS | TYPED_STATEMENTS
    expressions = EXPRESSIONS | TYPED_EXPRESSIONS
    leaves = LEAVES
    function_kinds = dict.fromkeys(FUNCTIONS, define)
    ignored = IGNORED | TYPES
    keepers = frozenset(
        f"{of}expect{asks}" for of in ("", "vitest.", "@jest/globals.", "chai.") for asks in ("", ".any")
    )
    harming = frozenset({"fs", "child_process", "vm", "fs.promises", "Deno", "Bun"})
    broken = False
    """Whether parts of the code could not be parsed."""
    broken_at: Place | None = None
    cut_off = False
    """Whether there is no statement that could be."""

    def run(self, code: str) -> Value:
        """Go through a program, then through the functions that it does not call. Return its last value."""
        root = parse(code)
        self.broken = root.has_error
        self.broken_at = first_broken(root) if root.has_error else None
        self.cut_off = root.has_error and all(one.has_error or one.is_extra for one in root.named_children)
        _note_obfuscated_names(self, root, code)
        value = self.block(root.named_children)
        self.leftovers()
        if self.crumbs >= MOST_CRUMBS:
            self.trail.add("crumbs", "", {}, place(root))
        return value

    def inner(self, code: str) -> Value:
        return self.block(parse(code).named_children)

    def enter(self, function: Function) -> None:
        body, patterns = cast("tuple[Node, list[tuple[str, Node]]]", function.body)
        for name, pattern in patterns:
            bind(self, pattern, self.scope.names.get(name, UNKNOWN))
        this = self.scope.names.get("this")
        if this is not None:
            self.this.append(this)
        try:
            if body.type == "statement_block":
                self.block(body.named_children)
            else:
                self.returned[-1].append(self.value(body))
        finally:
            if this is not None:
                self.this.pop()

    def method(self, owner: Value, name: str, args: list[Value], where: Place) -> Value | None:
        handler = METHODS.get(name)
        return handler(self, owner, args, where) if handler is not None else None


def _note_obfuscated_names(walker: Walker, root: Node, code: str) -> None:
    """Note names as only obfuscators make them (`_0x3fa2`), in the code itself and not in its texts."""
    if (symbols := SYMBOLS.search(code)) is not None:
        line = code.count("\n", 0, symbols.start()) + 1
        walker.trail.add("mangled", "", {}, (line, 0, line, 1))
    if len(set(MANGLED.findall(code))) < 3:
        return
    found: dict[str, Node] = {}
    waiting = [root]
    while waiting and len(found) < 3:
        node = waiting.pop()
        walker.budget.left -= 1
        if node.type == "identifier" and MANGLED.fullmatch(code_of(node)):
            found.setdefault(code_of(node), node)
        waiting += node.named_children
    if len(found) >= 3:
        first = next(iter(found.values()))
        walker.trail.add("mangled", code_of(first), {}, place(first))
