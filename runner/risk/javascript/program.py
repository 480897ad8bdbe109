"""Follows a JavaScript program: first its statements, then the functions that none of them calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript.binding import bind
from runner.risk.javascript.builtin import SPECIALS
from runner.risk.javascript.definitions import declare, define
from runner.risk.javascript.expressions import EXPRESSIONS, LEAVES
from runner.risk.javascript.statements import STATEMENTS
from runner.risk.javascript.syntax import code_of, place
from runner.risk.javascript.typescript import TYPED_EXPRESSIONS, TYPED_STATEMENTS, TYPES
from runner.risk.javascript.walker import JavaScript, JavaScriptTables

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.acts import Trail
    from runner.risk.model.value import Value
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.world import World

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


TABLES = JavaScriptTables(
    hoisted=dict.fromkeys(("function_declaration", "generator_function_declaration"), declare),
    statements=STATEMENTS | TYPED_STATEMENTS,
    expressions=EXPRESSIONS | TYPED_EXPRESSIONS,
    leaves=LEAVES,
    function_kinds=dict.fromkeys(FUNCTIONS, define),
    ignored=IGNORED | TYPES,
    bind=bind,
    specials=SPECIALS,
)


def walker_of(vocabulary: Vocabulary, trail: Trail, nested: World) -> JavaScript:
    """Return what goes through one program by `run`; what that does is on the trail afterwards."""
    return JavaScript(TABLES, vocabulary, trail, nested)


def run(walker: JavaScript, root: Node, code: str) -> Value:
    """Go through a program, then through the functions that it does not call. Return its last value.

    `root` is that of the tree of `code`.
    """
    walker.written, walker.root = code, root
    _note_obfuscated_names(walker, root, code)
    value = walker.block(root.named_children)
    walker.machine.leftovers()
    if walker.crumbs >= MOST_CRUMBS:
        walker.trail.add("crumbs", "", {}, place(root))
    return value


def is_cut_off(root: Node) -> bool:
    """Return whether there is no statement that could be parsed."""
    return root.has_error and all(one.has_error or one.is_extra for one in root.named_children)


def _note_obfuscated_names(walker: JavaScript, root: Node, code: str) -> None:
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
