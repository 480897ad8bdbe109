"""gVisor without a container engine: what a killed console or kernel leaves, limits without control groups, paths."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from runner.model.errors import KnownError
from runner.model.request import ALL_LIMITS, Isolation, Language, Limits, Request, Tool
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import WATCHED_LIMITS, ContainerSandbox
from runner.sandbox.container.start_queue import StartQueue
from runner.sandbox.contract import Bounds, Collect, Job
from runner.sandbox.gvisor import calls
from runner.sandbox.gvisor.container import short
from runner.sandbox.gvisor.engine import DirectEngine
from runner.sandbox.gvisor.program import Runsc, located
from runner.sandbox.gvisor.sentry import SENTRY
from runner.sandbox.images.folder_store import FolderStore
from runner.sandbox.local.control_groups import ControlGroups
from runner.sandbox.local.group import ControlGroup
from runner.system.process_stat import read_proc
from runner.system.tasks import spawn
from tests import direct_gvisor
from tests.patience import HANGS
from tests.sandbox.conftest import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.result import Result
    from runner.sandbox.container.run import ContainerRun

LIMITS = Limits(seconds=20.0, memory_mb=128, cpu_cores=2.0)
BOUNDS = Bounds(10, 1 << 20, 1 << 20)


@pytest.fixture
def folder() -> Iterator[Path]:
    """One for containers; paths of sockets are short."""
    with tempfile.TemporaryDirectory(prefix="assent-test-") as made:
        yield Path(made)


@pytest.fixture
def sandbox(folder: Path) -> Iterator[ContainerSandbox]:
    made = direct_gvisor.sandbox(folder)
    yield made
    asyncio.run(made.close())


def run(sandbox: ContainerSandbox, code: str, limits: Limits = LIMITS) -> Result:
    async def body() -> Result:
        return await (await sandbox.start(Job("test", Language.PYTHON, code, limits), lambda _usage: None)).finished()

    return asyncio.run(body())


def kernels(folder: Path) -> list[int]:
    """The processes of gVisor whose containers have their folders in `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        words = read_proc(f"{process}/cmdline").split(b"\0")
        if words[0].endswith(SENTRY) and any(word.startswith(f"--root={folder}/".encode()) for word in words):
            found.append(int(process.name))
    return found


def test_containers_that_wait_for_their_start_get_it_whatever_becomes_of_those_before(folder: Path) -> None:
    engine = DirectEngine(direct_gvisor.images(), direct_gvisor.program(), folder)
    engine.starts = StartQueue(1, 10 * HANGS)
    sandbox = ContainerSandbox(Isolation.GVISOR_DIRECT, OWN_IMAGES, engine, own=True)
    job = Job("test", Language.PYTHON, "print(1)", LIMITS)

    async def body() -> list[Result]:
        await sandbox.check()
        runs = [await sandbox.start(replace(job, code="import time; time.sleep(600)"), lambda _usage: None)]
        runs.append(await sandbox.start(job, lambda _usage: None))
        for one in runs:
            one.stop("enough")
        runs.append(await sandbox.start(job, lambda _usage: None))
        with pytest.raises(KnownError):
            await sandbox.start(replace(job, image="sha256:" + "0" * 64), lambda _usage: None)
        third, fourth = (spawn("a start", sandbox.start(job, lambda _usage: None)) for _ in range(2))
        async with asyncio.timeout(HANGS):
            runs.append(await third)
            cast("ContainerRun", runs[-1]).abandon()
            runs.append(await fourth)
            results = [await one.finished() for one in runs]
            await sandbox.sweep()
            return results

    results = asyncio.run(body())
    asyncio.run(sandbox.close())
    assert [one.outcome for one in results] == [
        Outcome.KILLED,
        Outcome.KILLED,
        Outcome.OK,
        Outcome.ENGINE_LOST,
        Outcome.OK,
    ]


def test_code_is_sent_only_once_it_is_held_to_its_share_of_the_processor(
    sandbox: ContainerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        ControlGroups.found()
    except KnownError as error:
        pytest.skip(str(error))
    asyncio.run(sandbox.check())
    asked = []

    def fail(_group: ControlGroup, cores: float) -> None:
        asked.append(cores)
        raise OSError

    monkeypatch.setattr(ControlGroup, "limit_processor", fail)
    result = run(sandbox, "print(4)")
    assert asked == [LIMITS.cpu_cores]
    assert (result.outcome, result.stdout) == (Outcome.ENGINE_LOST, "")


CONSOLE = """
import asyncio, sys
from pathlib import Path
from runner.model.request import Language, Limits
from runner.sandbox.contract import Collect, Job
from tests import direct_gvisor

sandbox = direct_gvisor.sandbox(Path(sys.argv[1]))

async def body():
    run = await sandbox.start(Job("left", Language.SHELL, "echo on; sleep 300", Limits(300.0)), lambda usage: None)
    while not run.transcript.total:
        await asyncio.sleep(0.01)
    print("on", flush=True)
    await run.finished()

asyncio.run(body())
"""


def test_what_a_killed_console_leaves_ends_with_it_and_is_swept(sandbox: ContainerSandbox, folder: Path) -> None:
    direct_gvisor.images()
    command = [sys.executable, "-c", CONSOLE.replace("Limits(300.0)", "Limits(seconds=300.0)"), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as console:
        assert console.stdout is not None
        assert console.stdout.readline() == b"on\n"
        (left,) = folder.glob("run-*")
        assert kernels(folder)
        console.kill()
    # The kernel sees to it at once; consoles of other tests would sweep it away some time later.
    assert wait_until(lambda: not kernels(folder), 20.0)
    own = run(sandbox, "print('of one that lives')")
    assert own.stdout == "of one that lives\n"
    assert asyncio.run(sandbox.sweep()) == (left.name,)
    assert not list(folder.glob("run-*"))
    assert asyncio.run(sandbox.sweep()) == ()


def test_a_killed_kernel_ends_its_run_alone_and_leaves_nothing(sandbox: ContainerSandbox, folder: Path) -> None:
    async def body() -> tuple[Result, Result]:
        jobs = [
            Job("test", Language.PYTHON, f"import time; print({n}, flush=True); time.sleep(300)", LIMITS)
            for n in range(2)
        ]
        one, other = [await sandbox.start(job, lambda _usage: None) for job in jobs]
        while not (one.transcript.total and other.transcript.total):
            await asyncio.sleep(0.005)
        first = min(folder.glob("run-*"), key=lambda path: path.stat().st_ctime_ns)
        (kernel,) = [pid for pid in kernels(folder) if short(first.name).encode() in read_proc(f"/proc/{pid}/cmdline")]
        os.kill(kernel, signal.SIGKILL)
        ended = await one.finished()
        other.stop("seen")
        return ended, await other.finished()

    killed, other = asyncio.run(body())
    assert (killed.stdout, killed.outcome, killed.exit_code) == ("0\n", Outcome.FAILED, 137), killed
    assert (other.stdout, other.error) == ("1\n", "seen"), other
    assert not list(folder.glob("run-*"))


@pytest.fixture
def ungrouped(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise KnownError("there are none here", "Start it elsewhere.")

    monkeypatch.setattr(calls.ControlGroups, "found", none)


@pytest.mark.usefixtures("ungrouped")
@pytest.mark.parametrize(
    "code",
    [
        "x = []\nwhile True: x.append(bytearray(1 << 22))",
        "import mmap\nx = []\nfor n in range(300):\n    x.append(mmap.mmap(-1, 1 << 21)); x[-1].write(bytes(1 << 21))",
        "import os\nfor n in range(300_000): os.close(os.open(str(n), os.O_CREAT))",
        "import os, time\nfor n in range(9):\n    if os.fork() == 0: x = bytearray(b'x' * (60 << 20)); time.sleep(9)\n"
        "time.sleep(9)",
    ],
)
def test_memory_is_held_to_its_limit_without_control_groups(sandbox: ContainerSandbox, code: str) -> None:
    # Less memory is full sooner, and a busy machine takes long to make so many files.
    ended = run(sandbox, code, replace(LIMITS, memory_mb=96, seconds=60.0))
    assert ended.outcome is Outcome.OUT_OF_MEMORY, ended
    assert (ended.peak_memory or 0) < 400 << 20


@pytest.mark.usefixtures("ungrouped")
def test_memory_is_held_to_its_limit_while_the_loop_stands_still(sandbox: ContainerSandbox, folder: Path) -> None:
    code = "print('on', flush=True)\nimport os, time\nfor n in range(4):\n"
    code += "    if os.fork() == 0: y = b'y' * (60 << 20); break\ntime.sleep(300)"

    async def body() -> Result:
        run = await sandbox.start(Job("test", Language.PYTHON, code, LIMITS), lambda _usage: None)
        while not run.transcript.total:
            await asyncio.sleep(0.005)
        assert wait_until(lambda: not kernels(folder))
        return await run.finished()

    assert asyncio.run(body()).outcome is Outcome.OUT_OF_MEMORY


@pytest.mark.usefixtures("ungrouped")
def test_it_says_which_limits_nobody_holds(sandbox: ContainerSandbox) -> None:
    ready = asyncio.run(sandbox.check())
    assert WATCHED_LIMITS in ready.protections
    assert ALL_LIMITS not in ready.protections
    memory, processor = (one for one in ready.missing if "image" not in one)
    assert memory.startswith("memory limited by a control group: there are none here;")
    assert processor == "share of the processor limited by a control group: there are none here"
    shown = Request("1", "a", Tool.CODE_EXECUTE, 0.0, isolation=Isolation.GVISOR_DIRECT, protections=ready.protections)
    assert not shown.limits_cpu


def test_a_limited_processor_is_said_to_be() -> None:
    made = {"isolation": Isolation.GVISOR_DIRECT, "protections": (ALL_LIMITS,)}
    assert Request("1", "a", Tool.CODE_EXECUTE, 0.0, **made).limits_cpu  # type: ignore[arg-type]


def test_a_path_that_is_too_long_for_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("x" * 60)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert calls.DirectCalls(direct_gvisor.images())._made_root() == Path(f"/tmp/assent-gvisor-{os.getuid()}")
    long = direct_gvisor.sandbox(folder)
    found = asyncio.run(long.check())
    assert not found.ready
    assert "too long for gVisor's sockets" in found.problem
    asyncio.run(long.close())


def test_without_gvisor_or_with_another_program_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.sandbox.gvisor.program.located", lambda: "")
    none = ContainerSandbox(Isolation.GVISOR_DIRECT, OWN_IMAGES, DirectEngine(FolderStore(tmp_path)), own=True)
    found = asyncio.run(none.check())
    assert (found.ready, found.problem) == (False, "gVisor (the program runsc) is not installed.")
    with pytest.raises(KnownError, match="is not gVisor's runsc"):
        Runsc.found("/bin/true")
    asyncio.run(none.close())


def test_a_program_that_others_than_root_may_replace_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bin/runsc"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\necho runsc version release-20250101.0\n")
    fake.chmod(0o755)
    fake.parent.chmod(0o777)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("runner.sandbox.local.trusted.FOLDERS", ())
    assert located() != str(fake)
    if not located():
        with pytest.raises(KnownError, match="is not taken, as others than root may change"):
            Runsc.found()
    assert not (tmp_path / "started").exists()


def test_images_that_are_not_there_are_named_with_what_brings_them(tmp_path: Path, folder: Path) -> None:
    engine = DirectEngine(FolderStore(tmp_path / "none"), direct_gvisor.program(), folder)
    empty = ContainerSandbox(Isolation.GVISOR_DIRECT, OWN_IMAGES, engine, own=True)
    found = asyncio.run(empty.check())
    assert (found.ready, found.remedy) == (False, "assent images")
    other = ContainerSandbox(Isolation.GVISOR_DIRECT, {Language.PYTHON: "python:3.13"}, engine)
    assert "only Assent's own images" in asyncio.run(other.check()).remedy
    asyncio.run(empty.close())


def test_close_ends_everything_at_once(sandbox: ContainerSandbox, folder: Path) -> None:
    async def body() -> float:
        run = await sandbox.start(Job("test", Language.SHELL, "echo on; sleep 300", LIMITS), lambda _usage: None)
        session = await sandbox.open(Language.PYTHON, LIMITS, "")
        while not run.transcript.total:
            await asyncio.sleep(0.005)
        begun = time.monotonic()
        await sandbox.close()
        assert not session.alive
        return time.monotonic() - begun

    asyncio.run(body())
    assert wait_until(lambda: not kernels(folder))


def test_an_image_without_the_interpreter_is_said_to_lack_it(folder: Path) -> None:
    engine = DirectEngine(direct_gvisor.images(), direct_gvisor.program(), folder)
    names = dict.fromkeys(Language, OWN_IMAGES[Language.PYTHON])
    sandbox = ContainerSandbox(Isolation.GVISOR_DIRECT, names, engine, own=True)

    async def body() -> list[Result]:
        jobs = [Job("test", Language.JAVASCRIPT, "1", LIMITS, collect=one) for one in (None, Collect(folder, BOUNDS))]
        results = [await (await sandbox.start(job, lambda _usage: None)).finished() for job in jobs]
        await sandbox.close()
        return results

    for result in asyncio.run(body()):
        assert result.error == "The container did not start: the image has no `node`", result
