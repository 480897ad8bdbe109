"""Approved code over the working copy of a program at work: asked by its door, run over its layer, never elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from runner.system.places import Places
from runner.workspace.working_copy import all_below
from tests import container_engine as engine
from tests.components import require
from tests.e2b_server.server import Loopback
from tests.other_account import NAMES, account_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.workspace.working_copy import WorkingCopy

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(180)


class Found(NamedTuple):
    """What came of a story."""

    told: list[Any]
    requests: list[dict[str, Any]]
    more: dict[str, Any]
    errors: str


class Desk:
    """The home folder of one account with a project in it."""

    def __init__(self, home: Path, account: int) -> None:
        self.account, self.home = account, home
        self.engine = ""
        """Where the container engine answers."""
        self.service = ""
        """Where sandboxes of another machine are made."""
        self.project = home / "dev" / "project"
        for folder in (self.project, home / "assent", home / "bin"):
            folder.mkdir(parents=True)
        (self.project / "old").write_text("old\n")
        (self.project / "helper.js").write_text("module.exports = 42;\n")
        (self.project / "helper.py").write_text("ANSWER = 42\n")
        for path in (home, *home.rglob("*")):
            os.chown(path, account, account)

    def run(self, story: str, code: str) -> Found:
        become: tuple[str, ...] = ()
        if self.account != os.geteuid():
            become = ("setpriv", f"--reuid={self.account}", f"--regid={self.account}", "--clear-groups")
        interpreter = sys.executable if self.account == os.geteuid() else "/usr/bin/python3"
        path = os.pathsep.join((str(ROOT), *(one for one in sys.path if one.endswith("site-packages"))))
        done = subprocess.run(
            (*become, interpreter, "-m", "tests.work.console_driver", str(self.home), story, code),
            env={
                "HOME": str(self.home),
                "PATH": os.defpath,
                "PYTHONPATH": path,
                "PYTHONDONTWRITEBYTECODE": "1",
                "DOCKER_HOST": self.engine,
                "E2B_AT": self.service,
            },
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "FOUND " in done.stdout, done.stdout + done.stderr
        found = json.loads(done.stdout.partition("FOUND ")[2])
        return Found(found.pop("told"), found.pop("requests"), found, done.stderr)

    @property
    def copy(self) -> WorkingCopy:
        (copy,) = all_below(Places.under(self.home / "assent").work)
        return copy

    def changed(self) -> dict[str, str]:
        return {one.path.decode(): one.how.value for one in self.copy.changes().changes}


@pytest.fixture(params=NAMES)
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    require("bubblewrap")
    account = account_of(request.param)
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        os.chmod(place, 0o755)
        yield Desk(Path(place) / "home", account)


@pytest.mark.parametrize("story", ["approving", "over_a_copy"])
def test_approved_code_runs_over_the_project_as_the_program_sees_it(desk: Desk, story: str) -> None:
    found = desk.run(
        story,
        "server = Server()\n"
        "shell('echo of the shell > made; rm old')\n"
        "tell(server.run('pwd; ls; cat made; echo of the run > ran; stat -c %U:%a .'))\n"
        "tell(shell('cat ran; ls'))\n",
    )
    assert found.told == [
        ["/workspace\nhelper.js\nhelper.py\nmade\nof the shell\nsandbox:755"],
        ["of the run\nhelper.js\nhelper.py\nmade\nran\n"],
    ]
    assert desk.changed() == {"made": "added", "old": "deleted", "ran": "added"}
    assert sorted(os.listdir(desk.project)) == ["helper.js", "helper.py", "old"]
    (asked,) = found.requests
    assert asked["work"] == [desk.copy.name, str(desk.project)]
    assert asked["beside"]["Working copy"] == f"{desk.copy.name}, over {desk.project}"


def test_a_sandbox_that_cannot_be_shown_the_project_is_refused_before_anybody_is_asked(desk: Desk) -> None:
    found = desk.run("in_a_sandbox_that_cannot", "server = Server()\ntell(server.run('touch ran'))\n")
    assert "cannot be shown a working copy" in found.told[0][0] and "own shell" in found.told[0][0]
    assert found.requests == []
    assert not (desk.project / "ran").exists()


@pytest.mark.parametrize("story", ["over_a_copy_in_docker", "over_an_overlay_in_docker"])
def test_a_container_runs_it_over_a_copy_and_is_refused_for_an_overlay(desk: Desk, story: str) -> None:
    if desk.account != os.geteuid():
        pytest.skip("the engine of the tests is for this account")
    engine.client()
    desk.engine = engine.address()
    found = desk.run(
        story,
        "server = Server()\nshell('echo shell > made')\n"
        "tell(server.run('cat made; echo run > ran'))\ntell(shell('cat ran'))\n",
    )
    if story == "over_a_copy_in_docker":
        assert found.told == [["shell"], ["run\n"]]
        assert desk.changed() == {"made": "added", "ran": "added"}
    else:
        assert "cannot be shown this working copy" in found.told[0][0] and "--copy" in found.told[0][0]
        assert found.told[1] == [""] and found.requests == []


@pytest.mark.skipif(os.geteuid() != 0, reason="the server on loopback has accounts only as root")
@pytest.mark.parametrize("story", ["over_a_copy_at_e2b", "over_an_overlay_at_e2b"])
def test_another_machine_gets_the_files_of_a_copy_and_none_of_an_overlay(desk: Desk, story: str) -> None:
    (desk.project / ".env").write_text("SECRET")
    os.chown(desk.project / ".env", desk.account, desk.account)
    with Loopback() as server:
        desk.service = server.url
        found = desk.run(
            story,
            "server = Server()\nshell('echo shell > made')\n"
            "tell(server.run('cat made; ls -A; echo run > ran'))\ntell(shell('cat ran'))\n"
            'tell(server.run(\'import helper; print(helper.ANSWER); open("py", "w").write("x")\', \'python\'))\n'
            "tell(server.run('console.log(require(\"./helper\"))', 'javascript'))\n",
        )
        assert not server.boxes
        if story == "over_an_overlay_at_e2b":
            assert "its files cannot be sent to E2B" in found.told[0][0] and "--copy" in found.told[0][0]
            assert found.requests == []
            return
    assert found.told[0][0].startswith("shell\n") and ".env" not in found.told[0][0]
    assert found.told[1:] == [["run\n"], ["42"], ["42"]]
    assert desk.changed() == {"made": "added", "ran": "added", "py": "added"}
    assert sorted(os.listdir(desk.project)) == [".env", "helper.js", "helper.py", "old"]
    host, files = found.requests[0]["sent"]
    assert host == server.url[7:]
    assert files == "4 files of the project, 43 B; 1 that may hold a secret stays here"


def test_each_language_finds_the_files_of_the_project_and_leaves_none_of_its_own(desk: Desk) -> None:
    found = desk.run(
        "approving",
        "server = Server()\n"
        'tell(server.run(\'import helper; print(helper.ANSWER); open("py", "w").write("x")\', \'python\'))\n'
        'code = \'console.log(require("./helper")); require("fs").writeFileSync("js", "x")\'\n'
        "tell(server.run(code, 'javascript'))\n"
        "tell(shell('ls -A'))\n",
    )
    assert found.told == [["42"], ["42"], ["helper.js\nhelper.py\njs\nold\npy\n"]]
    assert desk.changed() == {"py": "added", "js": "added"}


def test_it_is_contained_as_any_run_and_reaches_what_was_approved_alone(desk: Desk) -> None:
    found = desk.run(
        "approving",
        "server = Server()\n"
        'code = \'grep -E "^(CapEff|Seccomp|NoNewPrivs):" /proc/self/status | tr -d "\\\\t\\\\n"; echo; \'\n'
        "code += '(echo x > /proc/sys/kernel/hostname) 2>/dev/null || echo kept; ls /home /root 2>/dev/null; '\n"
        "code += 'curl -sS -m 9 http://other.example/ 2>&1 | head -1'\n"
        "tell(server.run(code, network_enabled=True, allowed_domains=['one.example:80']))\n",
    )
    status, kept, refused, *_ = found.told[0][0].splitlines()
    assert status == "CapEff:0000000000000000NoNewPrivs:1Seccomp:2"
    assert kept == "kept" and "Blocked by Assent: other.example:80" in refused


def test_nothing_in_the_rings_has_the_token_and_no_shell_the_door(desk: Desk) -> None:
    found = desk.run(
        "approving",
        "import glob\n"
        "server = Server()\n"
        "tell('ASSENT' in json.dumps(server.entry), [name for name in os.environ if 'ASSENT' in name])\n"
        "tell(open(os.path.expanduser('~/.claude.json')).read().count('ASSENT_TOKEN'))\n"
        "tell(os.listdir('/run/assent/console'))\n"
        "tell(shell('ls /run/assent 2>&1; ls -A ~; grep -c . /run/assent/console/mcp.py 2>&1 | tail -1'))\n",
    )
    assert found.told[0] == [False, []]
    assert found.told[1] == [0]
    assert sorted(found.told[2][0]) == ["door", "mcp.py"]
    assert "console" not in found.told[3][0].partition("\n")[0]
    assert ".claude.json" not in found.told[3][0]


def test_it_runs_beside_the_shells_of_the_program_and_beside_itself(desk: Desk) -> None:
    found = desk.run(
        "approving",
        "from threading import Thread\n"
        "server, other = Server(), Server()\n"
        "wait = 'until test -e go; do sleep 0.02; done; '\n"
        "def begin(server, code):\n"
        "    given = dict(language='shell', code=code + wait + 'cat s')\n"
        "    return server.begin('tools/call', name='code_execute', arguments=given)\n"
        "one, two = begin(server, 'touch a; '), begin(other, 'touch b; ')\n"
        "shell('until test -e a -a -e b; do sleep 0.02; done; echo shell > s; touch go')\n"
        "tell(server.end(one)['content'][0]['text'], other.end(two)['content'][0]['text'])\n",
    )
    assert found.told == [["shell", "shell"]]


def test_what_is_not_done_over_a_working_copy_is_refused_in_words(desk: Desk) -> None:
    found = desk.run(
        "approving",
        "server = Server()\n"
        "tell(server.call('code_create_sandbox', language='python'))\n"
        "tell(server.run('echo', sandbox_id='some'))\n"
        "tell(server.run('import six', 'python', packages=['six']))\n"
        "tell(server.call('approve', tool_name='Bash', input={'command': 'ls'}))\n"
        "tell(server.call('code_sandbox_info')[:1])\n",
    )
    said = [one for (one,) in found.told]
    assert all("is not for a program at work" in said[one] for one in (0, 3))
    assert "without sandbox_id" in said[1] and "with your own shell" in said[2]
    assert said[4] == "i" and len(found.requests) == 1


def test_without_a_console_the_program_works_on_and_is_told_so(desk: Desk) -> None:
    found = desk.run(
        "without_console",
        "server = Server()\ntell(server.run('echo'))\ntell(shell('echo on > made; cat made'))\n"
        "tell(sorted(one['name'] for one in server.ask('tools/list')['tools']))\n",
    )
    assert "Assent is not running" in found.told[0][0]
    assert found.told[1:] == [["on\n"], [["code_execute", "code_result", "code_sandbox_info"]]]
    assert desk.changed() == {"made": "added"}


def test_a_yes_after_the_end_of_the_program_runs_nothing(desk: Desk) -> None:
    found = desk.run("ended_before_yes", "server = Server()\nshell('touch made')\ntell(server.run('touch ran'))\n")
    assert found.told == []
    assert "has ended" in found.more["error"]
    assert desk.changed() == {"made": "added"}
    assert not (desk.copy.shown / "ran").exists() and not (desk.project / "ran").exists()


def test_nobody_asks_in_the_name_of_a_session_without_its_key(desk: Desk) -> None:
    found = desk.run("asked_with_other_keys", "server = Server()\nshell('touch up; sleep infinity')\n")
    assert ["does not come from that program" in one for one in found.more["said"]] == [True, True]


def test_what_runs_ends_where_the_process_on_the_terminal_is_killed(desk: Desk) -> None:
    found = desk.run(
        "killed_meanwhile",
        "server = Server()\ntell(server.run('while :; do echo x >> beat; done', timeout=300))\n",
    )
    assert found.more["grew"] == 0


def test_what_runs_ends_with_the_program_and_before_its_changes_are_looked_at(desk: Desk) -> None:
    found = desk.run(
        "ended_meanwhile",
        "server = Server()\ntell(server.run('trap \"\" TERM; while :; do echo x >> beat; done', timeout=300))\n",
    )
    assert found.told == []
    assert found.more["grew"] == 0
    assert desk.changed() == {"beat": "added"}
