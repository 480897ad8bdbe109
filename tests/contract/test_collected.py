"""What a run created is handed out by every sandbox alike, whatever the end, and changes nothing about it (spec F2)."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.contract import Bounds, Collect, Job
from tests.contract.conftest import alike, job
from tests.gaps import gaps
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.result import Result
    from tests.contract.conftest import Lab

PYTHON, JAVASCRIPT, SHELL = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
DEAF = "trap '' TERM; printf new >a; while :; do sleep 0.1; done"


def names(result: Result) -> list[str]:
    return [file.path for file in result.files]


@pytest.mark.parametrize(
    ("language", "code", "seconds", "outcome", "status"),
    [
        (PYTHON, "open('a', 'w').write('new')\n1/0", 20, Outcome.FAILED, 1),
        (JAVASCRIPT, "fs = require('fs'); fs.writeFileSync('a', 'new'); process.exit(7)", 20, Outcome.FAILED, 7),
        (SHELL, "printf new >a; kill -9 $$", 20, Outcome.FAILED, 137),
        (SHELL, DEAF, 0.5, Outcome.TIMED_OUT, -1),
    ],
)
@alike
def test_whatever_the_end(
    lab: Lab, tmp_path: Path, language: Language, code: str, seconds: float, outcome: Outcome, status: int
) -> None:
    result = lab.run(code, language, seconds=seconds, collect=Collect(tmp_path))
    assert (result.outcome, result.exit_code) == (outcome, status)
    (file,) = result.files
    assert (file.path, file.size, file.sha256) == ("a", 3, hashlib.sha256(b"new").hexdigest())
    assert [path.name for path in tmp_path.iterdir()] == [file.sha256]
    assert (tmp_path / file.sha256).read_bytes() == b"new"
    assert (tmp_path / file.sha256).stat().st_mode & 0o777 == 0o600
    assert result.files_left_out == ""


def test_a_run_that_a_person_stopped(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASKED_SECONDS", "SECONDS"):  # however long the machine stands still
        monkeypatch.setattr(f"runner.sandbox.container.collecting.{name}", HANGS)
    result = lab.during("printf new >a; echo; sleep 60", lambda run: run.stop("Enough"), SHELL)
    assert (result.outcome, result.error, names(result)) == (Outcome.KILLED, "Enough", ["a"]), result


@alike
def test_what_is_left_out_is_named(lab: Lab, tmp_path: Path) -> None:
    code = """
import os
os.mkdir('d'); open('d/in', 'w').write('x'); os.mkdir('empty')
os.symlink('/etc/passwd', 'link'); os.mkfifo('pipe')
open('large', 'wb').truncate(2000)
open(b'\\xff\\n', 'w').write('odd'); open('-n', 'w').write('dash')
open('closed', 'w').write('x'); os.chmod('closed', 0)
"""
    result = lab.run(code, collect=Collect(tmp_path, Bounds(10, 1000, 5000)))
    files = {file.path: file.sha256 for file in result.files}
    assert {"d/in", "\\xff\\n", "-n"} <= set(files) <= {"d/in", "\\xff\\n", "-n", "closed"}
    assert (tmp_path / files["\\xff\\n"]).read_bytes() == b"odd"
    for words in ("links: link", "not ordinary files: pipe", "larger than 1000 bytes: large (1.95 KB)"):
        assert words in result.files_left_out


@alike
def test_bounds_hold(lab: Lab, tmp_path: Path) -> None:
    code = "for n in range(30): open(f'f{n}', 'w').write('x' * 300)"
    for bounds, taken, why in (
        (Bounds(5, 1000, 1000), 3, "more than 1000 bytes altogether"),
        (Bounds(5, 1000, 100_000), 5, "more than 5 files"),
    ):
        result = lab.run(code, collect=Collect(tmp_path, bounds))
        assert len(result.files) == taken
        assert why in result.files_left_out
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= bounds.all_bytes


@alike
def test_many_megabytes_come_whole_and_the_loop_continues(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What comes later than this is left out: on a busy machine that may be a file.
    monkeypatch.setattr("runner.sandbox.container.collecting.SECONDS", HANGS)
    code = "import os\nfor n in range(4): open(f'f{n}', 'wb').write(os.urandom(10_000_000))"
    wanted = job(code, disk_mb=64, collect=Collect(tmp_path))

    async def body(wanted: Job) -> tuple[Result, float]:
        """Return what came, and how many seconds of the processor the loop was held by one step at most.

        Seconds of the clock would say as much of a machine that stands still.
        """
        run = await lab.sandbox.start(wanted, lambda _usage: None)
        async with gaps() as found:
            return await run.finished(), found.worst

    result, longest = asyncio.run(body(wanted))
    assert names(result) == ["f0", "f1", "f2", "f3"], result.files_left_out
    for file in result.files:
        assert hashlib.sha256((tmp_path / file.sha256).read_bytes()).hexdigest() == file.sha256
    assert longest < 0.5


@alike
def test_nothing_is_collected_unasked(lab: Lab) -> None:
    result = lab.run("open('a', 'w').write('x')", collect=None)
    assert (result.files, result.files_left_out) == ((), "")
    assert lab.run("print(1)").files == ()


def test_code_that_turns_on_what_stands_above_it_ends_in_time(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.sandbox.container.collecting.ASKED_SECONDS", 0.2)

    async def body() -> list[Result]:
        codes = ("printf x >a; kill -STOP $PPID; sleep 600", "printf x >a; kill -9 -1; sleep 600")
        jobs = [job(code, SHELL, seconds=0.3, collect=Collect(tmp_path)) for code in codes]
        runs = [await lab.sandbox.start(one, lambda _usage: None) for one in jobs]
        return [await run.finished() for run in runs]

    for result in asyncio.run(body()):
        assert result.outcome in (Outcome.TIMED_OUT, Outcome.FAILED)
        assert result.duration < HANGS


@alike
def test_each_file_has_its_time_and_code_cannot_set_it(lab: Lab, tmp_path: Path) -> None:
    code = (
        "import os, time; open('a', 'w').write('1'); os.utime('a', (1, 1)); time.sleep(0.3); open('b', 'w').write('2')"
    )
    result = lab.run(code, collect=Collect(tmp_path))
    times = {file.path: file.at for file in result.files}
    first, second = times["a"], times["b"]
    assert first is not None and second is not None, times
    assert first >= 0 and second - first >= 0.25 and second <= result.duration + 1, (times, result.duration)
