"""What a working copy costs: its start, finding what changed, and applying it, against doing the same without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from runner.sandbox.local import contained
from runner.workspace.working_copy import WorkingCopy
from tests.bench.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDERS, FILES = 200, 100
"""Of the project: 20,000 files of 1 KB."""
TIMES = 5
CHANGED = (250, 10_000)


def rows() -> Iterator[Row]:
    """Measure, in a project of 20,000 files."""
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        project = home / "project"
        for folder in range(FOLDERS):
            (project / f"d{folder}").mkdir(parents=True)
            for file in range(FILES):
                (project / f"d{folder}" / f"f{file}").write_text("x" * 1000)
        bare = median(_seconds(lambda: subprocess.run(["true"], check=True)) for _ in range(TIMES))
        started = median(_started(home, project) for _ in range(TIMES))
        yield Row("a program over a project of 20,000 files, until its end", started * 1000, "ms", bare * 1000)
        for count in CHANGED:
            yield from _applied(home, project, count)


def _started(home: Path, project: Path) -> float:
    made: list[WorkingCopy] = []

    def run() -> None:
        copy = WorkingCopy.make(home / "copies", project, ("true",))
        made.append(copy)
        what = contained.Contained(("true",), project, copy.shown, copy.folder / "tmp")
        with copy.in_use():
            assert contained.run(what, copy.command).code == 0

    here = Path.cwd()
    os.chdir(project)
    try:
        seconds = _seconds(run)
    finally:
        os.chdir(here)
    made[0].discard()
    return seconds


def _applied(home: Path, project: Path, count: int) -> Iterator[Row]:
    """Measure with `count` changed files; the floor reads them, or copies them."""
    copy = WorkingCopy.make(home / "copies", project, ("sh",))
    files = [f"d{number // FILES}/f{number % FILES}" for number in range(count)]
    script = 'cd "$1" && while read -r name; do echo y >>"$name"; done'
    names = "\n".join(files).encode() + b"\n"
    subprocess.run(copy.command(("sh", "-c", script, "sh", str(copy.shown))), input=names, check=True)
    read = _seconds(lambda: [(project / name).read_bytes() for name in files])
    found = _seconds(copy.changes)
    changes = copy.changes().changes
    assert len(changes) == count
    yield Row(f"{count:,} changes found", found * 1000, "ms", read * 1000)
    target = home / "floor"
    copied = _seconds(lambda: [shutil.copy2(project / name, _made(target / name)) for name in files])
    applied = _seconds(lambda: copy.apply(changes))
    yield Row(f"{count:,} changes applied", applied * 1000, "ms", copied * 1000)
    copy.undo()
    copy.discard()
    shutil.rmtree(target)


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _seconds(what: Callable[[], object]) -> float:
    begun = time.perf_counter()
    what()
    return time.perf_counter() - begun
