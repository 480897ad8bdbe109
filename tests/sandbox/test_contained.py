"""Hostile programs over a working copy: what they reach, whom they end, and that nothing of them is left."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from runner.model.errors import KnownError
from runner.network.gate import Gate
from runner.sandbox.local import contained
from runner.sandbox.local.listeners import LocalDoors
from runner.workspace.working_copy import all_below
from tests import direct_gvisor
from tests.components import require
from tests.other_account import NAMES, account_of
from tests.patience import HANGS
from tests.sandbox.conftest import wait_until
from tests.sandbox.test_ending import alive
from tests.small_disk import small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
import json, os, sys
from pathlib import Path
from runner.sandbox.local import contained
from runner.sandbox.gvisor.enclosed import enclosed
from runner.sandbox.gvisor.program import Runsc
from runner.workspace.working_copy import WorkingCopy
project, work, way, runsc, least, *words = sys.argv[1:]
os.chdir(project)
copy = WorkingCopy.make(Path(work), Path(project), words, way=way)
temporary = copy.folder / "tmp"
what = contained.Contained(tuple(words), Path(project), copy.shown, temporary, least_free=int(least))
if runsc:
    what = enclosed(what, Runsc.found(runsc))
with copy.in_use():
    ended = contained.run(what, copy.command)
found = [os.fsdecode(one.path) for one in copy.changes().changes]
print("END " + json.dumps([ended.code, ended.why, ended.told, found]), file=sys.stderr)
"""
ATTACKS = r"""
import ctypes, fcntl, json, os, pty, socket, sys
given = json.loads(sys.argv[1])
reached = []
def attempt(name, act):
    try:
        if act() is not False:
            reached.append(name)
    except (OSError, ImportError):
        pass
attempt("descriptors", lambda: len(os.listdir("/proc/self/fd")) > 4)  # one is that of the list itself
for path in given["files"]:
    attempt("read " + path, lambda: os.close(os.open(path, os.O_RDONLY)))
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/1/mem", "/sys/kernel/mm/ksm/run"):
    attempt("open " + path, lambda: os.close(os.open(path, os.O_WRONLY)))
for folder in ("/", "/dev", "/etc", "/usr", "/opt"):
    attempt("write into " + folder, lambda: open(folder + "/planted", "w"))
for folder in ("/run", "/var/tmp", "/dev/shm", os.path.expanduser("~")):
    size = os.statvfs(folder)
    attempt("much room in " + folder, lambda: size.f_blocks * size.f_frsize > 1 << 30)
for kind, address in given["sockets"]:
    attempt("connect to " + str(address), lambda: socket.socket(kind).connect(
        tuple(address) if isinstance(address, list) else address))
attempt("signal", lambda: os.kill(given["process"], 0) or given["process"] > 10)
attempt("mknod", lambda: os.mknod("device", 0o20666, os.makedev(1, 1)))
libc = ctypes.CDLL(None, use_errno=True)
attempt("unshare", lambda: libc.unshare(0x10000000) == 0)
attempt("mount", lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0)
attempt("ptrace", lambda: libc.ptrace(16, 1, 0, 0) == 0)
for request in (0x5412, 0x100005412):
    attempt("type", lambda: libc.ioctl(pty.openpty()[1], ctypes.c_ulong(request), b"x") == 0)
status = open("/proc/self/status").read()
attempt("capabilities", lambda: "CapEff:\t0000000000000000" not in status)
attempt("rights of the owner", lambda: "NoNewPrivs:\t1" not in status)
attempt("standard input", lambda: os.write(os.open("/proc/self/fd/0", os.O_RDWR), b"planted"))
open("result", "w").write(json.dumps(reached))
print("REACHED " + json.dumps(reached))
"""


OWN_INPUT = "standard input"
"""Writing into the pipe of its own input is nothing."""
OF_GVISOR = {
    "open /proc/sysrq-trigger",
    "write into /dev",
    "unshare",
    "capabilities",
    "rights of the owner",
}
"""What the program has of gVisor's kernel, and not of the machine's: its /proc and /dev, which are in memory, and
namespaces, in which it has capabilities. `NoNewPrivs` that kernel does not report."""


