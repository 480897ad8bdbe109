"""`python -m tests.bench [name ...]`: measures, prints a table, and writes build/bench.json."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import nullcontext
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from app.screen import PROGRAMS, virtual_screen

if TYPE_CHECKING:
    from tests.bench.row import Row

MODULES = (
    "local_run",
    "containers",
    "stream",
    "endurance",
    "peer",
    "classifier",
    "bridge_start",
    "first_window",
    "window",
    "review",
    "idle",
)
RESULT = Path("build/bench.json")


def main(names: list[str]) -> int:
    rows: list[Row] = []
    with virtual_screen() if all(map(shutil.which, PROGRAMS)) else nullcontext("") as display:
        platform = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"} if display else {"QT_QPA_PLATFORM": "offscreen"}
        os.environ.update(platform)
        for name in names or MODULES:
            found = import_module(f"tests.bench.{name}").rows()
            rows += found
            for row in found:
                print(_line(row), flush=True)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps([asdict(row) | {"ratio": row.ratio} for row in rows], indent=1) + "\n")
    return 0


def _line(row: Row) -> str:
    floor = "" if row.floor is None else f"floor {row.floor:9.2f}  ratio {row.ratio:5.2f}"
    met = {True: "met", False: "MISSED", None: ""}[row.met]
    return f"{row.name:58} {row.value:10.2f} {row.unit:5} {floor:30} goal {row.goal:32} {met}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
