"""What a console holds over time, and whether any of it grows with the calls."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.resident import resident

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_MEMORY_MB = 16.0
"""More at the end than after the warm-up: answers that are kept for a while, and what the allocator does not return."""
MOST_DESCRIPTORS = 16.0
"""Two or three runs that are under way in every moment of the last quarter."""
MOST_THREADS = 8.0
MOST_LEDGER_KB = 16.0
"""Per call; the usual one takes 5 to 8."""
LEAST_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """What the console holds at a moment."""

    seconds: float
    calls: int
    memory: float
    """Megabytes of it that are in memory."""
    descriptors: int
    threads: int

    @staticmethod
    def of(pid: int, seconds: float, calls: int) -> Sample:
        """Return what process `pid` holds now. Raises OSError where it is gone."""
        process = Path(f"/proc/{pid}")
        return Sample(
            seconds,
            calls,
            resident(pid) / (1 << 20),
            len(list((process / "fd").iterdir())),
            len(list((process / "task").iterdir())),
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """One figure and the most that it may be."""

    name: str
    figure: float
    at_most: float
    unit: str
    note: str = ""

    @property
    def held(self) -> bool:
        return self.figure <= self.at_most

    def __str__(self) -> str:
        words = "held" if self.held else "BROKEN"
        figure = f"{self.figure:9.2f} {self.unit:3} (at most {self.at_most:g})"
        return f"{self.name:34} {figure}  {words}  {self.note}".rstrip()


def judged(samples: Sequence[Sample]) -> Iterator[Judged]:
    """Compare the last quarter with the second, when the warm-up is over.

    Of memory the median, as single runs stand out; of what runs hold while they run the least, which is what stays.
    """
    if len(samples) < LEAST_SAMPLES:
        raise ValueError(f"{len(samples)} samples are too few to judge by")
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    thousands = max(1, late[quarter // 2].calls - early[quarter // 2].calls) / 1000
    before, after = (statistics.median(one.memory for one in part) for part in (early, late))
    slope = f"{before:.1f} before, {after:.1f} after, {(after - before) / thousands:+.2f} in a thousand calls"
    yield Judged("memory, more at the end", after - before, MOST_MEMORY_MB, "MB", slope)
    for name, most in (("descriptors", MOST_DESCRIPTORS), ("threads", MOST_THREADS)):
        before, after = (min(getattr(one, name) for one in part) for part in (early, late))
        yield Judged(f"{name}, more at the end", after - before, most, "", f"{before} before, {after} after")


def ledger(path: Path, calls: int) -> Judged:
    """Judge the size of a ledger that was closed after so many calls."""
    size = path.stat().st_size / 1024
    return Judged("ledger, each call", size / max(1, calls), MOST_LEDGER_KB, "KB", f"{size / 1024:.1f} MB")
