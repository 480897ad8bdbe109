"""What work costs: the start, a command, what changed, Apply, kills in it; and sessions of 25 calls by real clients."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from runner.commands import work_changes
from runner.sandbox.local import contained
from runner.workspace.working_copy import WorkingCopy
from tests.bench.row import Row, attempt
from tests.components import require
from tests.path.at_work import CLIENTS, ROOT, SYSTEM_PATH, accounts_place, ordinary_account
from tests.path.whole_session import CALLS, compared, require_pip
from tests.workspace import trees

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDERS, FILES = 200, 100
"""Of the project: 20,000 files of 1 KB."""
TIMES = 5
CHANGED = (250, 10_000)
COMMANDS = 50
KILLS = 200
"""Of Apply and Undo together."""
SHELLS = f"""
import json, subprocess, time
took = []
for _ in range({COMMANDS}):
    begun = time.perf_counter()
    subprocess.run(["bash", "-c", "true"], check=True)
    took.append(time.perf_counter() - begun)
print(json.dumps(took))
"""
KILLED = "echo p >>a; rm b; rm -r d; mkdir d; echo n >d/n; mkdir -p x/y; echo z >x/y/z; ln -sfn e ld; rm s; mkdir s"
"""What is applied and undone again while it is killed."""


def rows() -> Iterator[Row]:
    """Measure, the costs in a project of 20,000 files."""
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
        yield from _at_work(home, project)
        for count in CHANGED:
            yield from _applied(home, project, count)
    yield from _killed()
    for name in CLIENTS:
        yield from attempt(f"{name}: a session of {CALLS} calls", partial(_session, name))


def _at_work(home: Path, project: Path) -> Iterator[Row]:
    """Measure `assent work` as a person starts it, on a quiet terminal."""
    environment = {"HOME": str(home), "PATH": SYSTEM_PATH, "PYTHONPATH": str(ROOT)}

    def run(*words: str) -> str:
        done = subprocess.run(
            words,
            env=environment,
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ready(*before: str) -> float:
        begun = time.time()
        return float(run(*before, "date", "+%s.%N")) - begun

    assent = (sys.executable, "-m", "app", "work", "--discard")
    found = {words: [ready(*words) for _ in range(TIMES)] for words in ((), assent)}
    bare, inside = (median(each) for each in found.values())
    least = min(found[assent]) * 1000
    cpu, bare_cpu = (
        min(_processor(partial(run, *words)) for _ in range(TIMES))
        for words in ((*assent, "true"), (sys.executable, "-c", "pass"))
    )
    start = median(_seconds(lambda: run(sys.executable, "-m", "app", "work", "list")) for _ in range(TIMES))
    over = (inside - bare) * 1000
    note = f"best {least:.0f} ms; a start of `assent work list` takes {start * 1000:.0f} ms"
    yield Row("`assent work`: until its program runs, over its bare start", over, "ms", bare * 1000, note=note)
    note = "the floor is bare Python's"
    yield Row("the same until its end, processor time (best)", cpu * 1000, "ms", bare_cpu * 1000, note=note)
    python = ("/usr/bin/python3", "-c", SHELLS)
    alone, shells = (median(json.loads(run(*words, *python))) * 1000 for words in ((), assent))
    yield Row("a shell's command at work", shells, "ms", alone, note=f"{shells - alone:.1f} ms over bash itself")


def _killed() -> Iterator[Row]:
    """Kill Apply and Undo at random moments; what is there afterwards has to be the old project or the new one."""
    with tempfile.TemporaryDirectory() as made:
        copy = WorkingCopy.make(Path(made) / "copies", trees.make(Path(made) / "project"), ("bash",))
        trees.work(copy, KILLED)
        old = trees.look(copy.project)
        took = {"apply": _seconds(lambda: copy.apply(copy.changes().changes))}
        new = trees.look(copy.project)
        took["undo"] = _seconds(copy.undo)
        whole = {"apply": 0, "undo": 0}
        cut = 0
        for number in range(KILLS):
            doing = "undo" if trees.look(copy.project) == new else "apply"
            if (child := os.fork()) == 0:
                with contextlib.suppress(BaseException):
                    copy.undo() if doing == "undo" else copy.apply(copy.changes().changes)
                os._exit(0)
            # Not before it has begun, and rather too late than never: some are to come through.
            time.sleep(random.Random(number).uniform(0, 1.5 * took[doing]))
            os.kill(child, signal.SIGKILL)
            cut += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            copy.changes()  # finishes what was begun
            whole[doing] += trees.look(copy.project) in (old, new)
    yield Row(
        f"killed {KILLS} times in Apply and Undo: the old project or the new one",
        whole["apply"] + whole["undo"],
        "times",
        at_least=KILLS,
        note=f"{cut} before their end; Apply {whole['apply']}, Undo {whole['undo']}",
    )


def _session(name: str) -> Iterator[Row]:
    """Compare a session of a real client at work with a plain one."""
    require(CLIENTS[name].component)
    require("node")
    require_pip()
    with accounts_place() as place:
        found = compared(CLIENTS[name], place, ordinary_account())
    same = CALLS - len(found.differences)
    yield Row(
        f"{name}: answers as without Assent", same, f"of {CALLS}", at_least=CALLS, note="; ".join(found.differences)
    )
    yield Row(f"{name}: questions inside", len(found.held), "", at_most=0, note="; ".join(found.held))
    yield Row(f"{name}: questions at the edge", len(found.asked), "", at_most=2, note=", ".join(found.asked))
    other = [*found.touched, *found.applied, *found.undone]
    note = b", ".join(other).decode(errors="replace")
    yield Row(f"{name}: files otherwise after Apply of all, and Undo", len(other), "", at_most=0, note=note)


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
    with contextlib.redirect_stdout(io.StringIO()):
        listed = _seconds(lambda: work_changes.tell(copy.changes()))
    yield Row(f"{count:,} changes found and listed", listed * 1000, "ms", read * 1000)
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


def _processor(what: Callable[[], object]) -> float:
    """Return the seconds of processor time of the processes that are started and waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    what()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _seconds(what: Callable[[], object]) -> float:
    begun = time.perf_counter()
    what()
    return time.perf_counter() - begun
