"""Holds the figures of the classifier together: `python -m tests.risk.drift` fails where the last row has lost much.

Each row of `drift.csv` stands for one commit, named by the one before it. `python -m tests.bench.disguises --record`
appends one.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import astuple, dataclass, fields
from pathlib import Path

TABLE = Path(__file__).parent / "drift.csv"
NOT_MEASURED = 0.0
"""An empty cell, in rows of before a figure was measured. Any figure is better, so that it holds nothing up."""
MOST_LOST = 0.3
"""Points in a hundred that a change may lose of any figure, against the best row before."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Percentages measured with one commit."""

    after: str
    """The commit before it."""
    depth_2: float
    """Danger kept CRITICAL by two steps of disguise, one after the other."""
    depth_4: float
    sources: float
    """Dangerous records of the core found with rules that find something in another source as well."""
    spared_2: float = NOT_MEASURED
    """Harmless programs that two steps of disguise do not raise to CRITICAL."""
    spared_4: float = NOT_MEASURED


NAMES = [field.name for field in fields(Figures)]
MEASURED = NAMES[1:]


def read(table: Path) -> list[Figures]:
    """Return the rows. Raises ValueError, naming the line, for a table that cannot be read."""
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    if not rows or rows[0] != NAMES:
        raise ValueError(f"line 1: the columns are not {', '.join(NAMES)}")
    found = []
    for number, row in enumerate(rows[1:], 2):
        try:
            after, *measured = row
            found.append(Figures(after, *(float(one) if one else NOT_MEASURED for one in measured)))
            if len(row) != len(NAMES):
                raise ValueError(f"{len(row)} cells")
        except (ValueError, TypeError) as error:
            raise ValueError(f"line {number}: {error}") from None
        if not all(0 <= getattr(found[-1], name) <= 100 for name in MEASURED):
            raise ValueError(f"line {number}: a figure is no percentage")
    if not found:
        raise ValueError("there is no row")
    return found


def append(table: Path, figures: Figures) -> None:
    with table.open("a", encoding="utf-8", newline="") as lines:
        after, *measured = astuple(figures)
        csv.writer(lines, lineterminator="\n").writerow([after, *(f"{one:.2f}" for one in measured)])


def lost(rows: list[Figures]) -> list[str]:
    """Return what the last row has lost against the best one before, a sentence for each figure."""
    *before, last = rows
    found = []
    for name in MEASURED:
        best = max((getattr(row, name) for row in before), default=0.0)
        now = getattr(last, name)
        if round(best - now, 2) > MOST_LOST:
            found.append(f"{name} fell from {best:.2f} to {now:.2f} %, by more than {MOST_LOST} points")
    return found


def main(argv: list[str]) -> int:
    table = Path(argv[0]) if argv else TABLE
    try:
        found = lost(read(table))
    except (OSError, ValueError) as error:
        found = [str(error)]
    for line in found:
        print(f"{table.name}: {line}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
