"""Branches that are not taken as the code stands: `DRY_RUN = True` above, and `if not DRY_RUN:` here.

Only where the name is set once in the whole program, at its beginning, to `True` or `False`, and where nothing in it
may set names by their texts.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.risk.python.walker import Python

SETS_NAMES = words(
    "globals locals vars setattr exec eval compile __dict__ __globals__ __main__ importlib sys modules gc inspect "
    "ctypes runpy f_globals delattr __import__ getattr attrgetter methodcaller patch resolve_name pkgutil pydoc "
    "unittest mock code codeop cProfile profile pdb bdb trace doctest"
)
"""Names by which a program may set a variable that nothing in it assigns."""


def taken(walker: Python, test: ast.expr) -> bool | None:
    """Return whether a condition is met as the code stands; None where that is not proved."""
    match test:
        case ast.UnaryOp(ast.Not(), ast.Name() as name):
            return None if (known := taken(walker, name)) is None else not known
        case ast.Name(id=name):
            if walker.constants is None:
                walker.constants = dict(_constants(walker))
            return walker.constants.get(name)
        case _:
            return None


def _constants(walker: Python) -> Iterator[tuple[str, bool]]:
    """Yield the names that hold the same truth value all the time."""
    counts: dict[str, int] = {}
    for one in (inner for part in walker.body for inner in ast.walk(part)):
        if SETS_NAMES & set(_named(one)) or (isinstance(one, ast.alias) and one.name == "*"):
            return
        for name in names_set(one):
            counts[name] = counts.get(name, 0) + 1
    for part in walker.body:
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool(value))) if counts[name] == 1:
                yield name, value


def _named(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            yield name
        case ast.alias(name=name):
            yield from name.split(".")
        case ast.ImportFrom(module=str(name)):
            yield from name.split(".")


def names_set(node: ast.AST) -> Iterator[str]:
    """Yield the names that a part of a program gives a value, or that are its parameters."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.keyword(arg=str(name)):
            yield name  # of this very program, perhaps
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
