"""What code behind bubblewrap cannot see, reach or change."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language

if TYPE_CHECKING:
    from tests.sandbox.conftest import Lab

SHELL = Language.SHELL


HIDDEN = """
/etc/shadow /etc/hostname /etc/machine-id /var/log /root/.ssh /root/.profile /home /boot /opt /srv /mnt /sys
/proc/1/root/etc/shadow
"""


def test_files_of_the_host_are_not_there(bwrap: Lab, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("of the host")
    places = [*HIDDEN.split(), str(secret), str(Path(__file__)), str(Path.home() / ".profile")]
    result = bwrap.run(f"import os\nfor path in {places!r}:\n    if os.path.exists(path): print(path)")
    assert (result.stdout, result.exit_code) == ("", 0)


def test_homes_are_empty_but_for_the_interpreter(bwrap: Lab) -> None:
    result = bwrap.run("ls -A /home /root 2>/dev/null; ls -d ~", SHELL)
    assert result.stdout.splitlines()[-1] == "/workspace"
    assert result.stdout.splitlines()[:-1] == []


def test_sockets_of_the_host_are_not_there(bwrap: Lab) -> None:
    result = bwrap.run(
        "find / -xdev \\( -type s -o -name '*.sock' -o -name docker* -path '/run*' \\) 2>/dev/null; ls /run", SHELL
    )
    assert result.stdout == "assent\n"


def test_no_network(bwrap: Lab) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"""
import socket
for address in [("127.0.0.1", {port}), ("192.0.2.1", 80), ("8.8.8.8", 53)]:
    try:
        socket.create_connection(address, 1); print("connected", address)
    except OSError as error:
        print(type(error).__name__)
try:
    socket.getaddrinfo("localhost.example", 80); print("resolved")
except OSError: print("unresolved")
print([name for _, name in socket.if_nameindex()])
"""
        result = bwrap.run(code)
        # A connection would wait here now, whatever the code was told.
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "connected" not in result.stdout, result
    assert result.stdout.splitlines()[-2:] == ["unresolved", "['lo']"]


def test_abstract_sockets_of_the_host_are_out_of_reach(bwrap: Lab) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        name = f"\0assent-test-{os.getpid()}"
        server.bind(name)
        server.listen()
        code = f"""
import socket
try:
    socket.socket(socket.AF_UNIX).connect({name!r}); print("in")
except OSError: print("out")
"""
        assert bwrap.run(code).stdout == "out\n"


def test_other_processes_are_invisible(bwrap: Lab) -> None:
    code = f"""
import os
pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
print(pids)
for pid in ({os.getpid()}, {os.getppid()}):
    try:
        os.kill(pid, 0); print("there")
    except OSError: print("not there")
"""
    pids, *kills = bwrap.run(code).stdout.splitlines()
    assert len(pids.split(",")) <= 2
    assert kills == ["not there", "not there"]


def test_the_environment_is_given_not_inherited(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "of-the-host")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere")
    monkeypatch.setenv("PYTHONSTARTUP", "/somewhere")
    names = set(lab.run("import os; print(*sorted(os.environ))").stdout.split())
    assert names - {"LC_CTYPE", "PWD", "SHLVL"} == {"ASSENT_RUN", "HOME", "LANG", "LOGNAME", "PATH", "TMPDIR", "USER"}


def test_no_stray_descriptors(lab: Lab, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        code = """
import os
for fd in range(64):
    try: print(os.readlink(f"/proc/self/fd/{fd}"))
    except OSError: pass
"""
        python = lab.run(code)
        shell = lab.run("for fd in /proc/$$/fd/*; do readlink $fd; done", SHELL)
    assert _kinds(python.stdout) == {"/dev/null", "pipe", "/memfd", "orders"}
    assert _kinds(shell.stdout) == {"/dev/null", "pipe", "main.sh"}


def _kinds(links: str) -> set[str]:
    """What descriptors are, without numbers and folders of ours."""
    return {
        Path(link).name if link.startswith(("/run/", "/workspace", "/tmp")) else link.split(":")[0]
        for link in links.split()
    } - {"(deleted)"}


def test_the_system_cannot_be_changed(bwrap: Lab) -> None:
    code = """
import os
for place in "/usr/x /usr/bin/x /etc/x /x /run/x /run/assent/x /dev/x /bin/sh /etc/passwd".split():
    try:
        open(place, "ab").write(b"x"); print("wrote", place)
    except OSError: pass
