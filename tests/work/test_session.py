"""A program at work in its two rings: what it and its shells see, what is told of it, and what is answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.work import CommandSeen, HostSeen, PortsSeen, WorkEnded, WorkStarted
from runner.sandbox.local.contained import MEMORY_BYTES
from runner.work import control
from runner.work.log import WorkReading
from runner.work.session import LONGEST_TEXT, NOT_RUN, TOO_LONG, WAITS
from runner.workspace.working_copy import all_below
from tests.components import require
from tests.other_account import NAMES, account_of
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
DRIVER = """
import json, os, sys
from pathlib import Path
from runner.model.network import Destination
from runner.work.judging import CommandVerdict
from runner.work.rings import InRings
from runner.work.session import Edge, WorkRun
from runner.workspace.working_copy import WorkingCopy
from runner.sandbox.local.contained import Bind

home, project, runtime, program, more = sys.argv[1:]
os.chdir(project)
more = json.loads(more)
copy = WorkingCopy.make(Path(home), Path(project), json.loads(program))

def judge(text, folder, *, prepares=False):
    return CommandVerdict("Deletes it.", "CRITICAL", (), held="held" in text)

state = tuple(Bind(one, one, True) for one in more["state"])
what = InRings(tuple(json.loads(program)), copy, state, secret=("KEY",), variables={"KEY": "secret", "PLAIN": "plain"},
    names_shell=more.get("names_shell", False))
with copy.in_use():
    quiet = tuple(map(Destination.parse, more.get("quiet", ())))
    run = WorkRun(what, Edge(quiet=quiet), Path(runtime), client="test", judge=judge, unwrapped=lambda words: words[-1])
    ended = run.run()
sys.stderr.write("END " + json.dumps([ended.code, ended.why]))
"""


class Desk:
    """A project with a home and a runtime folder, of one account."""

    def __init__(self, place: Path, account: int) -> None:
        self.account = account
        self.home, self.runtime = place / "home", place / "runtime"
        self.project, self.state = self.home / "project", self.home / ".client"
        self.work = place / "work"
        for folder in (self.project, self.state, self.work, self.runtime):
            folder.mkdir(parents=True)
        (self.project / "old").write_text("old")
        (self.state / "key").write_text("secret")
        for path in (place, *place.rglob("*")):
            os.chown(path, account, account)

    def start(self, code: str, before: tuple[str, ...] = (), **more: object) -> subprocess.Popen[str]:
        """Start a program of Python at work; `before` is what starts the driver, `more` is for it."""
        program = json.dumps(["/usr/bin/python3", "-c", code])
        words = (
            str(self.work),
            str(self.project),
            str(self.runtime),
            program,
            json.dumps({"state": [str(self.state)], **more}),
        )
        become: tuple[str, ...] = ()
        if self.account != os.geteuid():
            become = ("setpriv", f"--reuid={self.account}", f"--regid={self.account}", "--clear-groups")
        interpreter = sys.executable if self.account == os.geteuid() else "/usr/bin/python3"
        path = os.pathsep.join((str(ROOT), *(one for one in sys.path if one.endswith("site-packages"))))
        return subprocess.Popen(
            (*before, *become, interpreter, "-c", DRIVER, *words),
            env={"HOME": str(self.home), "PATH": os.defpath, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, code: str, before: tuple[str, ...] = (), **more: object) -> tuple[str, list[object]]:
        """Run it to its end; return what it printed, code and reason."""
        with self.start(code, before, **more) as process:
            said, errors = process.communicate(timeout=HANGS)
        assert "END " in errors, errors
        end: list[object] = json.loads(errors.partition("END ")[2])
        return said, end

    @property
    def is_made(self) -> bool:
        return bool(all_below(self.work))

    @property
    def name(self) -> str:
        return all_below(self.work)[0].name

    def events(self) -> list[object]:
        return list(WorkReading(self.work / self.name).new())


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    end = time.monotonic() + HANGS
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@pytest.fixture(params=NAMES)
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    require("bubblewrap")
    account = account_of(request.param)
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        os.chmod(place, 0o755)
        yield Desk(Path(place) / "desk", account)


SHELL = """
import os, subprocess
def shell(text, name="bash"):
    done = subprocess.run([name, "-c", text], capture_output=True, text=True)
    print("|".join((str(done.returncode), done.stdout.strip(), done.stderr.strip())).replace("\\n", ";"))
