"""Ends: by time, by a person, with processes that do not want to go. Nobody survives."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.local import control_groups, leftovers
from runner.sandbox.local.watch import GRACE, LAST_GRACE
from tests.patience import HANGS, until_it_speaks
from tests.sandbox.conftest import job, wait_until

if TYPE_CHECKING:
    from runner.sandbox.local.run import LocalRun
    from tests.sandbox.conftest import Lab

SHELL = Language.SHELL


def alive(mark: str) -> list[str]:
    """Processes with `mark` in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


def zombies() -> list[str]:
    """Children of this process that nobody has waited for."""
    listed = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "stat=,args="], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if line.startswith("Z")]


def test_sigterm_first_so_that_code_can_clean_up(lab: Lab) -> None:
    code = """
import signal, sys, time
def bye(*_):
    print("cleaned up"); sys.exit(0)
signal.signal(signal.SIGTERM, bye)
time.sleep(60)
"""
    result, _ = until_it_speaks(lambda seconds: lab.run(code, seconds=seconds), 0.5)
    assert result.outcome is Outcome.TIMED_OUT
    assert result.stdout == "cleaned up\n"
    assert result.exit_code == -1


DEAF_PYTHON = """
import signal, time
for number in set(range(1, 32)) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
print("on")
while True: time.sleep(1)
"""
DEAF_JAVASCRIPT = "process.on('SIGTERM', () => {}); console.log('on'); setInterval(() => {}, 1000)"
DEAF_SHELL = "trap '' TERM INT HUP; echo on; while :; do sleep 1; done"


@pytest.mark.parametrize(
    ("language", "code"),
    [(Language.PYTHON, DEAF_PYTHON), (Language.JAVASCRIPT, DEAF_JAVASCRIPT), (SHELL, DEAF_SHELL)],
)
def test_sigkill_when_sigterm_is_ignored(lab: Lab, language: Language, code: str) -> None:
    result, given = until_it_speaks(lambda seconds: lab.run(code, language, seconds=seconds), 0.6)
    assert result.outcome is Outcome.TIMED_OUT
    assert result.stdout == "on\n"
    assert given + GRACE <= result.duration < given + GRACE + LAST_GRACE, "only the last resort ended it"
    assert zombies() == []


SURVIVORS = {
    "background": "sleep {mark} & disown; echo on; {end}",
    "own session": "setsid sleep {mark} & echo on; {end}",
    "double fork, no environment": "(setsid env -i sleep {mark} >/dev/null 2>&1 </dev/null &) ; echo on; {end}",
    "nohup": "nohup sleep {mark} >/dev/null 2>&1 & echo on; {end}",
    "deaf": "(trap '' TERM HUP; exec setsid sleep {mark}) & echo on; {end}",
}


@pytest.mark.parametrize("end", ["exit 0", "sleep 60"])
@pytest.mark.parametrize("kind", SURVIVORS)
def test_nobody_survives(lab: Lab, kind: str, end: str) -> None:
    mark = f"{time.monotonic_ns() % 10**9 + 10**9}.25"
    code = SURVIVORS[kind].format(mark=mark, end=end)
    result, _ = until_it_speaks(lambda seconds: lab.run(code, SHELL, seconds=seconds), 0.7)
    assert result.stdout == "on\n"
    assert result.outcome is (Outcome.OK if end == "exit 0" else Outcome.TIMED_OUT), result
    assert alive(mark) == []
    assert zombies() == []


def test_stopped_by_a_person(lab: Lab) -> None:
    result = lab.during(
        "import time; print('on'); time.sleep(600)", lambda run: run.stop("Stopped by a person: enough")
    )
    assert result.outcome is Outcome.KILLED
    assert result.error == "Stopped by a person: enough"
    assert "Stopped by a person: enough." in result.stderr
    assert result.stdout == "on\n"
    assert result.duration < HANGS


def test_the_first_stop_counts_and_later_ones_do_no_harm(lab: Lab) -> None:
    runs: list[LocalRun] = []

    def stop(run: LocalRun) -> None:
        run.stop("first")
        run.stop("second")
        runs.append(run)

    assert lab.during("import time; print('on'); time.sleep(60)", stop).error == "first"
    runs[0].stop("third")


def test_stop_before_anything_is_written(lab: Lab) -> None:
    async def body() -> None:
        run = await lab.sandbox.start(job("import time; time.sleep(60)"), lambda _usage: None)
        run.stop("at once")
        assert (await run.finished()).error == "at once"

    asyncio.run(body())


def test_close_stops_every_run(lab: Lab) -> None:
    async def body() -> None:
        runs = [await lab.sandbox.start(job("import time; time.sleep(60)"), lambda _usage: None) for _ in range(3)]
        await lab.sandbox.close()
        for run in runs:
            assert (await run.finished()).outcome is Outcome.KILLED

    asyncio.run(body())