print("end")
"""
    assert bwrap.run(code).stdout == "end\n"


def test_no_privileges(bwrap: Lab) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(status["CapEff"], status["CapPrm"], status["CapAmb"], status["NoNewPrivs"])
print(os.getuid() != 0, os.geteuid() != 0, os.getgroups())
print(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.sethostname(b"x", 1), libc.chroot(b"/tmp"))
try: os.setuid(0); print("root")
except OSError: print("no root")
"""
    caps, user, calls, root = bwrap.run(code).stdout.splitlines()
    assert caps == " ".join(["0" * 16] * 3 + ["1"])
    assert user.startswith("True True")
    assert calls == "-1 -1 -1"
    assert root == "no root"


def test_limits_cannot_be_raised(lab: Lab) -> None:
    code = """
import resource
for name in ("NPROC", "DATA", "FSIZE", "CORE"):
    kind = getattr(resource, "RLIMIT_" + name)
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); print("raised", name)
    except (ValueError, OSError): pass
print("end")
"""
    assert lab.run(code).stdout == "end\n"


def test_runs_do_not_see_each_other(lab: Lab) -> None:
    lab.run(
        "open('left.txt', 'w').write('x'); open('/tmp/left-by-assent-test', 'w').write('x')"
        if lab.bubblewrap
        else "open('left.txt', 'w')"
    )
    assert (
        lab.run("import os; print(os.path.exists('left.txt'), os.path.exists('/tmp/left-by-assent-test'))").stdout
        == "False False\n"
    )
    assert not Path("/tmp/left-by-assent-test").exists()


def test_no_terminal_to_type_into(lab: Lab) -> None:
    code = "import os\ntry:\n    os.open('/dev/tty', os.O_RDWR); print('tty')\nexcept OSError: print('none')"
    assert lab.run(code).stdout == "none\n"


USER_SCRIPT = """
import asyncio, sys
from pathlib import Path
from runner.model.request import Language, Limits
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox

LOOK = '''
import os, subprocess
started = []
try:
    for _ in range(60): started.append(subprocess.Popen(["sleep", "60"]))
except OSError: pass
for process in started:
    process.kill()
    process.wait()
wrote = []
for place in ("/x", "/etc/x", "/run/x", "/run/assent/x", "/dev/x", "/usr/x"):
    try:
        open(place, "w").close(); wrote.append(place)
    except OSError: pass
nested = subprocess.run(["unshare", "--user", "true"], stderr=subprocess.DEVNULL).returncode == 0
host = os.path.exists("/var/log")
result = {"started": len(started), "user": os.getuid(), "nested": nested, "wrote": wrote, "host": host}
'''
DEAF = "trap '' TERM; while :; do sleep 1; done"
FILL = "open('f', 'wb').write(bytes(20 << 20))"

async def main():
    for bubblewrap in (True, False):
        sandbox = LocalSandbox(Path(sys.argv[1]), bubblewrap=bubblewrap)
        ready = await sandbox.check()
        assert ready.ready and ("bubblewrap" in ready.versions) is bubblewrap, ready
        assert any(one.startswith("system calls") for one in ready.protections) is bubblewrap, ready

        async def run(code, language=Language.PYTHON, **limits):
            started = await sandbox.start(Job("x", language, code, Limits(**limits)), lambda usage: None)
            return await started.finished()

        seen = await run(LOOK, processes=32)
        assert seen.outcome == "ok", seen
        assert seen.value["started"] < 33, seen.value
        if bubblewrap:
            assert seen.value == {**seen.value, "user": 1000, "nested": False, "wrote": [], "host": False}, seen.value
        assert (await run(DEAF, Language.SHELL, seconds=0.3)).outcome == "timed out"
        assert (await run(FILL, disk_mb=8)).outcome == "out of disk"
        await sandbox.close()
    print("ALL WELL")

asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="everything here runs as an ordinary user already")
def test_as_an_ordinary_user() -> None:
    """What root's tests cannot show: user namespaces, and limits that count within them."""
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        folder = Path(place)
        for part in ("runner", "resources/seccomp"):
            shutil.copytree(Path(__file__).resolve().parents[2] / part, folder / part)
        (folder / "script.py").write_text(textwrap.dedent(USER_SCRIPT))
        (folder / "root").mkdir()
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        os.chown(folder / "root", 5555, 5555)
        python = sys.executable if _reachable(sys.base_prefix) and _reachable(sys.prefix) else "/usr/bin/python3"
        command = ["setpriv", "--reuid=5555", "--regid=5555", "--clear-groups", python, "-B", "script.py", "root"]
        done = subprocess.run(command, cwd=folder, env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]},
                              capture_output=True, text=True, timeout=90)  # fmt: skip
    assert done.stdout.endswith("ALL WELL\n"), done.stdout + done.stderr


def _reachable(path: str) -> bool:
    return all(place.stat().st_mode & 1 for place in (Path(path), *Path(path).parents))