"""


def test_a_shell_is_in_the_inner_ring(desk: Desk) -> None:
    said, end = desk.run(
        SHELL + "print(open(os.path.expanduser('~/.client/key')).read(), os.environ['KEY'])\n"
        "shell('ls -A ~ | grep -v project; echo $KEY$PLAIN; pwd; echo new > made; exit 7')\n"
        "shell('ls /run/assent; cat /proc/1/environ | grep -c secret; unshare -U true && echo out', 'sh')\n"
        "os.system('echo more >> old')\n"
    )
    lines = said.splitlines()
    assert end == [0, ""]
    assert lines[0] == "secret secret"
    assert lines[1] == f"7|plain;{desk.project}|"
    assert lines[2].startswith("1|0|") or lines[2].split("|")[1] == "0"
    assert (desk.project / "old").read_text() == "old"
    assert sorted(os.listdir(desk.project)) == ["old"]
    changes = all_below(desk.work)[0].changes().changes
    assert {one.path: one.how.value for one in changes} == {b"made": "added", b"old": "changed"}


def test_nothing_of_the_outer_ring_is_open_in_the_inner_one(desk: Desk) -> None:
    """What its first processes have open can be opened by all in it: the terminal, the way to Assent."""
    said, _ = desk.run(
        SHELL + "print(*(os.readlink(f'/proc/self/fd/{one}') for one in (1, 2)))\n"
        "shell('for n in 1 2; do for f in /proc/$n/fd/*; do readlink $f; done; done')\n"
    )
    outer, inner = said.splitlines()
    found = inner.split("|")[1].split(";")
    assert not set(outer.split()) & set(found)
    assert sorted(one.partition(":")[0] for one in found) == [*["/dev/null"] * 4, "anon_inode", "pipe", "pipe"]


def test_what_the_inner_ring_has_in_memory_is_bounded(desk: Desk) -> None:
    said, _ = desk.run(SHELL + "shell('df --output=size -B1 /run /dev/shm /var/tmp')\n")
    assert [int(size) for size in said.split("|")[1].split(";")[1:]] == [MEMORY_BYTES] * 3


def test_commands_are_told_with_the_start_and_the_end(desk: Desk) -> None:
    desk.run(SHELL + "shell('echo 1')\nshell('echo \"a\\n  b\"', 'sh')\n")
    events = desk.events()
    assert isinstance(events[0], WorkStarted)
    assert [(one.number, one.text, one.folder) for one in events if isinstance(one, CommandSeen)] == [
        (1, "echo 1", str(desk.project)),
        (2, 'echo "a\n  b"', str(desk.project)),
    ]
    assert isinstance(events[-1], WorkEnded)


def test_a_host_is_refused_in_both_rings_and_told(desk: Desk) -> None:
    ask = "import urllib.request as u\ntry: u.urlopen('http://example.com')\nexcept Exception as e: print(e)\n"
    said, _ = desk.run(SHELL + ask + f"shell({f'python3 -c {json.dumps(ask)}'!r})\n".replace("\\\\n", "\\n"))
    assert "Blocked by Assent" in said.splitlines()[0]
    refused = [one.contact for one in desk.events() if isinstance(one, HostSeen)]
    assert {(one.host, one.allowed) for one in refused} == {("example.com", False)}


def test_what_the_program_does_without_is_asked_for_its_shells(desk: Desk) -> None:
    """Else what a command needs is refused in silence, as its client looks there for news of itself."""
    ask = "import urllib.request as u\ntry: u.urlopen('http://example.com')\nexcept Exception as e: print(e)\n"
    desk.run(ask, quiet=["example.com:80"])
    assert {one.quiet for one in desk.events() if isinstance(one, HostSeen)} == {True}
    for copy in all_below(desk.work):
        copy.discard()
    desk.run(SHELL + "shell('curl -s http://example.com')\n", quiet=["example.com:80"])
    assert {one.quiet for one in desk.events() if isinstance(one, HostSeen)} == {False}


def test_folders_above_the_project_look_as_outside(desk: Desk) -> None:
    desk.project = desk.home / "src/deep"
    desk.project.mkdir(parents=True)
    for folder in (desk.project, desk.project.parent):
        os.chown(folder, desk.account, desk.account)
    os.chmod(desk.home, 0o751)
    os.chmod(desk.home / "src", 0o750)
    folders = [str(one) for one in desk.project.parents[:-1]]
    look = f"stat -c %a {' '.join(folders)}"
    said, _ = desk.run(SHELL + f"print(*(oct(os.stat(one).st_mode)[-4:] for one in {folders}))\nshell({look!r})\n")
    outer, inner = said.splitlines()
    there = [oct(os.stat(one).st_mode)[-4:] for one in folders]
    assert there[:2] == ["0750", "0751"]
    assert outer.split() == [one.zfill(4) for one in inner.split("|")[1].split(";")] == there


@pytest.mark.skipif(os.geteuid() != 0, reason="another /etc is mounted by root")
def test_a_bare_system_has_no_file_of_hosts(desk: Desk, tmp_path: Path) -> None:
    mount = 'cp -a /etc "$1" && rm "$1/hosts" && mount --bind "$1" /etc && shift && exec "$@"'
    before = ("unshare", "-m", "sh", "-c", mount, "sh", str(tmp_path / "etc"))
    look = "grep -c 127.0.0.1 /etc/hosts; ls -d /etc/passwd; echo x 2>&- >/etc/new || echo closed"
    said, end = desk.run(SHELL + f"print(os.path.exists('/etc/hosts'))\nshell({look!r})\n", before)
    assert end == [0, ""]
    assert said.splitlines() == ["True", "0|1;/etc/passwd;closed|"]


def test_a_shell_calls_itself_as_its_program_does(desk: Desk) -> None:
    assert desk.run(SHELL + "shell('echo $0')\n", names_shell=True)[0].strip() == "0|bash|"


def test_tools_do_not_look_for_news_of_themselves(desk: Desk) -> None:
    said, _ = desk.run(SHELL + "shell('echo $NPM_CONFIG_UPDATE_NOTIFIER $PIP_DISABLE_PIP_VERSION_CHECK')\n")
    assert said.strip() == "0|false 1|"


@pytest.mark.parametrize("runs", [True, False])
def test_a_held_command_waits_for_its_answer(desk: Desk, runs: bool) -> None:
    with desk.start(SHELL + "shell('echo held')\n") as process:
        until(lambda: bool(all_below(desk.work)) and any(isinstance(one, CommandSeen) for one in desk.events()))
        with pytest.raises(KnownError, match="not waiting"):
            control.order(desk.runtime, desk.name, "answer", number=9, run=True)
        control.order(desk.runtime, desk.name, "answer", number=1, run=runs, why="Not now.")
        said, _ = process.communicate(timeout=HANGS)
    waits = WAITS.format(name=desk.name, number=1)
    expected = f"0|held|{waits}" if runs else f"126||{waits};Assent: a person refused this command. Not now."
    assert said.strip() == expected


def test_a_command_is_judged_whole_however_long(desk: Desk) -> None:
    """Else what is to be held stands behind the part that is kept."""
    said, _ = desk.run(
        SHELL + f"shell('echo 1 #' + 'x' * {LONGEST_TEXT} + '\\necho held')\nshell('echo 2 #' + 'x' * {LONGEST_TEXT})\n"
    )
    assert said.splitlines() == [f"126||{NOT_RUN} {TOO_LONG}", "0|2|"]
    seen = [one for one in desk.events() if isinstance(one, CommandSeen)]
    assert [(one.held, one.refused) for one in seen] == [(False, TOO_LONG), (False, "")]
    assert all(one.text.endswith("more characters are not shown]") for one in seen)


def test_it_can_be_ended_and_measured_from_outside(desk: Desk) -> None:
    with desk.start(SHELL + "shell('sleep 1000')\n") as process:
        until(lambda: bool(all_below(desk.work)) and any(isinstance(one, CommandSeen) for one in desk.events()))
        assert control.order(desk.runtime, desk.name, "usage")["processes"] > 2
        control.order(desk.runtime, desk.name, "end", why="Lockdown.")
        process.communicate(timeout=HANGS)
    assert [(one.code, one.why) for one in desk.events() if isinstance(one, WorkEnded)] == [(137, "Lockdown.")]
    with pytest.raises(KnownError, match="no longer at work"):
        control.order(desk.runtime, desk.name, "usage")


def test_a_port_inside_is_seen_and_carried_outside(desk: Desk) -> None:
    serve = "cd /tmp; echo page > index.html; exec python3 -m http.server 5173 --bind 127.0.0.1"
    with desk.start(SHELL + f"shell({serve!r})\n") as process:
        until(lambda: any(isinstance(one, PortsSeen) and one.ports for one in desk.events()) if desk.is_made else False)
        with pytest.raises(KnownError, match="Nothing inside listens"):
            control.order(desk.runtime, desk.name, "carry", port=5174)
        address = control.order(desk.runtime, desk.name, "carry", port=5173)["address"]
        with urllib.request.urlopen(f"http://{address}/", timeout=HANGS) as page:
            assert page.read() == b"page\n"
        assert [one.ports for one in desk.events() if isinstance(one, PortsSeen)] == [((5173, ""),), ((5173, address),)]
        control.order(desk.runtime, desk.name, "end")
        process.communicate(timeout=HANGS)


def test_no_process_of_the_rings_is_without_the_filter(desk: Desk) -> None:
    look = (
        "import os, re\n"
        "def at_work():\n"
        "    found = {}\n"
        "    for one in filter(str.isdigit, os.listdir('/proc')):\n"
        "        found[one] = re.search(r'Seccomp:\\t(\\d)', open(f'/proc/{one}/status').read())[1]\n"
        "    return found\n"
    )
    said, end = desk.run(SHELL + look + "print(*at_work().values())\nshell('grep -h Seccomp: /proc/[0-9]*/status')\n")
    outer, inner = said.splitlines()
    assert end == [0, ""]
    assert len(outer.split()) >= 3 and set(outer.split()) == {"2"}
    assert "Seccomp:\t0" not in inner and "Seccomp:\t2" in inner


def test_it_ends_with_the_code_or_signal_of_its_program(desk: Desk) -> None:
    assert desk.run("raise SystemExit(9)")[1] == [9, ""]
    assert desk.run("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")[1] == [143, ""]
