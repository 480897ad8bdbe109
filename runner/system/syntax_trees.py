"""Makes syntax trees of Python code, in one thread at a time.

CPython 3.11 counts how deep a tree is in one place for all threads; where two make trees at once, one of them may fail
with SystemError ("AST constructor recursion depth mismatch", python/cpython issue 106905).
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()


def syntax_tree(source: str) -> ast.Module:
    """Return the tree of a module. Raises SyntaxError, ValueError, RecursionError and MemoryError as `ast.parse`."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)


def syntax_tree_of_expression(source: str) -> ast.expr:
    """Return the tree of an expression, as `syntax_tree`."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, mode="eval").body
