"""Ages of files in conditions: `time.time() - path.stat().st_mtime > 7 * 86400` in whatever form it is written."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.risk.python.plain import PlainProgram

DEEPEST = 12
"""Levels of an expression that are followed."""
CHANGED = frozenset({"st_mtime", "st_ctime"})
OF_PATHS = frozenset({"os.path.getmtime", "os.path.getctime"})
NOW = frozenset({"time.time", "datetime.datetime.now"})
UNITS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
LONGEST_AGE = 10**10


class Linear(NamedTuple):
    """`now` times the time it is, plus `changed` times when the file was changed, plus `rest`, in seconds."""

    now: float = 0.0
    changed: float = 0.0
    rest: float = 0.0

    def times(self, factor: float) -> Linear:
        return Linear(self.now * factor, self.changed * factor, self.rest * factor)

    def plus(self, other: Linear) -> Linear:
        return Linear(self.now + other.now, self.changed + other.changed, self.rest + other.rest)


class Ages:
    """Reads expressions about the age of one file."""

    def __init__(
        self,
        program: PlainProgram,
        is_file: Callable[[ast.expr], bool],
        meant: Callable[[ast.expr], ast.expr],
    ) -> None:
        """`is_file` says whether an expression is the file, `meant` gives what a name stands for at this place."""
        self._program = program
        self._is_file = is_file
        self._meant = meant

    def older_than(self, left: ast.expr, sign: ast.cmpop, right: ast.expr) -> int:
        """Return the whole seconds that a file is surely older than where the comparison holds; 0 for none."""
        one, other = self._linear(left), self._linear(right)
        if one is None or other is None:
            return 0
        now, changed, rest = one.plus(other.times(-1))
        if isinstance(sign, ast.Lt | ast.LtE):
            now, changed, rest = -now, -changed, -rest
        elif not isinstance(sign, ast.Gt | ast.GtE):
            return 0
        if now <= 0 or changed != -now:
            return 0
        age = -rest / now
        return round(age) if 1 <= age <= LONGEST_AGE and math.isclose(age, round(age)) else 0

    def _linear(self, node: ast.expr, depth: int = 0) -> Linear | None:
        node = self._meant(node)
        self._program.steps -= 1
        if depth > DEEPEST or self._program.steps < 0:
            return None
        match node:
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int() | float() as number) if abs(number) <= LONGEST_AGE:
                return Linear(rest=float(number))
            case ast.BinOp(left=left, op=sign, right=right):
                one, other = self._linear(left, depth + 1), self._linear(right, depth + 1)
                return None if one is None or other is None else _operated(one, sign, other)
            case ast.Attribute(value=of, attr=attribute) if attribute in CHANGED and self._is_stat(of):
                return Linear(changed=1.0)
            case ast.Call(func=ast.Attribute(value=of, attr="total_seconds" | "timestamp"), args=[], keywords=[]):
                return self._linear(of, depth + 1)
            case ast.Call():
                return self._called(node, depth)
            case _:
                return None

    def _called(self, node: ast.Call, depth: int) -> Linear | None:
        name = self._program.called(node.func)
        if name == "datetime.timedelta":
            return self._duration(node, depth)
        match node:
            case ast.Call(args=[], keywords=[]) if name in NOW:
                return Linear(now=1.0)
            case ast.Call(args=[path], keywords=[]) if name in OF_PATHS and self._is_file(path):
                return Linear(changed=1.0)
            case ast.Call(args=[moment], keywords=[]) if name == "datetime.datetime.fromtimestamp":
                return self._linear(moment, depth + 1)
            case _:
                return None

    def _duration(self, node: ast.Call, depth: int) -> Linear | None:
        """`timedelta(days=7)`."""
        whole = Linear()
        for unit, value in [
            *(("days", one) for one in node.args[:1]),
            *((one.arg, one.value) for one in node.keywords),
        ]:
            amount = self._linear(value, depth + 1)
            if amount is None or unit not in UNITS or len(node.args) > 1 or amount.now or amount.changed:
                return None
            whole = whole.plus(amount.times(UNITS[unit]))
        return whole

    def _is_stat(self, node: ast.expr) -> bool:
        match self._meant(node):
            case ast.Call(func=ast.Attribute(value=path, attr="stat" | "lstat"), args=[]) if self._is_file(path):
                return True
            case ast.Call(func=function, args=[path]) if self._program.called(function) in ("os.stat", "os.lstat"):
                return self._is_file(path)
            case _:
                return False


def _operated(one: Linear, sign: ast.operator, other: Linear) -> Linear | None:
    match sign:
        case ast.Add():
            return one.plus(other)
        case ast.Sub():
            return one.plus(other.times(-1))
        case ast.Mult() if not (other.now or other.changed):
            return one.times(other.rest)
        case ast.Mult() if not (one.now or one.changed):
            return other.times(one.rest)
        case ast.Div() if not (other.now or other.changed) and other.rest:
            return one.times(1 / other.rest)
        case _:
            return None
