"""The heap of this process, as glibc keeps it."""

from __future__ import annotations

import sys

ARENA_MAX = -8
"""M_ARENA_MAX of mallopt(3)."""


def share_heap() -> bool:
    """Let all threads that are started from now on take memory from one heap; whether that works. glibc only.

    Else each of up to eight for each processor keeps what its threads have freed, and nearly all memory of Python is
    taken under the interpreter's lock, so that they would hardly ever take it at once.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(ARENA_MAX, 1) == 1)