def test_many_at_once(lab: Lab) -> None:
    async def one(number: int) -> str:
        run = await lab.sandbox.start(job(f"print({number})"), lambda _usage: None)
        return (await run.finished()).stdout

    async def body() -> None:
        said = await asyncio.gather(*(one(number) for number in range(20)))
        assert said == [f"{number}\n" for number in range(20)]

    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(body())
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) <= before)


CONSOLE = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {source!r})
from runner.model.request import Language, Limits
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox

async def main():
    sandbox = LocalSandbox(Path({root!r}), bubblewrap={bubblewrap})
    code = "trap '' TERM; (setsid env -i sleep {mark} &); setsid sleep {mark} & echo on; while :; do sleep {mark}; done"
    run = await sandbox.start(Job("x", Language.SHELL, code, Limits(seconds=60)), lambda usage: None)
    while not run.transcript.total:
        await asyncio.sleep(0.01)
    print(run.transcript.since(0).pieces[0].data.decode(), end="", flush=True)
    await run.finished()

asyncio.run(main())
"""


def test_a_killed_console_leaves_nothing_that_is_not_found(lab: Lab) -> None:
    mark = f"{time.monotonic_ns() % 10**9 + 10**9}.5"
    source = str(Path(__file__).resolve().parents[2])
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        root = Path(place, "runs")
        Path(place).chmod(0o711)
        script = CONSOLE.format(source=source, root=str(root), bubblewrap=lab.bubblewrap, mark=mark)
        console = subprocess.Popen([sys.executable, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert console.stdin is not None
        assert console.stdout is not None
        with console.stdin, console.stdout:
            console.stdin.write(script)
            console.stdin.close()
            assert console.stdout.readline() == "on\n"
            assert wait_until(lambda: len(alive(mark)) >= 3)
            console.kill()
            console.wait()
        assert wait_until(lambda: not alive(mark))
        leftovers.sweep(root)
        assert list(root.iterdir()) == []


def test_sweep_ends_what_carries_the_mark_of_a_dead_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    assert not leftovers.owner_lives(f"run-{dead.pid}-12345-abc")
    # Of this process, and gone in its own eyes alone: consoles of other tests would end it before it is looked at.
    gone, mine = leftovers.new_name(), leftovers.new_name()
    lives = leftovers.owner_lives
    assert lives(gone)
    monkeypatch.setattr(leftovers, "owner_lives", lambda name: name != gone and lives(name))
    for name in (gone, mine):
        (tmp_path / name / "workspace").mkdir(parents=True)
    (tmp_path / gone / "workspace").chmod(0)
    orphan, live = (
        subprocess.Popen(["sleep", "60"], env={leftovers.MARKER: name}, start_new_session=True) for name in (gone, mine)
    )
    try:
        assert wait_until(lambda: leftovers._run_of(str(live.pid)) == mine)
        assert wait_until(lambda: leftovers._run_of(str(orphan.pid)) == gone)
        assert gone in leftovers.sweep(tmp_path)
        assert orphan.wait(HANGS) == -signal.SIGKILL
        assert live.poll() is None
        assert [path.name for path in tmp_path.iterdir()] == [mine]
    finally:
        for process in (orphan, live):
            process.kill()
            process.wait()


KILLED = """
import os, signal, subprocess, sys
from runner.model.request import Limits
from runner.sandbox.local import bubblewrap
from runner.sandbox.local.child import Program

first_process = bubblewrap.first_process

def killed(reader, process):
    first_process(reader, process)
    os.kill(os.getpid(), signal.SIGKILL)

launcher = bubblewrap.Bubblewrap.tried()
bubblewrap.first_process = killed
code = "main.sh", b"echo ran >/workspace/ran"
command = "/bin/sh", "/workspace/main.sh"
user, nothing = launcher.identity, subprocess.DEVNULL
name = f"run-1-1-{os.getpid()}"
mark = {"ASSENT_RUN": name}
launcher.start(Program(name, code, {}, command, mark, Limits(), nothing, (), user, (), kept=sys.argv[1]))
"""
TRIES = 4
"""Whether the code came to run was a race, which it won every second time."""


def test_a_console_killed_before_it_gave_the_word_starts_nothing(bwrap: Lab, tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(TRIES)]
    tmp_path.chmod(0o755)
    for folder in folders:
        folder.mkdir()
        folder.chmod(0o777)
    consoles = [
        subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], cwd=Path(__file__).resolve().parents[2])
        for folder in folders
    ]
    assert {console.wait() for console in consoles} == {-signal.SIGKILL}
    assert not wait_until(lambda: any((folder / "ran").exists() for folder in folders), 0.5)
    # It waits for a word that never comes. The next console finds it by its mark.
    leftovers.sweep(tmp_path / "none")
    assert wait_until(lambda: not alive(str(tmp_path)))
    control_groups.sweep()
