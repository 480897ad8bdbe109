"""The report of the starter inside: the value of `result`, its own peak, what it refused. Untrusted text."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.codec import DEEPEST

if TYPE_CHECKING:
    from runner.sandbox.contract import Job

LIMIT = 1 << 20
"""Bytes of a report; a larger `result` is not handed out."""
TABLES_LIMIT = 32 << 20
"""Those of one of a run that tables were handed to, and of these tables: only the Python API does that."""
MOST_VALUES = 20_000
"""Values within a `result`, those within lists and mappings included: each is shown and answered on its own line."""
MOST_BLOCKED = 100
LONGEST_TEXT = 500
"""Characters of a note or a name."""
LARGEST_PEAK = 1 << 50
"""Bytes; no machine has as much memory."""


@dataclass(frozen=True, slots=True)
class Report:
    value: object = None
    note: str = ""
    fault: str = ""
    """`memory` or `disk` when an uncaught error says so."""
    peak: int = 0
    """Bytes."""
    blocked: tuple[str, ...] = ()


TOO_DEEP = f"result is nested more than {DEEPEST} deep and was not handed out."
TOO_MANY = f"result has more than {MOST_VALUES:,} values and was not handed out."
TOO_LARGE = "result is larger than {} MB and was not handed out."
"""Its whole megabytes are filled in."""
UNREADABLE = "What the code handed out as result cannot be read."


def limit(job: Job) -> int:
    """Return how many bytes the report of a run may have."""
    return TABLES_LIMIT if job.tables else LIMIT


def open_channel(most: int = LIMIT) -> int:
    """Return a descriptor for one report: memory that no path leads to, so output cannot be taken for it.

    Its size is fixed: memory that code puts there would count for no limit of the run.
    """
    channel = os.memfd_create("report", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(channel, most + 1)
        fcntl.fcntl(channel, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    except BaseException:
        os.close(channel)
        raise
    return channel


def read(channel: int, most: int = LIMIT) -> Report:
    """Return the report in `channel`. Whatever the code may have written there instead: one without a value."""
    # Up to where nothing was ever written: most reports are short, and looking through a megabyte takes a millisecond.
    size = min(most + 1, os.lseek(channel, 0, os.SEEK_HOLE))
    return parse(os.pread(channel, size, 0).rstrip(b"\0"), most)


def parse(data: bytes, most: int = LIMIT) -> Report:
    """Return the report in `data`, every part of it within bounds; one without a value for whatever else it may be."""
    if len(data) > most:
        return Report(note=TOO_LARGE.format(most >> 20))
    try:
        fields = json.loads(data or b"{}")
    except RecursionError:
        return Report(note=TOO_DEEP)
    except ValueError:
        return Report(note=UNREADABLE)
    if not isinstance(fields, dict):
        return Report(note=UNREADABLE)
    blocked = fields.get("blocked")
    found = Report(
        note=_text(fields.get("note")),
        fault=_text(fields.get("fault")),
        peak=_peak(fields.get("peak")),
        blocked=tuple(_text(name) for name in blocked[:MOST_BLOCKED]) if isinstance(blocked, list) else (),
    )
    value = fields.get("value")
    note = _refusal(value)
    return replace(found, note=note) if note else replace(found, value=value)


def _refusal(value: object) -> str:
    """Return why `value` is not handed out; '' where it is."""
    count, level = 0, [value]
    for _ in range(DEEPEST):
        count += len(level)
        if count > MOST_VALUES:
            return TOO_MANY
        level = [item for one in level for item in _within(one)]
        if not level:
            return _unwritable(value)
    return TOO_DEEP


def _within(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _unwritable(value: object) -> str:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError:  # half a surrogate, infinity
        return UNREADABLE
    return ""


def _peak(value: object) -> int:
    return value if type(value) is int and 0 <= value < LARGEST_PEAK else 0


def _text(value: object) -> str:
    return value[:LONGEST_TEXT].encode("utf-8", "replace").decode() if isinstance(value, str) else ""
