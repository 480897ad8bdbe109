"""Python's operators: what they are called here, and comparing what is known."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.risk.model.value import Value

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Pow: "**",
}
DUNDERS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "%": "__mod__",
    "|": "__or__",
    "&": "__and__",
    "^": "__xor__",
    ">>": "__rshift__",
    "<<": "__lshift__",
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, whole: one in whole if isinstance(whole, str) else False,
    ast.NotIn: lambda one, whole: one not in whole if isinstance(whole, str) else False,
}


def compared(left: Value, sign: ast.cmpop, right: Value) -> bool | None:
    """Return the result of a comparison of known texts or numbers; None where it is not known."""
    compare = COMPARISONS.get(type(sign))
    if compare is None:
        return None
    if left.number is not None and right.number is not None:
        return bool(compare(left.number, right.number))
    if left.exact is not None and right.exact is not None:
        return bool(compare(left.exact, right.exact))
    return None
