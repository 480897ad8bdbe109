"""Texts that Python puts together from a template: `"..." % (...)` and `"...".format(...)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.risk.model.value import UNKNOWN, Value, concatenate, labels_of, text

if TYPE_CHECKING:
    from collections.abc import Sequence


def percent(template: Value, arguments: Value) -> Value:
    """`"..." % (...)`."""
    values = arguments.items if arguments.items is not None else [arguments]
    parts = re.split(r"(%(?:\((\w++)\))?+[-#0 +]*+[\d.*]*+[a-zA-Z%])", template.text)
    out: list[Value] = []
    at = 0
    for i in range(0, len(parts), 3):
        out.append(text(parts[i]))
        if i + 1 < len(parts):
            if parts[i + 1].endswith("%"):
                out.append(text("%"))
            elif parts[i + 2]:
                out.append((arguments.fields or {}).get(parts[i + 2], UNKNOWN))
            else:
                out.append(values[at] if at < len(values) else UNKNOWN)
                at += 1
    return concatenate(out).labelled(template.labels | labels_of((arguments,)))


def formatted(template: Value, values: Sequence[Value], named: dict[str, Value]) -> Value:
    """`"...".format(...)`."""
    parts = re.split(r"(\{\{|\}\}|\{[^{}]*\})", template.text)
    out: list[Value] = []
    at = 0
    for part in parts:
        if part in ("{{", "}}"):
            out.append(text(part[0]))
        elif part.startswith("{") and part.endswith("}"):
            key = re.split(r"[!:.\[]", part[1:-1])[0]
            if not key:
                out.append(values[at] if at < len(values) else UNKNOWN)
                at += 1
            elif key.isdecimal() and len(key) < 10:
                out.append(values[int(key)] if int(key) < len(values) else UNKNOWN)
            else:
                out.append(named.get(key, UNKNOWN))
        else:
            out.append(text(part))
    return concatenate(out).labelled(template.labels | labels_of((*values, *named.values())))
