"""Branches and loops of a Python program that a reader should know of: only here, only now, without end."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.model.acts import Source
from runner.risk.model.outline_data import words
from runner.risk.trace.conditions import telling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.risk.model.value import Value

MOMENTS = words("date datetime strptime fromisoformat fromtimestamp mktime time timestamp")
"""Functions that make a moment of numbers or a text."""
STARTERS = words("Thread Process Popen fork spawn start_new_thread create_task run_in_executor submit")
GROWERS = words("append extend write writelines")
WAITS = words(
    "sleep wait join accept recv recv_into recvfrom get input read readline readinto next exit _exit select poll "
    "acquire result communicate run call check_call check_output getch raw_input step send sendall"
)
"""Functions that wait, read what ends, or leave: a loop that calls one does not run wild."""
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Assert)


def depends_on(test: ast.expr, value: Value) -> frozenset[str]:
    """Return what decides the branch, of the machine, its user, the clock and signs of being watched.

    `value` is the value of `test`. Time that has passed, such as the age of a file, is no moment.
    """
    on = telling(value.labels)
    if Source.CLOCK in on and not _compares_with_moment(test):
        on -= {Source.CLOCK}
    return on


def _compares_with_moment(test: ast.expr) -> bool:
    compared = [node for node in ast.walk(test) if isinstance(node, ast.Compare)]
    return any(_is_moment(part) for one in compared for part in (one.left, *one.comparators))


def _is_moment(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int() | float() | str()):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return bool(parts) and all(map(_is_moment, parts))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[_, *_]):
            return name in MOMENTS
        case _:
            return False


def floods(body: Sequence[ast.stmt]) -> tuple[ast.Call, str] | None:
    """Return the call that fills the machine in a loop without end and what it fills; None where it may end."""
    found: tuple[ast.Call, str] | None = None
    for node in _inside(body):
        if isinstance(node, LEAVES):
            return None
        if isinstance(node, ast.Call):
            name = _name(node)
            if name in WAITS:
                return None
            if found is None and name in STARTERS:
                found = node, "processes"
            elif found is None and name in GROWERS and node.args:
                found = node, "memory or disk"
    return found


def _inside(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, NESTED):
            waiting += ast.iter_child_nodes(node)


def _name(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
