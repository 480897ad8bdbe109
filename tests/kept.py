"""Processes that several tests share, and that are no process left behind by one of them: a fixture ends them."""

from __future__ import annotations

PROCESSES: set[int] = set()
"""Their ids, while they live."""
