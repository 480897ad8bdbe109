"""The moment before a layer was made: what changed in the project later was changed by somebody else.

Compared with the time of change (`ctime`) of what the project has, which no program can set. It is written down, as the
time of a file of ours would be another one as soon as somebody repairs the permissions of the home folder, or brings it
back from a backup. The clock may be set back meanwhile: then it runs through the time before that moment once more.
"""

from __future__ import annotations

import time
from pathlib import Path

NAME = "begun"
BOOT = Path("/proc/sys/kernel/random/boot_id")
NO_STEP = 1_000_000_000
"""Nanoseconds between two looks at both clocks in which nobody has set one of them."""


def note(folder: Path) -> None:
    """Write down this moment, and wait until what is saved gets a later time. Raises OSError."""
    file = folder / NAME
    file.touch(mode=0o600)
    at = file.stat().st_ctime_ns
    file.write_text(f"{at} {_ahead()} {_boot()}\n", "ascii")
    # The kernel's clock stands for some milliseconds.
    while file.stat().st_ctime_ns <= at:
        time.sleep(0.001)
        file.touch()


def since(folder: Path) -> int:
    """Return the moment in nanoseconds since the epoch, earlier by as much as the clock was set back. Raises OSError.

    0 where the clock shows an earlier time, after a new start of the machine: nobody knows then what changed later.
    """
    file = folder / NAME
    words = file.read_text("ascii").split()
    if not words:  # of an earlier version
        return file.stat().st_ctime_ns
    at, ahead, boot = int(words[0]), int(words[1]), words[2]
    if boot != _boot():
        return at if at <= time.time_ns() else 0
    back = ahead - _ahead()
    return at - back if back > NO_STEP else at


def _ahead() -> int:
    """Return by how many nanoseconds the clock is ahead of the one that nobody sets."""
    return time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def _boot() -> str:
    return BOOT.read_text("ascii").strip()
