"""Control groups of runs: real ones where this machine lets us make them, and the search for them in made-up files."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import Limits
from runner.model.result import Outcome
from runner.sandbox.local import control_groups, group, leftovers, syscalls, watch
from runner.sandbox.local.control_groups import CONSOLE, ControlGroups, own_group
from runner.sandbox.local.group import GROUPED, ControlGroup, folder_name
from runner.sandbox.local.sandbox import LocalSandbox
from tests.sandbox.conftest import job, wait_until
from tests.security.test_unseen_memory import MEMORY_FILES, SEGMENTS, WAIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.result import Result
    from tests.sandbox.conftest import Lab

SMALL = Limits(memory_mb=64, disk_mb=16, processes=8)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def groups() -> ControlGroups:
    """Those of this machine."""
    try:
        return ControlGroups.found()
    except KnownError as error:
        pytest.skip(f"control groups: {error.what}")


@pytest.fixture
def unseen_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reading is taken: the kernel alone is left to hold a run to its limit."""
    monkeypatch.setattr(watch, "FIRST_READING", 60.0)


@contextlib.contextmanager
def started(held: ControlGroup, code: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group that runs `code` once it gets a line."""
    words = [*held.entry, sys.executable, "-I", "-c", f"input()\n{code}"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process
        process.kill()


def test_a_group_holds_what_a_process_starts_and_says_what_it_takes(groups: ControlGroups) -> None:
    held = groups.new(leftovers.new_name(), SMALL)
    try:
        with started(held, "import os, time\nif os.fork() == 0: x = bytes(1) * (30 << 20)\ntime.sleep(60)") as process:
            assert wait_until(lambda: held.holds(process.pid))
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert wait_until(lambda: (held.held() or 0) > 30 << 20)
            held.remove()
            assert process.wait() == -signal.SIGKILL
    finally:
        held.remove()
    assert held.held() is None


def test_the_kernel_ends_what_passes_the_limit_of_a_group(groups: ControlGroups) -> None:
    held = groups.new(leftovers.new_name(), SMALL)
    try:
        with started(held, "x = []\nwhile True: x.append(bytes(1) * (4 << 20))") as process:
            process.communicate(b"\n")
            assert process.returncode == -signal.SIGKILL
        assert held.kills
        assert SMALL.memory_mb << 20 < held.peak <= control_groups.most(SMALL)
    finally:
        held.remove()


def test_a_run_is_in_a_group_of_its_own_before_its_code_starts(bwrap: Lab, groups: ControlGroups) -> None:
    """Inside, that is the root of all groups: nothing of those of the machine can be named there."""
    mine = {line.rpartition(":")[2] for line in Path("/proc/self/cgroup").read_text().splitlines()}
    result = bwrap.run("import os\nprint(open('/proc/self/cgroup').read())\nos.system('sleep 0.1')")
    assert GROUPED in result.meta.protections and (result.peak_memory or 0) > 0
    assert "/assent" not in result.stdout and not {one for one in mine if len(one) > 1 and one in result.stdout}


@pytest.mark.asyncio
async def test_what_waits_in_a_run_is_in_its_group(groups: ControlGroups, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    sandbox = LocalSandbox(tmp_path)
    try:
        run = await sandbox.start(job("import sys\nprint('on', flush=True)\nsys.stdin.read()"), lambda _usage: None)
        prefix = f"assent-{os.stat('/proc/self/ns/pid').st_ino}-run-{os.getpid()}-"
        held = [one for one in groups._memory.iterdir() if one.name.startswith(prefix)]
        assert len(held) == 1 and len(group.words(held[0] / "cgroup.procs")) >= 2
        run.stop("seen")
        await run.finished()
        assert not held[0].exists()
    finally:
        await sandbox.close()


def test_what_cannot_enter_its_group_does_not_start(groups: ControlGroups, tmp_path: Path) -> None:
    held = groups.new(leftovers.new_name(), SMALL)
    held.remove()
    done = subprocess.run([*held.entry, "/bin/sh", "-c", f"touch {tmp_path}/ran"], capture_output=True, check=False)
    assert done.returncode == group.NOT_ENTERED and not (tmp_path / "ran").exists()


def test_the_kernel_alone_ends_a_run_that_passes_all_its_room(
    bwrap: Lab, groups: ControlGroups, unseen_to_us: None
) -> None:
    code = """
import os, time
for _ in range(7):
    if os.fork() == 0: break
x = bytes(1) * (40 << 20)
time.sleep(1)
"""
    result = bwrap.run(code, memory_mb=64, disk_mb=1)
    assert result.outcome is Outcome.OUT_OF_MEMORY, result


def test_the_number_of_processes_is_bound_in_the_group(groups: ControlGroups) -> None:
    if groups._processes is None:
        pytest.skip("control groups: no pids controller can be reached")
    held = groups.new(leftovers.new_name(), SMALL)
    code = """
import os, time
try:
    for n in range(40):
        if os.fork() == 0: time.sleep(60)
except OSError: os._exit(n)
"""
    try:
        with started(held, code) as process:
            process.communicate(b"\n")
            assert process.returncode == SMALL.processes + 1, "bubblewrap has two, this has one"
    finally:
        held.remove()


@pytest.mark.parametrize("code", [MEMORY_FILES, SEGMENTS], ids=["memory files", "shared segments"])
def test_memory_of_no_process_counts_where_no_call_is_refused(
    groups: ControlGroups, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """As on a machine for which there is no filter of system calls; it is less than the kernel would keep it from."""
    monkeypatch.setattr(syscalls, "program", lambda: b"")
    with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
        sandbox = LocalSandbox(Path(root))
        result = asyncio.run(_run(sandbox, code.replace("range(12)", "range(3)") + WAIT))
    assert result.outcome is Outcome.OUT_OF_MEMORY, result


async def _run(sandbox: LocalSandbox, code: str) -> Result:
    try:
        return await (await sandbox.start(job(code, memory_mb=128, disk_mb=256), lambda _usage: None)).finished()
    finally:
        await sandbox.close()


def test_files_are_not_memory(bwrap: Lab, groups: ControlGroups) -> None:
    """They are in memory too; the run may have all of both."""
    code = """
import os, time
for n in range(6):
    for name in ("a", "/tmp/b", "/dev/shm/c"):
        with open(name, "wb") as file:
            for _ in range(30): file.write(bytes(1 << 20))
    if n < 5: os.remove("a")
x = bytes(1) * (70 << 20)
time.sleep(0.5)
print("end")
"""
    result = bwrap.run(code, memory_mb=128, disk_mb=64)
    assert (result.outcome, result.stdout) == (Outcome.OK, "end\n"), result
    assert 70 << 20 < (result.peak_memory or 0) < 128 << 20


def test_a_peak_between_two_readings_is_seen(
    bwrap: Lab, groups: ControlGroups, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "READING_EVERY", 60.0)
    code = """
import os, time
time.sleep(0.4)
pids = [os.fork() for _ in range(2)]
x = bytes(1) * (30 << 20)
if not all(pids): time.sleep(0.3); os._exit(0)
for _ in pids: os.wait()
"""
    result = bwrap.run(code, memory_mb=256)
    assert (result.peak_memory or 0) > 60 << 20, result


KILLED = """
import asyncio, os, sys
from pathlib import Path
from runner.model.request import Language, Limits
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox

async def main():
    sandbox = LocalSandbox(Path(sys.argv[1]))
    await sandbox.start(Job("1", Language.SHELL, "sleep 60", Limits()), lambda usage: None)
    print("started", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_groups_of_a_console_that_was_killed_are_removed(groups: ControlGroups, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "runs")], cwd=ROOT, stdout=subprocess.PIPE
    ) as console:
        assert console.stdout is not None
        assert console.stdout.readline() == b"started\n"
        left = list(groups._memory.glob(f"assent-*-run-{console.pid}-*"))
        assert left
        asyncio.run(LocalSandbox(tmp_path / "runs").sweep())
        assert all(folder.exists() for folder in left), "the console lives"
        console.kill()
        console.wait()
        names = asyncio.run(LocalSandbox(tmp_path / "runs").sweep())
    assert any(name.startswith(f"run-{console.pid}-") for name in names)
    assert not any(folder.exists() for folder in left)


