"""Finds the modules that Python code imports, by parsing it."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.system.syntax_trees import syntax_tree

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Import:
    module: str
    line: int


def imported(code: str) -> tuple[Import, ...]:
    """Return the imports in `code` in the order of their lines; none for code that does not parse: it will not run.

    Sees `import`, `from`, and `__import__` and `import_module` called with a literal; what is computed is
    refused while the code runs.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = syntax_tree(code)
        found = [entry for node in ast.walk(tree) for entry in _imported(node)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(sorted(found, key=lambda entry: entry.line))


def _imported(node: ast.AST) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            yield from (Import(alias.name, node.lineno) for alias in names)
        case ast.ImportFrom(module=str(module), level=0, names=names):
            yield Import(module, node.lineno)
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if _imports(function):
            if not name.startswith("."):
                yield Import(name, node.lineno)


def _imports(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ("__import__", "import_module")
    return False
