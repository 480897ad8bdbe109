"""No drift: deeds in disguise, and sources of labelled records with the rules that the others confirm.

`python -m tests.bench.disguises --record` measures and appends a row to `tests/risk/drift.csv`, which belongs into the
commit of the change; `make lint` holds the last row against the best one before. The records are no part of this
project: ASSENT_RISK_RECORDS names their file, one JSON object a line.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.row import Row
from tests.bench.sources import confirmed_elsewhere, read
from tests.risk import drift
from tests.risk.disguises.measure import Result, chains, over_all, singles

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDS = "ASSENT_RISK_RECORDS"
SEEDS = range(5000, 5020)


def rows() -> Iterator[Row]:
    alone = Result()
    for program in singles("danger"):
        alone.add(program, 1)
    yield Row("danger kept CRITICAL by each step alone", over_all(alone.kept, 1).percent, "%", at_least=97.0)
    result = chains(SEEDS, (2, 4))
    for depth, least in ((2, 97.0), (4, 93.0)):
        name = f"danger kept CRITICAL in {depth} disguises"
        yield Row(name, over_all(result.kept, depth).percent, "%", at_least=least)
    for depth, most in ((2, 0.5), (4, 0.5)):
        name = f"harmless code in {depth} disguises raised to CRITICAL"
        note = f"besides for letters that look like others {over_all(result.tricked, depth).percent:.1f} %"
        yield Row(name, over_all(result.raised, depth).percent, "%", at_most=most, note=note)
    name = "dangerous records found with rules that other sources confirm"
    if records := os.environ.get(RECORDS):
        yield Row(name, confirmed_elsewhere(read(Path(records), core=True)), "%")
    else:
        yield Row(name, skipped=f"{RECORDS} names no labelled records")


def record() -> drift.Figures:
    """Return the figures of now. Raises KeyError where there are no records."""
    result = chains(SEEDS, (2, 4))
    after = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    return drift.Figures(
        after.stdout.strip(),
        over_all(result.kept, 2).percent,
        over_all(result.kept, 4).percent,
        confirmed_elsewhere(read(Path(os.environ[RECORDS]), core=True)),
        100 - over_all(result.raised, 2).percent,
        100 - over_all(result.raised, 4).percent,
    )


def main(argv: list[str]) -> int:
    if argv != ["--record"]:
        print(__doc__)
        return 2
    drift.append(drift.TABLE, record())
    return drift.main([])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
