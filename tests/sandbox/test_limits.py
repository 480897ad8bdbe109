"""Bombs: memory, disk, output, processes. Each ends by itself, with the outcome that says why."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.output import Stream
from runner.sandbox.usage import CURVE
from tests.patience import HANGS, MORE

if TYPE_CHECKING:
    from tests.sandbox.conftest import Lab

PYTHON, JAVASCRIPT, SHELL = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL

MEMORY_BOMBS = [
    (PYTHON, "x = []\nwhile True: x.append(bytearray(1 << 22))"),
    (JAVASCRIPT, "const x = []; while (true) x.push(new Array(1e5).fill(Math.random()))"),
    (JAVASCRIPT, "const x = []; while (true) x.push(Buffer.alloc(1 << 22, 1))"),
    (SHELL, 'x=aaaaaaaa; while :; do x="$x$x"; done'),
]


@pytest.mark.parametrize(("version", "unused"), [("20.20.2", 0), ("22.23.3", 0), ("23.11.1", 512), ("24.21.0", 512)])
def test_what_node_only_reserves_for_machine_code_is_not_taken_from_its_memory(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, version: str, unused: int
) -> None:
    tool, launcher = lab.sandbox._pair(JAVASCRIPT)
    monkeypatch.setitem(lab.sandbox._ready, JAVASCRIPT, (replace(tool, version=version), launcher))
    read = "console.log(require('fs').readFileSync('/proc/self/limits', 'utf8').match(/Max data size +(\\d+)/)[1])"
    assert lab.run(read, JAVASCRIPT, memory_mb=256).stdout == f"{(256 + unused) << 20}\n"


@pytest.mark.parametrize(("language", "code"), MEMORY_BOMBS)
def test_memory_bomb(lab: Lab, language: Language, code: str) -> None:
    result = lab.run(code, language, memory_mb=150)
    assert result.outcome is Outcome.OUT_OF_MEMORY, result
    assert result.error == "Ran out of memory (150 MB limit)"
    assert result.stderr.endswith("Ran out of memory (150 MB limit).\n")
    assert (result.peak_memory or 0) < 400 << 20


def test_memory_of_all_processes_counts_together(lab: Lab) -> None:
    code = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        x = os.urandom(40 << 20)
        time.sleep(300)
time.sleep(300)
"""
    result = lab.run(code, memory_mb=100)
    assert result.outcome is Outcome.OUT_OF_MEMORY
    assert result.duration < HANGS


def test_memory_that_forked_processes_share_counts_once(lab: Lab) -> None:
    code = """
import os, time
x = os.urandom(40 << 20)
pids = [os.fork() for _ in range(1)]
children = 1
while pids[-1] and children < 5:
    pids.append(os.fork()); children += 1
time.sleep(0.5)
print(len(x) if all(pids) else "", end="")
while all(pids) and children: os.wait(); children -= 1
"""
    result = lab.run(code, memory_mb=150)
    assert result.outcome is Outcome.OK, result
    assert result.stdout == str(40 << 20)


def test_a_caught_memory_error_is_the_codes_own_affair(lab: Lab) -> None:
    code = "try:\n    x = bytearray(1 << 30)\nexcept MemoryError:\n    print('caught')"
    assert lab.run(code, memory_mb=128).stdout == "caught\n"


def test_node_starts_within_its_smallest_sensible_limit(lab: Lab) -> None:
    result = lab.run("console.log('ok')", JAVASCRIPT, memory_mb=128)
    assert (result.stdout, result.outcome) == ("ok\n", Outcome.OK), result


DISK_BOMBS = [
    (PYTHON, "with open('big', 'wb') as f:\n    while True: f.write(bytes(1 << 20))"),
    (PYTHON, "i = 0\nwhile True:\n    i += 1\n    with open(f'f{i}', 'wb') as f: f.write(bytes(1 << 20))"),
    (JAVASCRIPT, "const fs = require('fs'); while (true) fs.appendFileSync('big', Buffer.alloc(1 << 20))"),
    (SHELL, "cat /dev/zero > big"),
]


@pytest.mark.parametrize(("language", "code"), DISK_BOMBS)
def test_disk_bomb(lab: Lab, language: Language, code: str) -> None:
    result = lab.run(code, language, disk_mb=24)
    assert result.outcome is Outcome.OUT_OF_DISK, result
    assert result.error == "Ran out of disk space (24 MB limit)"


FILE_BOMB = """
import os
os.chdir({place!r})
made = 0
while True:
    made += 1
    {make}
"""


def test_files_without_content_are_counted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.sandbox.room.FILES_LEAST", 1_000)  # disks are slow
    result = lab.run(FILE_BOMB.format(place=".", make="os.close(os.open(str(made), os.O_CREAT))"), disk_mb=8)
    assert result.outcome is Outcome.OUT_OF_DISK, result
    assert result.error == "Made more than 1,000 files (limit)"
    assert result.stderr == "Made more than 1,000 files (limit).\n"


@pytest.mark.parametrize(
    ("place", "make"), [("/tmp", "os.mkdir(str(made))"), ("/dev/shm", "os.symlink('x', str(made))")]
)
def test_files_beside_the_workspace_are_counted(bwrap: Lab, place: str, make: str) -> None:
    result = bwrap.run(FILE_BOMB.format(place=place, make=make), disk_mb=24)
    assert (result.outcome, result.error) == (Outcome.OUT_OF_DISK, "Made more than 16,384 files (limit)")


