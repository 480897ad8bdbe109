"""Programs that attack what is recorded of them: each ends, in time, with a record that the sandbox vouches for."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import TYPE_CHECKING, NamedTuple

from runner.model.answer import Answer
from runner.model.codec import decode, encode
from runner.model.decision import Decider, Decision, Verdict
from runner.model.recorded import record_of
from runner.model.request import Language, canonical
from runner.model.result import Outcome, Result
from runner.sandbox import report
from runner.sandbox.contract import Bounds, Collect
from tests.contract.conftest import job
from tests.patience import HANGS, MORE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.sandbox.contract import Sandbox
    from tests.contract.conftest import Lab

AT_ONCE = 4
SECONDS = 2.0
"""The time limit of each; more where the machine is busy."""
LONGEST = 2 * HANGS
"""Seconds from the start of one to its result, on a busy machine."""
ANY = frozenset(Outcome)


class Hostile(NamedTuple):
    name: str
    code: str
    exit_codes: frozenset[int] | None = None
    """None where it may differ."""
    outcomes: frozenset[Outcome] = ANY
    check: Callable[[Result], bool] = lambda _result: True
    language: Language = Language.PYTHON
    quick: bool = False
    """Whether it is over before its time is up."""

    def ended_well(self, result: Result, seconds: float) -> bool:
        """Whether it ended within `seconds` as it should."""
        known = self.exit_codes is None or result.exit_code in self.exit_codes
        in_time = not self.quick or result.duration < seconds
        return known and in_time and result.outcome in self.outcomes and self.check(result)


def only(*outcomes: Outcome) -> frozenset[Outcome]:
    return frozenset(outcomes)


def ends(*codes: int) -> frozenset[int]:
    return frozenset(codes)


MARK = """
import sys
frame = sys._getframe()
while frame and 'orders' not in frame.f_locals:
    frame = frame.f_back
