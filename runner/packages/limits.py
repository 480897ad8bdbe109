"""Limits of one plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """Bounds of one plan. The defaults are those of the settings."""

    file_bytes: int = 64 << 20
    plan_bytes: int = 256 << 20
    packages: int = 200
    seconds: float = 30.0
