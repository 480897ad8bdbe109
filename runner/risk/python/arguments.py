"""Arguments of a call in Python, as its own functions get them."""

from __future__ import annotations

from runner.risk.model.value import UNKNOWN, Value

Args = list[Value]
Named = dict[str, Value]


def first(args: Args) -> Value:
    return args[0] if args else UNKNOWN