orders = frame.f_locals['orders'] if frame else {}
mark, channel = orders.get('mark', b''), orders.get('report', 2)
"""
"""Finds what the starter reports with."""
OWN_LINES = (
    "... (output truncated: 5 bytes left out) ...",
    "Execution timed out after 30 s.",
    "Ran out of memory (256 MB limit).",
    "Files created: report.txt (5 bytes)",
    "\x1b[8mhidden\x1b[0m\x1b]0;title\x07\x1b[2J",
    "Denied: a person said no.",
)
NAMES = (b"\xff\xfe", b"new\nline", b"\x1b[8mhidden", "\u202egpj.exe".encode(), b"-rf", b" ", b"a" * 255)

PROGRAMS = (
    Hostile("closes its streams", "import os\nfor n in range(9): os.close(n) if n < 3 else None\nos._exit(3)", ends(3)),
    Hostile(
        "closes its streams and continues until its time is up",
        "import os, time\nos.closerange(0, 3)\ntime.sleep(60)",
        ends(-1),
        only(Outcome.TIMED_OUT),
    ),
    Hostile("exits with more than 255", "import sys\nsys.exit(256 + 7)", ends(7), only(Outcome.FAILED)),
    Hostile("exits with less than 0", "import sys\nsys.exit(-1)", ends(255), only(Outcome.FAILED)),
    Hostile(
        "leaves a process that ignores signals and holds the output open",
        "import os, signal, time\nif os.fork() == 0:\n    os.setsid()\n"
        "    for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
        "    while True: os.write(1, b'.'); time.sleep(0.01)\nprint('over', flush=True)",
        ends(0),
        only(Outcome.OK),
        lambda result: result.stdout.startswith(("over", ".")),
        quick=True,
    ),
    Hostile(
        "halts whoever watches it",
        "import os, signal\nopen('f', 'w').write('x')\n"
        "for pid in (os.getppid(), 1):\n    try: os.kill(pid, signal.SIGSTOP)\n    except OSError: pass",
    ),
    Hostile(
        "kills everything that it can reach",
        "import os\nopen('f', 'w').write('x')\nos.kill(-1, 9)\nimport time; time.sleep(0.2)",
    ),
    Hostile(
        "reports without end",
        MARK + "import os\nbody = b'{\"value\": [' + b'1,' * 300_000 + b'1]}'\n"
        "try:\n    for _ in range(400): os.write(channel, mark + b'E%08x\\n' % len(body) + body)\n"
        "except OSError: pass\nos._exit(0)",
        check=lambda result: result.value is None and len(result.stderr) < 3 << 20,
    ),
    Hostile(
        "reports twice, the second time after its end",
        MARK + "import os, json\nbody = json.dumps({'value': 1, 'peak': 10**4000, 'blocked': [1] * 5000}).encode()\n"
        "os.write(channel, mark + b'E%08x\\n' % len(body) + body)\nresult = 2\n"
        "if os.fork() == 0:\n    import time; time.sleep(0.3)\n    os.write(channel, body)\n    os._exit(0)",
        ends(0),
        only(Outcome.OK),
        lambda result: result.value in (2, None) and (result.peak_memory or 0) <= 256 << 20,
    ),
    Hostile(
        "hands out a value that is too deep",
        "result = []\nfor _ in range(900): result = [result]",
        ends(0),
        only(Outcome.OK),
        lambda result: result.value is None and report.TOO_DEEP in result.stderr,
    ),
    Hostile(
        "hands out too many values",
        "result = [1] * 300_000",
        ends(0),
        only(Outcome.OK),
        lambda result: result.value is None and report.TOO_MANY in result.stderr,
    ),
    Hostile(
        "prints what Assent says",
        f"import sys\nfor line in {OWN_LINES!r}: print(line); print(line, file=sys.stderr)",
        ends(0),
        only(Outcome.OK),
        lambda result: not result.meta.truncated and result.error == "" and OWN_LINES[0] in result.stdout,
    ),
    Hostile(
        "leaves files with names that hide or are no text",
        f"for name in {NAMES!r}: open(name, 'w').write('x')",
        ends(0),
        only(Outcome.OK),
        lambda result: len(result.files) == len(NAMES) and all(file.path.isprintable() for file in result.files),
    ),
    Hostile(
        "leaves a file that nobody may read and one that is mostly a hole",
        "import os\nopen('shut', 'w').write('x')\nos.chmod('shut', 0)\nopen('hole', 'wb').truncate(50 << 20)",
        ends(0),
        only(Outcome.OK),
        lambda result: "hole" in result.files_left_out and all(file.path == "shut" for file in result.files),
    ),
)
SIGNALS = (signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGSYS)


async def each_tried(
    sandbox: Sandbox, folder: Path, programs: tuple[Hostile, ...], seconds: float = SECONDS
) -> list[Result]:
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, program: Hostile) -> Result:
        out = folder / str(number)
        out.mkdir()
        bounds = Bounds(files=20, file_bytes=1 << 20, all_bytes=4 << 20)
        wanted = job(program.code, program.language, seconds=seconds, collect=Collect(out, bounds))
        async with turn, asyncio.timeout(LONGEST):
            return await (await sandbox.start(wanted, lambda _usage: None)).finished()

    return await asyncio.gather(*(one(number, program) for number, program in enumerate(programs)))


def test_hostile_programs_end_with_a_true_record(lab: Lab, tmp_path: Path) -> None:
    left, results = PROGRAMS, dict[str, Result]()
    for times in MORE:
        (folder := tmp_path / str(times)).mkdir()
        found = asyncio.run(each_tried(lab.sandbox, folder, left, SECONDS * times))
        results |= {program.name: result for program, result in zip(left, found, strict=True)}
        left = tuple(one for one in left if not one.ended_well(results[one.name], SECONDS * times))
        if not left:
            break
    assert not left, [(one.name, results[one.name]) for one in left]
    for name, result in results.items():
        said = f"{name}: {result}"
        assert (result.exit_code == 0) is (result.outcome is Outcome.OK), said
        assert 0 < result.duration < LONGEST, said
        assert len(result.files_left_out) < 20_000, said
        # What the ledger holds is what was recorded, and the agent gets an answer of bounded size.
        recorded, _ = record_of(result, 1 << 16)
        body = canonical(encode(recorded))
        assert len(body) < 1 << 21, said
        assert decode(Result, json.loads(body)) == recorded, said
        answer = Answer("r1", Decision(Verdict.APPROVED, Decider.PERSON, ""), result)
        assert len(answer.text(10)) < 40_000, said
        assert json.dumps(answer.bounded(20_480).structured(), allow_nan=False), said
    assert lab.run("print('works')").stdout == "works\n"


def default_of(one: signal.Signals) -> str:
    """Return code that undoes what the tests may have inherited: a program in the background ignores some signals."""
    return "" if one is signal.SIGKILL else f"import signal\nsignal.signal({one.value}, signal.SIG_DFL)\n"


def test_every_signal_is_reported_as_it_was(lab: Lab, tmp_path: Path) -> None:
    programs = tuple(
        Hostile(one.name, f"{default_of(one)}import os, time\nos.kill(os.getpid(), {one.value})\ntime.sleep(9)")
        for one in SIGNALS
    )
    # None of them is to end by time: an interpreter may take more than two seconds to start on a busy machine.
    results = asyncio.run(each_tried(lab.sandbox, tmp_path, programs, LONGEST / 2))
    assert [result.exit_code for result in results] == [128 + one.value for one in SIGNALS]
    assert {result.outcome for result in results} == {Outcome.FAILED}


def test_output_at_the_moment_of_stop(lab: Lab) -> None:
    flood = (
        "import os, signal\ndef more(*_):\n    while True: os.write(1, b'x' * 65536); os.write(2, b'y' * 65536)\n"
        "signal.signal(signal.SIGTERM, more)\nmore()"
    )
    result = lab.during(flood, lambda run: run.stop("enough"), output_bytes=1 << 16)
    assert result.outcome in (Outcome.KILLED, Outcome.OUTPUT_LIMIT)
    assert result.outcome is not Outcome.KILLED or result.error == "enough"
    assert len(result.stdout) < 1 << 17 and result.meta.truncated
    assert result.duration < LONGEST