def test_a_run_that_gets_no_group_is_not_started(
    bwrap: Lab, groups: ControlGroups, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was approved with this protection does not run without it."""
    nowhere = ("/bin/sh", "-c", group.INTO_GROUP, "assent", "/none/tasks", "--")
    monkeypatch.setattr(group.ControlGroup, "entry", nowhere)
    with pytest.raises(KnownError, match="could not be put into its control group"):
        bwrap.run("print(1)")


def test_without_groups_all_is_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_groups, "OWN", tmp_path / "none")
    with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
        sandbox = LocalSandbox(Path(root))
        ready = asyncio.run(sandbox.check())
        result = asyncio.run(_run(sandbox, "print(1)"))
    assert GROUPED not in ready.protections
    assert any(one.startswith(f"{GROUPED}: no memory controller can be reached") for one in ready.missing)
    assert result.outcome is Outcome.OK


# ---- the search, in made-up files: this kernel may have its memory controller in either version ----


class MadeUp:
    """A hierarchy of version 2 in plain files, and this process in one of its groups."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, own: str, root: str = "/") -> None:
        self.own = folder / "mount point" / os.path.relpath(own, root)
        self.own.mkdir(parents=True)
        self.put("cgroup.controllers", "cpu memory pids").put("cgroup.subtree_control", "").put("cgroup.type", "domain")
        self.put("cgroup.procs", "")
        (folder / "own").write_text(f"0::{own}\n")
        place = str(folder / "mount point").replace(" ", "\\040")
        (folder / "mounts").write_text(f"35 24 0:30 {root} {place} rw,nosuid - cgroup2 cgroup2 rw\n")
        monkeypatch.setattr(control_groups, "OWN", folder / "own")
        monkeypatch.setattr(control_groups, "MOUNTS", folder / "mounts")
        monkeypatch.setattr(control_groups, "SYSTEMD", folder / "systemd")

    def put(self, name: str, text: str) -> MadeUp:
        (self.own / name).write_text(text)
        return self


@pytest.mark.parametrize(("own", "root"), [("/", "/"), ("/a/b.scope", "/"), ("/pod/a", "/pod")])
def test_the_own_group_is_found_below_its_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, root: str
) -> None:
    made = MadeUp(tmp_path, monkeypatch, own, root)
    assert own_group("") == Path(os.path.normpath(made.own))
    assert own_group("memory") is None


