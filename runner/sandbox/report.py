"""What the starter inside hands out: the value of `result`, its own peak, what it refused. Untrusted text."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

LIMIT = 8 << 20
"""Bytes of a report; a larger `result` is not handed out."""


@dataclass(frozen=True, slots=True)
class Report:
    value: object = None
    note: str = ""
    fault: str = ""
    """`memory` or `disk` when an uncaught error says so."""
    peak: int = 0
    """Bytes."""
    blocked: tuple[str, ...] = ()


TOO_LARGE = Report(note=f"result is larger than {LIMIT >> 20} MB and was not handed out.")


def open_channel() -> int:
    """Return a descriptor for one report: memory that no path leads to, so output cannot be taken for it."""
    return os.memfd_create("report")


def read(channel: int) -> Report:
    """Return the report in `channel`. Whatever the code may have written there instead: an empty one."""
    data = os.pread(channel, LIMIT + 1, 0)
    return TOO_LARGE if len(data) > LIMIT else parse(data)


def parse(data: bytes) -> Report:
    """Return the report in `data`; an empty one for whatever else it may be."""
    try:
        fields = json.loads(data or b"{}")
        value = fields.get("value")
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, AttributeError, RecursionError):
        return Report()
    blocked = fields.get("blocked")
    return Report(
        value=value,
        note=_text(fields.get("note")),
        fault=_text(fields.get("fault")),
        peak=fields["peak"] if isinstance(fields.get("peak"), int) else 0,
        blocked=tuple(_text(name) for name in blocked) if isinstance(blocked, list) else (),
    )


def _text(value: object) -> str:
    return value[:500].encode("utf-8", "replace").decode() if isinstance(value, str) else ""
