"""Tables of pandas on their way into a sandbox and out of it: as CSV, never pickled. pandas is no dependency.

What comes out was written by the code that ran, so it is read as any text from a stranger: bounded, and with types
from a list of known ones. Not as Arrow: that is read by a large native library, in the caller's own process, from bytes
that code from anywhere chose.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

from runner.model.errors import Refused
from runner.sandbox.inside import tables
from runner.sandbox.report import TABLES_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.request import Request
    from runner.model.result import Result

KEY = "assent/frames"
"""Name in the context under which tables go in; no variable can have it. `inside/python.py` knows it, too."""
OUT = "assent/frame"
"""Name under which a table comes out."""
MOST_KEPT = 1 << 20
"""Bytes of tables that an artifact holds; of more it has the size: to search a MiB for credentials takes a second."""


@dataclass(frozen=True, slots=True)
class Framed:
    """The variables of a run: tables apart from the rest, as JSON text."""

    context: dict[str, object]
    tables: str = ""
    """Those that go in, by name; '' for none."""
    notes: tuple[str, ...] = ()
    """What of them went in as text, in words."""

    @property
    def has_tables(self) -> bool:
        return bool(self.tables)

    def variables(self, rest: str) -> str:
        """Return the variables as JSON text: `rest`, which are all others, and the tables."""
        if not self.tables:
            return rest
        # Last, so that a variable of the caller under the same name is none.
        return f'{rest.removesuffix("}")}{"" if rest == "{}" else ", "}"{KEY}": {self.tables}}}'

    def kept(self, request: Request, result: Result) -> tuple[Request, Result]:
        """Return what an artifact holds of a request, with its tables, and of its result."""
        told = self.tables if len(self.tables) <= MOST_KEPT else json.dumps(f"{len(self.tables):,} bytes of tables")
        if self.tables and _is_table(result.value) and (size := len(json.dumps(result.value))) > MOST_KEPT:
            result = replace(result, value=f"a table of {size:,} bytes")
        return replace(request, context=replace(self, tables=told).variables(request.context)), result

    def unpacked(self, result: Result) -> Result:
        """Return `result` with its table, where tables went in and one came out. Raises Refused for a broken one."""
        if not self.tables:
            return result
        value = result.value
        if self.notes:
            gap = "" if not result.stderr or result.stderr.endswith("\n") else "\n"
            result = replace(result, stderr=f"{result.stderr}{gap}Note: {'; '.join(self.notes)}.\n")
        return replace(result, value=read_frame(value[OUT])) if _is_table(value) else result


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict) and value.keys() == {OUT}


def packed(context: Mapping[str, object]) -> Framed:
    """Return the context with every DataFrame and Series in it as text. Raises Refused for more than is taken."""
    found = {name: value for name, value in context.items() if is_frame(value)}
    rest = _without_numpy({name: value for name, value in context.items() if name not in found})
    if not found:
        return Framed(rest)
    written, notes = {}, list[str]()
    for name, value in found.items():
        written[name], lost = encoded(name, value)
        notes += [f"{name}: {one}" for one in lost]
    text = json.dumps(written, allow_nan=False)
    if len(text) > TABLES_LIMIT:
        raise Refused(
            f"The tables in context have {len(text):,} bytes as text; at most {TABLES_LIMIT:,} are taken.",
            "Hand in fewer rows or columns.",
        )
    return Framed(rest, text, tuple(notes))


def _without_numpy(context: dict[str, object]) -> dict[str, object]:
    """Return the context with the numbers of numpy, alone or in arrays, as those of Python."""
    if "numpy" not in sys.modules:
        return context
    try:
        found = json.loads(json.dumps(context, default=tables.of_numpy))
    except (TypeError, ValueError, RecursionError):
        return context  # refused in words where the request is made
    return dict(found)


def is_frame(value: object) -> bool:
    """Return whether `value` is a DataFrame or Series, without importing pandas where nobody has."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def encoded(name: str, value: Any) -> tuple[dict[str, Any], list[str]]:
    """Return a table as JSON data, and what of it is text from now on. Raises Refused where it cannot be written."""
    try:
        return tables.encode(sys.modules["pandas"], value)
    except (ValueError, TypeError, OverflowError, NotImplementedError) as error:
        raise Refused(f"The table {name} cannot be written as text: {error}.", "Change its types.") from error


def read_frame(data: object) -> Any:
    """Return the DataFrame that a run handed out. Raises Refused for what is none."""
    pandas = import_module("pandas")  # no dependency: whoever hands a table in has it
    try:
        return tables.decode(pandas, data)
    except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError, NotImplementedError) as error:
        raise Refused(f"The code handed out a table that cannot be read: {error}.", "Look at its output.") from error