def test_a_group_outside_of_what_is_mounted_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    MadeUp(tmp_path, monkeypatch, "/elsewhere", "/pod")
    assert own_group("") is None


def test_under_systemd_only_what_it_delegated_is_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = MadeUp(tmp_path, monkeypatch, "/app.scope")
    (tmp_path / "systemd").mkdir()
    with pytest.raises(KnownError, match="was not delegated to it"):
        ControlGroups.found()
    assert not (made.own / CONSOLE).exists()
    try:
        os.setxattr(made.own, "user.delegate", b"1")
    except OSError:
        pytest.skip("no extended attributes here")
    with pytest.raises(KnownError, match="cannot hand"):
        control_groups.divide(made.own)  # plain files hand nothing down
    assert (made.own / CONSOLE).is_dir()


def test_controllers_that_are_handed_down_already_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = MadeUp(tmp_path, monkeypatch, f"/app.scope/{CONSOLE}")
    above = made.own.parent
    for name, text in (("cgroup.controllers", "memory pids"), ("cgroup.subtree_control", "memory pids")):
        (above / name).write_text(text)
    (above / "cgroup.procs").touch()
    found = ControlGroups._second()
    assert found is not None
    assert found._memory == found._processes == above


def test_a_console_among_others_is_left_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = MadeUp(tmp_path, monkeypatch, "/app.scope").put("cgroup.procs", f"{os.getpid()}\n1\n")
    with pytest.raises(KnownError, match="other processes"):
        control_groups.divide(made.own)
    assert not (made.own / CONSOLE / "cgroup.procs").exists()


ASIDE = """
import subprocess, sys
from pathlib import Path
from runner.sandbox.local.control_groups import own_group, step_aside
parent = Path(sys.argv[1])
(parent / "cgroup.procs").write_text("0")
with subprocess.Popen(["/bin/sh", "-c", "read -r _"], stdin=subprocess.PIPE) as process:
    step_aside(parent)
    print(own_group("").name, process.pid in map(int, (own_group("") / "cgroup.procs").read_text().split()))
    print(repr((parent / "cgroup.procs").read_text()))
"""


def test_the_console_moves_aside_with_all_that_it_started() -> None:
    """In a real hierarchy of version 2, whatever its controllers are."""
    if (own := own_group("")) is None or not os.access(own, os.W_OK):
        pytest.skip("control groups: version 2 is not mounted, or not to be written to")
    parent = own / f"assent-test-{uuid.uuid4().hex}"
    parent.mkdir()
    try:
        said = subprocess.run([sys.executable, "-c", ASIDE, str(parent)], cwd=ROOT, capture_output=True, text=True)
        assert said.stdout.splitlines() == [f"{CONSOLE} True", "''"], said
    finally:
        assert group.remove(parent / CONSOLE)
        assert group.remove(parent)


def test_only_groups_of_runs_whose_console_is_gone_are_removed() -> None:
    living, namespace = leftovers.new_name(), os.stat("/proc/self/ns/pid").st_ino
    assert group.owned_by_nobody(Path(folder_name(living))) == ""
    assert group.owned_by_nobody(Path(f"assent-{namespace}-run-1-1-ab")) == "run-1-1-ab"
    assert group.owned_by_nobody(Path(f"assent-{namespace + 1}-run-1-1-ab")) == ""
    assert group.owned_by_nobody(Path(f"assent-{namespace}-other")) == ""


def test_a_group_that_goes_away_while_they_are_looked_for_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "a" / "b"
    namespace = os.stat("/proc/self/ns/pid").st_ino
    left = own / "other" / f"assent-{namespace}-run-1-1-ab"
    left.mkdir(parents=True)
    (own / "going").mkdir()
    look = os.scandir

    def gone(path: str | os.PathLike[str] = ".") -> object:
        if os.path.basename(os.fspath(path)) == "going":
            raise FileNotFoundError(path)
        return look(path)

    monkeypatch.setattr(control_groups, "own_group", lambda controller: None if controller else own)
    monkeypatch.setattr(os, "scandir", gone)
    assert control_groups.sweep() == {"run-1-1-ab"}
    assert not left.exists()
