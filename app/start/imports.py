"""Keeps Qt's hook out of every import.

PySide puts a function of its own in the place of `__import__` (for `from __feature__ import ...`, which Assent does not
use). It reads the source of each module that is imported, also of one that another thread has imported only half;
reading an attribute there can import more. On a busy machine that ended the import of pydantic with an error, and a
console came up that no agent could reach. Without the hook the gateway is imported in a quarter less time as well.
"""

from __future__ import annotations

import builtins


def restore_import() -> None:
    """Put back what was there before the hook; call it when PySide6 was imported. Harmless when done twice."""
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
