"""Bounds within which a person may change the limits of a run before approving it, and the change in words."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.errors import Refused
from runner.model.request import Tool
from runner.settings.declared import declared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.request import Limits, Request
    from runner.settings.loading import Settings

NAMES = {
    "seconds": ("time", "s"),
    "memory_mb": ("memory", "MB"),
    "cpu_cores": ("processor", "cores"),
    "disk_mb": ("disk", "MB"),
    "output_bytes": ("output", "bytes"),
}
"""The limits that can be changed, with their name and unit in words."""
_DECLARED = {"seconds": "timeout_seconds", "output_bytes": "max_output_bytes"}
_OF_THE_RUN = frozenset({"seconds", "output_bytes"})
"""Limits that belong to the run, not to its sandbox."""


@dataclass(frozen=True, slots=True)
class Bound:
    low: float
    high: float


def bounds(request: Request, settings: Settings) -> Mapping[str, Bound]:
    """Return the range for each limit of `request` that may be changed; others may not be."""
    known = {one.name: one for one in declared()}
    cores = max(float(os.cpu_count() or 1), settings.cpu_cores, settings.docker_cpu_cores)
    highest = {
        "seconds": settings.max_timeout_seconds,
        "memory_mb": float(settings.max_memory_mb),
        "cpu_cores": cores,
        "disk_mb": float(settings.max_disk_mb),
        "output_bytes": float(settings.max_output_limit_bytes),
    }
    found = {}
    for name in _changeable(request):
        now = float(getattr(request.limits, name))
        low = known[_DECLARED.get(name, name)].minimum or 0.0
        # The agent's own value remains allowed, also where the settings would not allow it.
        found[name] = Bound(min(low, now), max(highest[name], now))
    return found


def checked(request: Request, limits: Limits, settings: Settings) -> Limits:
    """Return `limits` where `request` may have them, with no more disk than memory where files are held in memory.

    Raises Refused, naming the limit that is out of bounds.
    """
    allowed = bounds(request, settings)
    for name in limits.__dataclass_fields__:
        now, then = getattr(request.limits, name), getattr(limits, name)
        if now == then:
            continue
        bound = allowed.get(name)
        if bound is None:
            raise Refused(f"{name} of this request cannot be changed.", "Leave it as it is.")
        # Written so that NaN fails as well.
        if not bound.low <= then <= bound.high:
            raise Refused(f"{name} is {then:g}; it must be {bound.low:g} to {bound.high:g}.", "Change it.")
    if request.isolation.files_are_memory and limits != request.limits:
        return replace(limits, disk_mb=min(limits.disk_mb, limits.memory_mb))
    return limits


def changed_limits(before: Limits, after: Limits) -> str:
    """Return what was changed, for the agent: `memory 1024 MB in place of 512 MB`; empty where nothing was."""
    parts = []
    for name, (word, unit) in NAMES.items():
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            parts.append(f"{word} {_amount(now)} {unit} in place of {_amount(was)} {unit}")
    return ", ".join(parts)


def _changeable(request: Request) -> frozenset[str]:
    """Return the names of the limits that may be changed; memory, cores and disk of a kept sandbox are fixed."""
    match request.tool:
        case Tool.CODE_EXECUTE:
            names = frozenset(NAMES) if not request.sandbox else _OF_THE_RUN
        case Tool.CODE_CREATE_SANDBOX:
            names = frozenset(NAMES) - _OF_THE_RUN
        case _:
            names = frozenset()
    return names if request.limits_cpu else names - {"cpu_cores"}


def _amount(value: float) -> str:
    return f"{value:.10g}"
