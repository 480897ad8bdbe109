"""No other program of the account looks into the console; what it writes of its own end is written all the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOOK = """
import ctypes, os, sys
from runner.system.private import SET_DUMPABLE, keep_private
if os.geteuid() == 0:
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    ctypes.CDLL(None).prctl(SET_DUMPABLE, 1, 0, 0, 0)  # lost with the change of the account

def look():
    watcher = os.fork()
    if watcher == 0:
        try:
            open(f"/proc/{os.getppid()}/environ", "rb").read()
        except PermissionError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(watcher, 0)[1])

open_to_all = look()
assert keep_private()
print(open_to_all, look())
"""
CRASH = """
import faulthandler, os, resource, signal, sys
from runner.system.private import keep_private
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
keep_private()
faulthandler.enable(open(sys.argv[1], "w"))
os.kill(os.getpid(), signal.SIGSEGV)
"""


def test_a_program_of_the_same_account_cannot_look_into_it() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"], "readable before, and not after"


def test_the_stacks_of_a_crash_are_written_all_the_same(tmp_path: Path) -> None:
    log = tmp_path / "faults.log"
    done = subprocess.run([sys.executable, "-c", CRASH, str(log)], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode < 0
    assert "Segmentation fault" in log.read_text()


@pytest.mark.parametrize("file", ["app/start/opening.py", "runner/commands/terminal.py"])
def test_every_console_does_so_first(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    body = text[text.index("\ndef main(") :]
    assert re.search(r"^    keep_private\(\)$", body[: body.index("return 0")], re.M)


def test_nobody_else_can_write_to_what_a_command_makes(home: Path) -> None:
    command = f"umask 000; exec {sys.executable} -m app agents add claude"
    subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, check=True)
    made = [home, *home.rglob("*")]
    assert len(made) > 2
    assert [path for path in made if path.stat().st_mode & 0o022] == []