def test_more_room_is_room_for_more_files(bwrap: Lab) -> None:
    code = "import os\nfor n in range(20_000): os.close(os.open(f'f{n}', os.O_CREAT))\nimport time; time.sleep(0.25)"
    assert bwrap.run(code, disk_mb=400).outcome is Outcome.OK


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/workspace", "/", "/run", "/etc", "/dev"])
def test_no_place_takes_more_than_the_limit(bwrap: Lab, place: str) -> None:
    code = f"""
total = 0
try:
    for number in range(64):
        with open(f"{place}/f{{number}}", "wb") as f: total += f.write(bytes(1 << 20)) >> 20
except OSError: pass
print(total)
"""
    assert int(bwrap.run(code, disk_mb=16).stdout) <= 16


def test_output_bomb_ends(lab: Lab) -> None:
    result = lab.run("yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", SHELL, output_bytes=1000)
    assert result.outcome is Outcome.OUTPUT_LIMIT
    assert result.meta.truncated
    assert result.meta.dropped_stdout > 60 << 20
    assert len(result.stdout) < 1200
    assert "too much output" in result.error


def test_binary_output(lab: Lab) -> None:
    code = "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 4)\nsys.stderr.buffer.write(b'\\xff\\x00')"
    result = lab.run(code)
    assert result.outcome is Outcome.OK
    assert result.stdout.count("\x00") == 4
    assert "�" in result.stdout
    assert result.stderr == "�\x00"
    result.stdout.encode("utf-8")


def test_characters_split_between_writes(lab: Lab) -> None:
    code = "import os, time\nfor b in 'Zoë 🎈'.encode():\n    os.write(1, bytes([b])); time.sleep(0.005)"
    assert lab.run(code).stdout == "Zoë 🎈"


FORK_BOMBS = [
    (SHELL, "bomb() { bomb | bomb & }; bomb; wait; sleep 60"),
    (PYTHON, "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
]


PROBE = "for n in $(seq 60); do sleep 1 & done; wait"
"""Starts a bounded number of processes: what shows that a bomb would be refused, without being one."""


@pytest.mark.parametrize(("language", "code"), FORK_BOMBS)
def test_fork_bomb(lab: Lab, language: Language, code: str) -> None:
    """The bomb is lit only where the kernel has just been seen to bound processes: else it takes the machine."""
    refused = "Resource temporarily unavailable"
    for seconds in MORE:
        probe = lab.run(PROBE, SHELL, processes=32, seconds=seconds)
        if refused in probe.stderr:
            break
    assert refused in probe.stderr, f"processes are not bounded: {probe}"
    result = lab.run(code, language, processes=32, seconds=1.5)
    assert result.outcome in (Outcome.TIMED_OUT, Outcome.FAILED), result
    assert result.duration < HANGS
    assert max((usage.processes or 0 for usage in result.curve), default=0) <= 33
    assert lab.run("print('still here')").stdout == "still here\n"


def test_threads_count_as_processes(bwrap: Lab) -> None:
    code = """
import threading, time
try:
    for n in range(100): threading.Thread(target=time.sleep, args=(0.3,)).start()
except RuntimeError: print("refused", n < 40)
"""
    assert bwrap.run(code, processes=32).stdout == "refused True\n"


def test_cpu_and_memory_are_read_while_it_runs(lab: Lab) -> None:
    code = "import time\nx = bytearray(60 << 20)\nend = time.monotonic() + 1.2\nwhile time.monotonic() < end: pass"
    result = lab.run(code)
    assert len(result.curve) >= 4 * 1.2, "less than 4 Hz"
    assert max(usage.memory_bytes or 0 for usage in result.curve) > 60 << 20
    assert 60 << 20 < (result.peak_memory or 0) < 120 << 20
    assert max(usage.cpu_percent or 0 for usage in result.curve) > 20
    assert list(result.curve) == lab.readings
    assert [usage.at for usage in result.curve] == sorted(usage.at for usage in result.curve)
    assert result.curve[-1].processes == 1


def test_disk_is_read_while_it_runs(lab: Lab) -> None:
    code = "import os, time\nopen('f', 'wb').write(bytes(10 << 20))\nos.sync if 0 else None\ntime.sleep(1.4)"
    result = lab.run(code, disk_mb=40)
    assert max(usage.disk_bytes or 0 for usage in result.curve) >= 10 << 20


def test_peak_memory_of_a_run_too_short_to_be_read(bwrap: Lab) -> None:
    peak = bwrap.run("x = bytearray(80 << 20); del x").peak_memory
    assert peak is not None
    assert 80 << 20 < peak < 140 << 20


def test_a_long_curve_is_thinned_and_keeps_its_peak() -> None:
    from runner.model.result import Usage
    from runner.sandbox.usage import Curve

    readings = Curve()
    for index in range(50_000):
        readings.add(Usage(index / 10, 0.0, 999 if index == 31_003 else 1, 0, 1))
    curve = readings.thinned
    assert CURVE // 2 <= len(curve) <= CURVE
    assert 999 in [usage.memory_bytes for usage in curve]
    assert curve[-1].at > 4900


def test_transcript_is_complete_when_the_run_is_over(lab: Lab) -> None:
    held: list[bytes] = []

    def follow(run: object) -> None:
        transcript = run.transcript  # type: ignore[attr-defined]

        def read() -> None:
            position, ended = 0, False
            while not ended:
                news = transcript.since(position)
                position, ended = news.position, news.ended
                held.extend(piece.data for piece in news.pieces if piece.stream is Stream.OUT)

        threading.Thread(target=read, name="reader").start()

    result = lab.during("for i in range(3000): print(i)", follow)
    assert result.stdout == "".join(f"{i}\n" for i in range(3000))
    for thread in threading.enumerate():
        if thread.name == "reader":
            thread.join()
    assert b"".join(held).decode() == result.stdout
