"""`python -m tests.bench [--list] [name ...]`: measures, prints a table, and writes build/bench.json.

Where all is measured, the page of the help on speed is made of it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from app.demo.screen import PROGRAMS, virtual_screen
from tests.bench import speed_page
from tests.bench.row import Row, attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = (
    "local_run",
    "containers",
    "direct",
    "feed",
    "undo",
    "work",
    "network",
    "stream",
    "endurance",
    "packages",
    "peer",
    "classifier",
    "disguises",
    "ablation",
    "bombs",
    "hostile",
    "trial",
    "unseen",
    "bridge_start",
    "call_overhead",
    "first_window",
    "window",
    "review",
    "prompt",
    "idle",
    "package",
    "history",
)
WINDOWS = {"first_window", "window", "review", "prompt", "idle"}
"""Those that need a display."""


def main(arguments: list[str]) -> int:
    """Measure, and give 1 where something that should have been measured was not."""
    parser = argparse.ArgumentParser("python -m tests.bench", description=__doc__)
    parser.add_argument("--list", action="store_true", help="list what can be measured")
    parser.add_argument("names", nargs="*", metavar="name", help="what to measure; everything without")
    wanted = parser.parse_args(arguments)
    if unknown := set(wanted.names) - set(MODULES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; --list tells what there is")
    if wanted.list:
        for name in MODULES:
            print(f"{name:14} {(import_module(f'tests.bench.{name}').__doc__ or '').splitlines()[0]}")
        return 0
    before, rows = _load(), []
    with virtual_screen() if all(map(shutil.which, PROGRAMS)) else nullcontext("") as display:
        if display:
            os.environ.update({"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"})
        for name in wanted.names or MODULES:
            for row in _measured(name):
                rows.append(row)
                print(f"  {row.name}: {row.value:.2f} {row.unit} {_outcome(row)}", file=sys.stderr, flush=True)
    _report(rows, before, _load())
    if not wanted.names:
        speed_page.PAGE.write_text(speed_page.page(json.loads(speed_page.RESULT.read_text())), "utf-8")
    return int(any(row.failed for row in rows))


def _measured(name: str) -> Iterator[Row]:
    """The rows of one module. One that breaks off does not take those of others with it."""
    if name in WINDOWS and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        yield Row(name, skipped=f"there is no display, and not all of {', '.join(PROGRAMS)} for a virtual one")
        return
    yield from attempt(name, lambda: import_module(f"tests.bench.{name}").rows())


def _load() -> str:
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def _report(rows: list[Row], before: str, after: str) -> None:
    width = max((len(row.name) for row in rows), default=0)
    print(f"\n{os.cpu_count()} cores; load average before {before}, after {after}\n")
    print(f"{'':{width}} {'value':>10} {'':12} {'floor':>10} {'ratio':>8} {'goal':>12}")
    for row in rows:
        figures = "" if row.failed or row.skipped else f"{row.value:10.2f} {row.unit:12}"
        floor = "" if row.floor is None else f"{row.floor:10.2f} {row.ratio or 0.0:7.2f}x"
        print(f"{row.name:{width}} {figures:23} {floor:19} {row.goal:>12} {_outcome(row)}".rstrip())
    speed_page.RESULT.parent.mkdir(exist_ok=True)
    told = [asdict(row) | {"ratio": row.ratio, "goal": row.goal, "met": row.met} for row in rows]
    loads = {"load_before": before, "load_after": after}
    speed_page.RESULT.write_text(json.dumps(_machine() | loads | {"rows": told}, indent=1) + "\n")


def _machine() -> dict[str, object]:
    """Return when and where this was measured."""
    processors = [line.partition(": ")[2] for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")]  # fmt: skip
    return {
        "date": time.strftime("%d %B %Y", time.gmtime()).lstrip("0"),
        "processor": processors[0] if processors else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": f"Linux {platform.release().partition('-')[0]}, Python {platform.python_version()}",
    }


def _outcome(row: Row) -> str:
    if row.failed or row.skipped:
        return f"FAILED: {row.failed}" if row.failed else f"skipped: {row.skipped}"
    return f"{ {True: 'met', False: 'MISSED', None: ''}[row.met] } {row.note}".strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
