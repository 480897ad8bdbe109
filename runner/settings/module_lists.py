"""Modules that Python code may import at each security level (spec R6)."""

from __future__ import annotations

LEVELS: dict[str, tuple[str, ...]] = {
    "permissive": ("pandas", "math", "statistics", "json", "numpy", "datetime"),
    "standard": ("pandas", "math", "statistics", "json"),
    "strict": ("math", "statistics", "json"),
}
"""Allow-lists by security level (spec E2)."""
