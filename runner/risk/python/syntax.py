"""Python code as a syntax tree, of whatever version it is."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from runner.risk.model.value import UNKNOWN, Value
from runner.risk.python.python2 import modern

if TYPE_CHECKING:
    from runner.risk.model.acts import Place


class Unparsed(Exception):
    """Not Python, not even of another version."""


def parse(code: str) -> tuple[ast.Module, bool]:
    """Return the tree of `code`, and whether it had to be made readable first (Python 2, a notebook cell).

    Raises Unparsed.
    """
    try:
        return _tree(code), False
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    try:
        return _tree(modern(code)), True
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise Unparsed(str(error)) from None


def _tree(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def place(node: ast.stmt | ast.expr) -> Place:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def constant(value: object) -> Value:
    if isinstance(value, str):
        return Value((value,))
    if isinstance(value, bytes):
        return Value((value.decode("latin-1"),), binary=True)
    if isinstance(value, bool):
        return Value(number=int(value), name="True" if value else "False")
    if isinstance(value, int | float):
        return Value(number=value)
    return UNKNOWN
