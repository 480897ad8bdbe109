"""Where a Python program can be changed: its texts, and the functions that it calls by name."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from tests.risk.disguises.step import MOST_PLACES, Maker, Step, named, worth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Builder = Callable[[str, Maker], str]
    """From the code of an expression, or a text, to the code of one with the same value."""


def text_step(build: Builder) -> Step:
    """Return a step that writes each text of a program as `build` does."""

    def change(code: str, maker: Maker) -> str:
        tree = ast.parse(code)
        changer = _Texts(build, maker)
        changer.visit(tree)
        return _with_lines(tree, maker) if changer.done else code

    return Step(named(build), change)


COMPOUND = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.While, ast.Try)
"""Statements before which nothing is put."""


class _Texts(ast.NodeTransformer):
    def __init__(self, build: Builder, maker: Maker) -> None:
        self.build, self.maker, self.done = build, maker, 0

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str) or not worth(node.value) or self.done >= MOST_PLACES:
            return node
        self.done += 1
        return ast.parse(self.build(node.value, self.maker), mode="eval").body

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def _with_lines(tree: ast.Module, maker: Maker) -> str:
    body = tree.body
    tree.body = [*ast.parse("\n".join(maker.lines)).body, *body]
    return ast.unparse(ast.fix_missing_locations(tree))


def call_step(build: Builder) -> Step:
    """Return a step that writes each function that a program calls by name as `build` does."""

    def change(code: str, maker: Maker) -> str:
        tree = ast.parse(code)
        known = set(_imported(tree)) | set(dir(builtins))
        done = _in_block(tree.body, build, maker, known, 0)
        return ast.unparse(ast.fix_missing_locations(tree)) if done else code

    return Step(named(build), change)


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]


def _in_block(
    body: list[ast.stmt], build: Builder, maker: Maker, known: set[str], done: int, in_class: bool = False
) -> int:
    """Change the calls of a block and of the blocks in it; return how many were changed so far."""
    made: list[ast.stmt] = []
    for statement in body:
        inner = [(name, value) for name, value in ast.iter_fields(statement) if _is_block(value)]
        for _, value in inner:
            done = _in_block(value, build, maker, known, done, isinstance(statement, ast.ClassDef))
        # What is put before a statement in the body of a class could not be seen from functions in its expressions.
        if not in_class and not isinstance(statement, COMPOUND):
            calls = [one for one in _own(statement) if isinstance(one, ast.Call) and _root(one.func) in known]
            for call in calls[: max(0, MOST_PLACES - done)]:
                if _root(call.func) in ("super", "globals", "locals"):
                    continue
                maker.lines = []
                call.func = ast.parse(build(ast.unparse(call.func), maker), mode="eval").body
                made += ast.parse("\n".join(maker.lines)).body
                done += 1
        made.append(statement)
    body[:] = made
    return done


def _is_block(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], ast.stmt)


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement without the statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def _root(node: ast.expr) -> str:
    """Return the name that `a.b.c` begins with; '' for an expression that is no such name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_flat(code: str) -> bool:
    """Return whether a program has no scopes of its own, so that it may stand in the body of a class."""
    scopes = (
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.Lambda,
        ast.ListComp,
        ast.GeneratorExp,
        ast.DictComp,
        ast.SetComp,
        ast.ClassDef,
    )
    return not any(isinstance(node, scopes) for node in ast.walk(ast.parse(code)))


def normalized(code: str) -> str:
    """Return a program with every text on one line, so that it can be indented."""
    return ast.unparse(ast.parse(code))


def indented(code: str) -> str:
    """Return a program as the body of a statement."""
    return "\n".join(f"    {line}" for line in normalized(code).split("\n"))


def owner_and_name(function: str) -> tuple[str, str]:
    """Return `a.b` and `'c'` for `a.b.c`; for a function of the language, its module and its name."""
    owner, _, name = function.rpartition(".")
    return owner or "__import__('builtins')", repr(name)
