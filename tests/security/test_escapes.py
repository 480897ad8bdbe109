"""The escape suite: every attempt on every sandbox, and what each may at most do (spec X3, X7, K1)."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.request import Language, Limits
from runner.model.result import Outcome
from runner.sandbox.contract import Job
from tests.contract.conftest import job as small
from tests.patience import MORE
from tests.sandbox.conftest import wait_until
from tests.security.attempts import ATTEMPTS, FLOODS, in_one_run, in_one_script

if TYPE_CHECKING:
    import pytest

    from runner.model.result import Result
    from runner.sandbox.contract import Sandbox
    from tests.contract.conftest import Lab
    from tests.security.attempts import Attempt

AT_ONCE = 4
KEPT_BYTES = 10_000
HELD_BYTES = (1 << 19) + (1 << 18)
"""What a transcript holds for live readers, and one chunk more."""
TABLE = Path(__file__).resolve().parents[2] / "build" / "escapes.md"
ENDED = {
    ("local", "keeps empty files without end"): "out of disk",
    ("docker", "keeps empty files without end"): "out of memory",
    ("gvisor", "keeps empty files without end"): "out of memory",
    ("gvisor-direct", "keeps empty files without end"): "out of memory",
}
"""Where the attempt is not refused but its run is ended."""


def verdict(result: Result) -> str:
    """`held`, `escaped`, or how the attempt was ended."""
    words = result.stdout.split()
    return words[-1] if words else result.outcome.value


async def tried(sandbox: Sandbox) -> dict[str, str]:
    """All attempts: those that leave to others what they need in one run for each language, the rest one by one."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def run(language: Language, code: str, changes: dict[str, float]) -> Result:
        given = {"seconds": 20.0, "memory_mb": 128, "disk_mb": 32, "cpu_cores": 2.0, **changes}
        async with turn:
            job = Job("attempt", language, code, Limits(**given))  # type: ignore[arg-type]
            return await (await sandbox.start(job, lambda _usage: None)).finished()

    async def alone(one: Attempt) -> dict[str, str]:
        return {one.name: verdict(await run(one.language, one.code, one.limits))}

    async def in_python() -> dict[str, str]:
        result = await run(Language.PYTHON, in_one_run(together(Language.PYTHON)), {"seconds": 60.0})
        assert isinstance(result.value, dict), result
        return {name: str(what) for name, what in result.value.items()}

    async def in_shell() -> dict[str, str]:
        result = await run(Language.SHELL, in_one_script(together(Language.SHELL)), {"seconds": 60.0})
        lines = result.stdout.splitlines()
        return dict(zip(lines[::2], lines[1::2], strict=True))

    by_one = [alone(one) for one in ATTEMPTS if one.alone]
    found = {
        name: what for part in await asyncio.gather(*by_one, in_python(), in_shell()) for name, what in part.items()
    }
    return {one.name: found[one.name] for one in ATTEMPTS}


def together(language: Language) -> list[Attempt]:
    return [one for one in ATTEMPTS if one.language is language and not one.alone]


