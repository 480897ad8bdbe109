"""Tables of pandas on their way into a sandbox and out of it: as CSV, never pickled. pandas is no dependency.

What comes out was written by the code that ran, so it is read as any text from a stranger: bounded, and with types
from a list of known ones. Not as Arrow: that is read by a large native library, in the caller's own process, from bytes
that code from anywhere chose.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from runner.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.result import Result

KEY = "assent/frames"
"""Name in the context under which tables go in; no variable can have it. `inside/python.py` knows it, too."""
OUT = "assent/frame"
"""Name under which a table comes out."""
TYPES = frozenset({"int64", "float64", "bool", "object", "str", "string", "datetime64[ns]", "datetime64[us]"})
"""Types of columns that survive the way; others become what the text looks like."""


class _Tables(dict[str, object]):
    """Tables as text; a value of the caller under the same name is none."""


@dataclass(frozen=True, slots=True)
class Framed:
    """The context of a run with its tables as text."""

    context: dict[str, object] = field(default_factory=dict)

    @property
    def has_tables(self) -> bool:
        return isinstance(self.context.get(KEY), _Tables)

    def unpacked(self, result: Result) -> Result:
        """Return `result` with its table, where tables went in and one came out. Raises Refused for a broken one."""
        value = result.value
        if not self.has_tables or not isinstance(value, dict) or value.keys() != {OUT}:
            return result
        return replace(result, value=read_frame(value[OUT]))


def packed(context: Mapping[str, object]) -> Framed:
    """Return the context with every DataFrame in it as text."""
    tables = {name: table(value) for name, value in context.items() if is_frame(value)}
    if not tables:
        return Framed(dict(context))
    return Framed({name: value for name, value in context.items() if name not in tables} | {KEY: _Tables(tables)})


def is_frame(value: object) -> bool:
    """Return whether `value` is a DataFrame, without importing pandas where nobody has."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def table(frame: Any) -> dict[str, object]:
    """Return a DataFrame as text with the types of its columns. Raises Refused for names that are no texts."""
    if not all(isinstance(name, str) for name in frame.columns) or len({*frame.columns}) != len(frame.columns):
        raise Refused("The columns of a DataFrame must have different names that are texts.", "Rename them.")
    types = {name: str(kind) for name, kind in frame.dtypes.items()}
    return {"csv": frame.to_csv(index=False), "types": types}


def read_frame(data: object) -> Any:
    """Return the DataFrame that a run handed out. Raises Refused for what is none."""
    pandas = import_module("pandas")  # no dependency: whoever hands a table in has it
    text, types = (data.get("csv"), data.get("types")) if isinstance(data, dict) else (None, None)
    if not isinstance(text, str) or not isinstance(types, dict):
        raise Refused("The code handed out a table that is none.", "Assign a DataFrame to `result`.")
    known = {str(name): str(kind) for name, kind in types.items() if kind in TYPES}
    dates = [name for name, kind in known.items() if kind.startswith("datetime64")]
    plain = {name: kind for name, kind in known.items() if name not in dates}
    try:
        # An empty field is a missing number, and an empty text stays one.
        frame = pandas.read_csv(io.StringIO(text), dtype=plain, keep_default_na=False, na_values=[""])
        for name in dates:
            frame[name] = pandas.to_datetime(frame[name])
        for name, kind in plain.items():
            if kind in ("object", "str", "string"):
                frame[name] = frame[name].fillna("")
    except (ValueError, KeyError, TypeError, OverflowError, pandas.errors.ParserError) as error:
        raise Refused(f"The code handed out a table that cannot be read: {error}.", "Look at its output.") from error
    return frame
