"""Python code as a syntax tree, of whatever version it is."""

from __future__ import annotations

import ast
import functools
import warnings
from enum import IntEnum
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.fold import ASSEMBLED
from runner.risk.model.held import until_forgotten
from runner.risk.model.value import NO_LABELS, NONE, UNKNOWN, Value

if TYPE_CHECKING:
    from runner.risk.model.acts import Place


class Unparsed(Exception):
    """Not Python, not even of another version."""


CODING = expression(r"[ \t\f]*+#.*?coding[:=][ \t]*+([-\w.]++)")
"""A declaration of the encoding, as PEP 263 has it: in one of the first two lines."""
PLAIN_CODINGS = expression(
    r"(?i)utf-?8(?:-sig)?|(?:us-)?ascii|latin-?1|(?:iso-?)?8859-?\d+|(?:cp|windows-?)125\d|koi8-[ru]"
)
"""Encodings in which every ASCII character stands for itself and nothing else does."""


def recoded(code: str) -> str:
    """Return the encoding in which Python would read something else than is shown; '' where it reads what is shown."""
    for line in code.split("\n", 2)[:2]:
        if (found := CODING.match(line)) is not None:
            return "" if PLAIN_CODINGS.fullmatch(found[1].replace("_", "-")) else found[1]
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return ""


class Repair(IntEnum):
    """What was done to code so that it could be parsed."""

    NOTHING = 0
    REWRITTEN = 1
    """It is of another version of Python, a part of a file, or a cell of a notebook."""
    LEFT_OUT = 2
    """Lines were left out that are no statements of any version."""


def parse(code: str) -> tuple[ast.Module, Repair]:
    """Return the tree of `code`, and what had to be done to it first.

    Raises Unparsed.
    """
    if (tree := as_written(code)) is not None:
        return tree, Repair.NOTHING
    return _mended(code)


@functools.lru_cache(maxsize=2)
def _mended(code: str) -> tuple[ast.Module, Repair]:
    # Imported here: most code is of this Python.
    from runner.risk.python.python2 import modern

    try:
        made, left_out = modern(code)
        return _tree(made), Repair.LEFT_OUT if left_out else Repair.REWRITTEN
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise Unparsed(str(error)) from None


def broken_at(code: str) -> Place | None:
    """Return the line on which Python stops to understand `code`; None where it names none."""
    line, lines = _read(code), code.split("\n")
    if not isinstance(line, int) or not 0 < line <= len(lines):
        return None
    return line, 0, line, len(lines[line - 1].encode("utf-8", "surrogatepass"))


def as_written(code: str) -> ast.Module | None:
    """Return the tree of Python code, which nobody may change; None where it is none as it stands."""
    return tree if isinstance(tree := _read(code), ast.Module) else None


@functools.lru_cache(maxsize=4)
def _read(code: str) -> ast.Module | int:
    """Return the tree of Python code, or the line on which Python stops to understand it; 0 where it names none.

    The last ones are held in memory, some 300 bytes for each character, until `forget`.
    """
    try:
        return _tree(code)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, MemoryError, RecursionError):
        return 0


@functools.lru_cache(maxsize=2)
def nodes_of(code: str) -> tuple[list[ast.AST], Repair]:
    """Return the nodes of a program, each level after the one above, and what was done so that it could be parsed.

    As `ast.walk`, in half of its time, and without what says only whether a name is read or set. Raises Unparsed. The
    last ones are held in memory until `forget`.
    """
    tree, repaired = parse(code)
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                nodes += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                nodes.append(value)
    return nodes, repaired


until_forgotten(_read.cache_clear)
until_forgotten(_mended.cache_clear)
until_forgotten(nodes_of.cache_clear)


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
    return NONE if value is None else UNKNOWN


def is_written_out(node: ast.expr) -> bool:
    """Return whether this is an attribute of a list whose items are all written there: `['a', 'b'].pop`."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.List)
        and not any(isinstance(item, ast.Starred) for item in node.value.elts)
    )


def hidden_name(node: ast.expr) -> frozenset[str]:
    """Return the label of a hidden name for one that is not written as a single word."""
    return NO_LABELS if isinstance(node, ast.Constant | ast.Name) else ASSEMBLED