def test_nothing_gets_out(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    found = asyncio.run(tried(lab.sandbox))
    known = {attempt.name: attempt.differs[lab.kind] for attempt in ATTEMPTS if lab.kind in attempt.differs}
    with capsys.disabled():
        print(f"\n{lab.kind}: {len(found)} attempts")
        for name, what in found.items():
            print(f"  {name:50} {what:14} {known.get(name, '')}".rstrip())
    write_table(lab.kind, found, known)
    expected = {name: "escaped" if name in known else ENDED.get((lab.kind, name), "held") for name in found}
    assert found == expected


def write_table(kind: str, found: dict[str, str], known: dict[str, str]) -> None:
    """Put these rows into the table, in place of older ones."""
    TABLE.parent.mkdir(exist_ok=True)
    old = TABLE.read_text("utf-8").splitlines()[2:] if TABLE.exists() else []
    kept = [row for row in old if not row.startswith(tuple(f"| {kind} | {name} |" for name in found))]
    rows = [f"| {kind} | {name} | {what} | {known.get(name, '')} |" for name, what in found.items()]
    head = ["| sandbox | attempt | verdict | why that is known |", "|---|---|---|---|"]
    TABLE.write_text("\n".join([*head, *kept, *rows]) + "\n", "utf-8")


def test_nobody_outlives_the_run(lab: Lab) -> None:
    """Deaf to being asked, in a session of its own, and its parent gone: it ends with the run all the same."""
    word = f"survivor-{os.getpid()}-{lab.kind}"
    code = f"""
import os, signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execvp("sh", ["sh", "-c", "sleep 600; exit", {word!r}])
    os._exit(0)
print("on", flush=True)
time.sleep(600)
"""
    assert lab.run(code, seconds=1.0).outcome is Outcome.TIMED_OUT
    assert wait_until(lambda: not _seen(word))


def _seen(word: str) -> list[str]:
    """Processes of this machine with `word` in their command."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


async def flooded(sandbox: Sandbox, code: str) -> str:
    """How a program that writes without end was dealt with, and what of its output is still held."""
    for times in MORE:
        limits = Limits(seconds=0.6 * times, memory_mb=128, cpu_cores=2.0, output_bytes=KEPT_BYTES)
        run = await sandbox.start(Job("flood", Language.PYTHON, code, limits), lambda _usage: None)
        result = await run.finished()
        if result.meta.truncated:
            break
    held = sum(len(piece.data) for piece in run.transcript.since(0).pieces)
    told = len(result.stdout), len(result.stderr)
    if max(told) > 2 * KEPT_BYTES or held > HELD_BYTES:
        return f"escaped: {told} in the result, {held} held"
    ended = result.outcome in {Outcome.OUTPUT_LIMIT, Outcome.TIMED_OUT}
    return "cut" if ended and result.meta.truncated else f"{result.outcome.value}, {result.meta.truncated}"


def test_output_without_end_is_cut(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    async def one_by_one() -> dict[str, str]:
        # Four of them at once beside another test process kept an engine from answering within its time.
        return {name: await flooded(lab.sandbox, one) for name, one in FLOODS.items()}

    found = asyncio.run(one_by_one())
    with capsys.disabled():
        print(f"\n{lab.kind}: {len(found)} floods")
        for name, what in found.items():
            print(f"  {name:50} {what}")
    write_table(lab.kind, found, {})
    assert found == dict.fromkeys(FLOODS, "cut")


def test_a_line_of_a_megabyte_keeps_its_head_and_its_end(lab: Lab) -> None:
    code = "import sys\nsys.stdout.write('<' + '#' * (1 << 20) + '>')"
    result = lab.run(code, output_bytes=KEPT_BYTES)
    head, middle, end = result.stdout.split("...")
    assert (head[:2], end[-2:], result.outcome) == ("<#", "#>", Outcome.OK)
    assert middle == f" (output truncated: {(1 << 20) + 2 - KEPT_BYTES:,} bytes left out) "


def test_sandboxes_do_not_reach_each_other(lab: Lab) -> None:
    """One listens on every kind of address and leaves a file, the other one looks for it."""
    listens = """
import socket, time
open("/tmp/assent-met", "w").close()
s = socket.create_server(("0.0.0.0", 47321)); u = socket.socket(socket.AF_UNIX)
u.bind("\\0assent-met"); u.listen()
print("on", flush=True)
time.sleep(60)
"""
    looks = """
import os, socket
met = [os.path.exists("/tmp/assent-met")]
for kind, place in ((socket.AF_INET, ("127.0.0.1", 47321)), (socket.AF_UNIX, "\\0assent-met")):
    met.append(socket.socket(kind).connect_ex(place) == 0)
print(met)
"""

    async def body() -> Result:
        one = await lab.sandbox.start(small(listens), lambda _usage: None)
        while not one.transcript.total:
            await asyncio.sleep(0.005)
        other = await (await lab.sandbox.start(small(looks), lambda _usage: None)).finished()
        one.stop("met")
        assert (await one.finished()).stdout == "on\n"
        return other

    assert asyncio.run(body()).stdout == "[False, False, False]\n"


def test_there_are_enough_attempts() -> None:
    assert len({attempt.name for attempt in ATTEMPTS}) == len(ATTEMPTS) >= 40


def test_the_console_is_out_of_reach(lab: Lab) -> None:
    """A server on every address of this machine, as the console's port would be."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        own = socket.gethostbyname(socket.gethostname())
        code = f"""
import socket
for host in ("127.0.0.1", {own!r}, "172.17.0.1", "host.docker.internal", "10.0.2.2"):
    try: socket.create_connection((host, {port}), 1); print("escaped")
    except OSError: print("held")
"""
        job = Job("attempt", Language.PYTHON, code, Limits(seconds=30.0))

        async def body() -> Result:
            return await (await lab.sandbox.start(job, lambda _usage: None)).finished()

        result = asyncio.run(body())
    assert result.stdout.split() == ["held"] * 5, result
