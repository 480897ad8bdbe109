"""The memory of a process that is in use now."""

from __future__ import annotations

import os
from pathlib import Path


def resident(pid: int | str = "self") -> int:
    """Return the bytes of process `pid` that are in memory. Raises OSError where it is gone."""
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
