"""Leave one source out: what the rules find in a source with only those rules that the other sources confirm.

`python -m tests.bench.sources RECORDS [--core]` reads labelled records, one JSON object a line, with `source`,
`language`, `label` (dangerous, benign, doubtful), `tier` and `code`. The rules are made by hand, so nothing is trained
again; instead a rule counts for a source only if it finds something dangerous in another one as well. A rule made to
fit one source finds nothing there, and the fall of the recall shows how much of it was such fitting.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from runner.model.assessment import Level
from runner.risk.assess import assess
from tests.bench.risk import labelled, request

FEWEST = 5
"""Dangerous records of a source below which its recall says little; it is left out of the spread."""


@dataclass(slots=True)
class Source:
    """The alarms of one source: for every record, the rules that raise it to CRITICAL."""

    dangerous: list[frozenset[str]] = field(default_factory=list)
    benign: list[frozenset[str]] = field(default_factory=list)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.bench.sources", description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--core", action="store_true", help="only dangerous records of the core tier")
    arguments = parser.parse_args(argv)
    report(read(arguments.records, arguments.core))
    return 0


def read(path: Path, core: bool) -> dict[tuple[str, str], Source]:
    """Every record assessed, by source and language."""
    found: dict[tuple[str, str], Source] = defaultdict(Source)
    for record in labelled(path):
        if record["label"] == "doubtful" or (core and record["label"] == "dangerous" and record["tier"] != "core"):
            continue
        alarms = {one.id for one in assess(request(record)).findings if one.level is Level.CRITICAL}
        source = found[record["source"], record["language"]]
        (source.dangerous if record["label"] == "dangerous" else source.benign).append(frozenset(alarms))
    return found


def _confirmed(found: dict[tuple[str, str], Source]) -> dict[str, set[str]]:
    """The sources in which each rule finds something dangerous."""
    confirmed: dict[str, set[str]] = defaultdict(set)
    for (name, _), source in found.items():
        for alarms in source.dangerous:
            for id in alarms:
                confirmed[id].add(name)
    return confirmed


def confirmed_elsewhere(found: dict[tuple[str, str], Source]) -> float:
    """The percentage of dangerous records that rules confirmed by another source find."""
    confirmed = _confirmed(found)
    kept = total = 0
    for (name, _), source in found.items():
        others = {id for id, names in confirmed.items() if names - {name}}
        kept += sum(bool(alarms & others) for alarms in source.dangerous)
        total += len(source.dangerous)
    return 100 * kept / total if total else 0.0


def report(found: dict[tuple[str, str], Source]) -> None:
    """The table, the spread over sources, and the rules that only one source knows."""
    confirmed = _confirmed(found)
    print(f"{'source':28} {'language':11} {'dangerous':>9} {'recall':>7} {'left out':>9} {'benign':>7} {'FPR':>6}")
    recalls: list[float] = []
    outside: list[float] = []
    hits = hits_outside = total = 0
    for (name, language), source in sorted(found.items()):
        others = {id for id, names in confirmed.items() if names - {name}}
        caught = sum(bool(alarms) for alarms in source.dangerous)
        kept = sum(bool(alarms & others) for alarms in source.dangerous)
        wrong = sum(bool(alarms) for alarms in source.benign)
        hits, hits_outside, total = hits + caught, hits_outside + kept, total + len(source.dangerous)
        if len(source.dangerous) >= FEWEST:
            recalls.append(caught / len(source.dangerous))
            outside.append(kept / len(source.dangerous))
        print(
            f"{name:28} {language:11} {len(source.dangerous):9} {_share(caught, source.dangerous):>7}"
            f" {_share(kept, source.dangerous):>9} {len(source.benign):7} {_share(wrong, source.benign):>6}"
        )
    print(f"\nrecall over all {hits / total:.1%}; with rules confirmed elsewhere {hits_outside / total:.1%}")
    for what, values in (("as they are", recalls), ("left out", outside)):
        print(
            f"over sources with {FEWEST} or more dangerous records, {what}: mean {statistics.mean(values):.1%},"
            f" spread {statistics.stdev(values):.1%}, least {min(values):.1%}"
        )
    alone = sorted(id for id, names in confirmed.items() if len(names) == 1)
    print(f"rules that find something in one source only ({len(alone)}): {', '.join(alone)}")


def _share(part: int, whole: list[frozenset[str]]) -> str:
    return f"{part / len(whole):.1%}" if whole else "-"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