class Stage(NamedTuple):
    """A home with a project in it, of an account."""

    home: Path
    account: int
    way: str
    disk: Path | None = None
    runsc: str = ""
    """Path of the program, where it runs in gVisor."""

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def work(self) -> Path:
        return (self.disk or self.home / ".local/state/assent") / "work"

    def command(self, *words: str, least: int = 0) -> list[str]:
        """Return what runs `words` over the project."""
        other = self.account != os.geteuid()
        account = ["setpriv", f"--reuid={self.account}", f"--regid={self.account}", "--clear-groups"] if other else []
        python = "/usr/bin/python3" if other else sys.executable
        given = (str(self.project), str(self.work), self.way, self.runsc, str(least))
        return [*account, python, "-c", DRIVER, *given, *words]

    @property
    def environment(self) -> dict[str, str]:
        packages = [one for one in sys.path if one.endswith("site-packages")]
        path = os.pathsep.join([str(ROOT), *packages])
        return {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": path}

    def run(self, *words: str, least: int = 0) -> tuple[list[object], str]:
        """Run `words`; return code, why and changes, and what they printed."""
        done = subprocess.run(
            self.command(*words, least=least),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=HANGS,
            check=False,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # an end of the group would be one of the tests
        )
        return end_of(done.stderr), done.stdout


def end_of(said: str) -> list[object]:
    """Return what the driver said of the end."""
    lines = [line for line in said.splitlines() if line.startswith("END ")]
    assert lines, said
    found: list[object] = json.loads(lines[-1].removeprefix("END "))
    return found


@pytest.fixture(params=["overlay", "copy", "gvisor"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=NAMES)
def stage(request: pytest.FixtureRequest, way: str) -> Iterator[Stage]:
    require("bubblewrap")
    account = account_of(request.param)
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        os.chmod(place, 0o755)
        stage = Stage(Path(place) / "home", account, way)
        if way == "gvisor":
            stage = stage._replace(way="overlay", runsc=f"{place}/runsc")
            shutil.copy(direct_gvisor.program(), stage.runsc)
        for folder in (stage.home, stage.project, stage.home / ".ssh", stage.work / "other" / "up"):
            folder.mkdir(parents=True)
        for file in (stage.project / "old", stage.home / ".ssh/id", stage.work / "other/up/secret"):
            file.write_text("secret")
        (stage.work.parent / "key").write_text("secret")
        for path in (stage.home, *stage.home.rglob("*")):
            os.chown(path, account, account)
        yield stage


def test_a_hostile_program_reaches_nothing(stage: Stage) -> None:
    outside = stage.home / "input"
    outside.write_text("as it was")
    os.chown(outside, stage.account, stage.account)
    files = [stage.home / ".ssh/id", stage.work.parent / "key", stage.work / "other/up/secret", outside]
    system = [Path("/etc/shadow"), Path("/etc/gshadow"), Path("/root"), Path("/var/lib"), Path("/proc/kcore")]
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0assent-test-" + stage.home.parent.name)
        abstract.listen()
        sockets = [
            (socket.AF_INET, ["127.0.0.1", tcp.getsockname()[1]]),
            (socket.AF_UNIX, "\0assent-test-" + stage.home.parent.name),
            (socket.AF_UNIX, "/var/run/docker.sock"),
            (socket.AF_UNIX, "/run/dbus/system_bus_socket"),
            (socket.AF_UNIX, "/tmp/.X11-unix/X0"),
        ]
        given = {"files": [str(one) for one in (*files, *system)], "sockets": sockets, "process": os.getpid()}
        with outside.open() as opened:
            done = subprocess.run(
                stage.command("python3", "-c", ATTACKS, json.dumps(given)),
                env=stage.environment,
                stdin=opened,
                capture_output=True,
                text=True,
                timeout=HANGS,
                check=False,
            )
    (said,) = (line for line in done.stdout.splitlines() if line.startswith("REACHED "))
    reached = {*json.loads(said.removeprefix("REACHED "))} - {OWN_INPUT} - (OF_GVISOR if stage.runsc else set())
    assert not reached, done.stdout + done.stderr
    assert outside.read_text() == "as it was"
    assert end_of(done.stderr) == [0, "", 0, ["result"]]
    assert os.listdir(stage.project) == ["old"]


def test_an_end_of_the_whole_group_ends_nobody_outside(stage: Stage) -> None:
    ended, _ = stage.run("sh", "-c", "echo new > new; kill -9 0")
    assert ended == [137, "", 0, ["new"]]


def test_nothing_goes_on_once_it_has_ended(stage: Stage) -> None:
    mark = f"mark-{stage.home.parent.name}"
    ended, _ = stage.run("sh", "-c", f"setsid sh -c 'while :; do date >> file; done; : {mark}' & sleep 0.2; exit 3")
    assert ended[0] == 3 and not alive(f"; : {mark}")


def test_input_and_output_that_are_files_are_whole(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("line\n" * 50_000)
    with (tmp_path / "in").open() as source, (tmp_path / "out").open("w") as target:
        words = stage.command("sh", "-c", "cat; echo said >&2; kill -9 $$")
        done = subprocess.run(words, env=stage.environment, stdin=source, stdout=target, stderr=target, check=False)
    assert done.returncode == 0
    said = (tmp_path / "out").read_text()
    assert said.startswith("line\n" * 50_000 + "said\n") and end_of(said)[0] == 137


def test_streams_of_a_program_in_gvisor_do_not_share_their_flags(stage: Stage) -> None:
    seen = "import fcntl, os; print([bool(fcntl.fcntl(one, fcntl.F_GETFL) & os.O_NONBLOCK) for one in range(3)])"
    words = stage.command("python3", "-c", seen)
    done = subprocess.run(
        words,
        env=stage.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert "[False, False, False]" in done.stdout, done.stdout


def test_it_has_the_ids_of_its_account(stage: Stage) -> None:
    ended, said = stage.run("sh", "-c", "id -u; id -g; echo n > new; stat -c %u:%g new old")
    account = f"{stage.account}"
    assert ended[0] == 0 and said.split() == [account, account, *[f"{account}:{account}"] * 2]


def test_nothing_is_left_of_a_program_that_could_not_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("bubblewrap")
    (tmp_path / "project").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    waiting: list[int] = []

    def failing(_doors: LocalDoors, process: int) -> None:
        waiting.append(os.pidfd_open(process))
        raise KnownError("no network")

    monkeypatch.setattr(LocalDoors, "open", failing)
    gate = Gate(())
    project = tmp_path / "project"
    what = contained.Contained(("true",), project, project, tmp_path / "tmp", gate=gate, least_free=0)
    with pytest.raises(KnownError, match="no network"):
        contained.run(what, lambda words: words)
    gate.close()
    assert select.select(waiting, [], [], 0)[0] == waiting, "it still waits for the word to start"
    os.close(waiting[0])


def test_a_program_that_fills_the_disk_is_ended(stage: Stage) -> None:
    grow = "open('big', 'wb').write(bytes(1_500_000)); import time; time.sleep(600)"
    with small_disk(stage.home) as disk:
        os.chown(disk, stage.account, stage.account)
        ended, _ = stage._replace(disk=disk).run("python3", "-c", grow, least=1 << 20)
    assert ended[0] == 137 and "of the disk was left" in str(ended[1])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_the_end_of_assent_ends_it_and_leaves_the_changes(stage: Stage, number: signal.Signals) -> None:
    mark = f"mark-{stage.home.parent.name}"
    words = stage.command("sh", "-c", f"trap '' TERM HUP; echo new > new; echo on; while :; do sleep 1; done; : {mark}")
    # Below nohup it would be ignored, in Assent too.
    heard = partial(signal.signal, number, signal.SIG_DFL) if number is not signal.SIGKILL else None
    with subprocess.Popen(
        words, env=stage.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard
    ) as driver:
        assert driver.stdout is not None and driver.stdout.readline() == "on\n"
        driver.send_signal(number)
        _, said = driver.communicate(timeout=HANGS)
    assert wait_until(lambda: not alive(mark))
    if number is signal.SIGKILL:
        assert driver.returncode == -signal.SIGKILL
    else:
        assert end_of(said) == [137, f"It was ended, as Assent was ({number.name}).", int(number), ["new"]]
    (copy,) = all_below(stage.work)
    assert [one.path for one in copy.changes().changes] == [b"new"]


@pytest.mark.parametrize(("files", "left", "is_full"), [(10**6, 49_999, True), (10**6, 50_000, False), (0, 0, False)])
def test_a_disk_is_full_as_well_where_it_has_room_for_no_more_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, left: int, is_full: bool
) -> None:
    """However small they are: a program could use up what a disk has of them, and nobody could make one any more."""
    disk = SimpleNamespace(f_bavail=1 << 30, f_frsize=4096, f_files=files, f_favail=left)
    monkeypatch.setattr(os, "statvfs", lambda _path: disk)
    what = contained.Contained(("true",), tmp_path, tmp_path, tmp_path)
    assert bool(contained._is_full(what)) is is_full
