"""A client at work in real rings: the setting, the rules and its agent count at the next command, without a console."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.work import CommandSeen, StandingSeen, WorkEnded
from runner.system.places import Places
from runner.work.in_force import LEAVE_OUT, PAUSED, REVOKED
from runner.work.log import WorkReading
from runner.work.session import NOT_RUN
from runner.workspace.working_copy import all_below
from tests.components import require
from tests.work.test_session import ACCOUNT, HANGS, ROOT, until

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENT = """#!/usr/bin/python3
import subprocess, sys
for line in sys.stdin:
    done = subprocess.run(["bash", "-c", line.strip()], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(f"{done.returncode}|{done.stdout.strip()}|{done.stderr.strip()}", flush=True)
"""
CLI = "import sys; from runner.commands import cli; sys.exit(cli.main(sys.argv[1:]))"
AGENT = "claude-code"


class Client:
    """A stand-in for Claude Code at work for one account, with the folders of Assent, and no console."""

    def __init__(self, place: Path, account: int) -> None:
        self.account = account
        self.home = place / "home"
        self.places = Places.under(place / "assent")
        self.project = self.home / "project"
        program = self.home / "bin" / "claude"
        for folder in (self.project, program.parent):
            folder.mkdir(parents=True)
        program.write_text(CLIENT)
        program.chmod(0o755)
        self.places.make()
        for path in (place, *place.rglob("*")):
            os.chown(path, account, account)
        self.process: subprocess.Popen[str] | None = None

    def popen(self, *words: str) -> subprocess.Popen[str]:
        become: tuple[str, ...] = ()
        if self.account != os.geteuid():
            become = ("setpriv", f"--reuid={self.account}", f"--regid={self.account}", "--clear-groups")
        interpreter = sys.executable if self.account == os.geteuid() else "/usr/bin/python3"
        path = os.pathsep.join((str(ROOT), *(one for one in sys.path if one.endswith("site-packages"))))
        return subprocess.Popen(
            (*become, interpreter, "-c", CLI, *words),
            cwd=self.project,
            env={
                "HOME": str(self.home),
                "ASSENT_HOME": str(self.places.config.parent),
                "PATH": f"{self.home}/bin:{os.defpath}",
                "PYTHONPATH": path,
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def assent(self, *words: str) -> tuple[int, str]:
        """Run `assent`; return its exit code, and all that it printed."""
        with self.popen(*words) as process:
            said, errors = process.communicate(timeout=HANGS)
        return process.returncode, said + errors

    def start(self) -> None:
        """Put it to work."""
        self.process = self.popen("work", "--keep", "claude")

    def ask(self, command: str) -> None:
        """Have it start a command in its shell."""
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process is not None and self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def shell(self, command: str) -> str:
        """Return code, output and errors of a command."""
        self.ask(command)
        return self.answer()

    def end(self) -> str:
        """Let it end; return what was said on the terminal."""
        assert self.process is not None
        said, errors = self.process.communicate(timeout=HANGS)
        return said + errors

    def write(self, path: Path, text: str) -> None:
        """Change a file of the account's."""
        path.write_text(text)
        os.chown(path, self.account, self.account)

    @property
    def name(self) -> str:
        return all_below(self.places.work)[0].name

    def events(self) -> list[object]:
        return list(WorkReading(self.places.work / self.name).new())

    def commands(self) -> list[CommandSeen]:
        return [one for one in self.events() if isinstance(one, CommandSeen)]


@pytest.fixture(params=["this account", "ordinary account"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    require("bubblewrap")
    account = os.geteuid()
    if request.param == "ordinary account":
        folders = [ROOT, *ROOT.parents, *(Path(one) for one in sys.path if one.endswith("site-packages"))]
        if account or not all(one.stat().st_mode & 1 for one in folders) or sys.version_info[:2] != (3, 11):
            pytest.skip("another account cannot run the tests' own code here")
        account = ACCOUNT
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        os.chmod(place, 0o755)
        made = Client(Path(place) / "desk", account)
        yield made
        if made.process is not None:
            made.process.kill()
            made.process.communicate()


def test_settings_rules_and_the_agent_count_at_the_next_command(client: Client) -> None:
    assert client.assent("agents", "add", AGENT)[0] == 0
    client.start()
    assert client.shell("echo 1") == "0|1|"

    # A rule that denies.
    client.write(client.places.config / "rules.yaml", json.dumps({"rules": [
        {"name": "no-push", "action": "deny", "agents": [AGENT], "tools": ["client_shell"],
         "conditions": [{"param": "code", "matches": "git push"}, {"param": "client_tool", "equals": "Bash"}]}]}))  # fmt: skip
    refused = f"Denied by your rule no-push. {LEAVE_OUT}"
    assert client.shell("git push --force") == f"126||{NOT_RUN} {refused}"
    assert client.commands()[-1].refused == refused and client.commands()[-1].sentence

    # CRITICAL is held as delivered; a setting moves that, without a word to the session.
    client.ask("echo free; rm -rf ~/nothing/../..")
    until(lambda: client.commands()[-1].held)
    held = client.commands()[-1]
    assert held.level == "CRITICAL" and "Docker or stronger" in held.sandbox
    assert held.sandbox in client.assent("work", "list")[1]
    assert client.assent("work", "refuse", client.name, str(held.number))[0] == 0
    assert client.answer().startswith("126||Assent: this command waits until a person answers it")
    client.write(client.places.settings, "work: {hold: none}\n")
    assert client.shell("echo free; crontab -r; true").startswith("0|free|")
    assert not client.commands()[-1].held and client.commands()[-1].level == "CRITICAL"
    client.write(client.places.settings, "work: {hold: high}\n")
    client.ask("echo high; git reset --hard; git clean -fdx; true")
    until(lambda: client.commands()[-1].held)
    assert client.commands()[-1].level == "HIGH" and not client.commands()[-1].sandbox
    assert client.assent("work", "run", client.name, str(client.commands()[-1].number))[0] == 0
    assert client.answer().startswith("0|high|")

    # The agent: paused, resumed, and ended.
    assert client.assent("agents", "pause", AGENT)[0] == 0
    assert client.shell("echo 2") == f"126||{NOT_RUN} {PAUSED}"
    until(lambda: [one.refused for one in client.events() if isinstance(one, StandingSeen)] == ["", PAUSED])
    assert PAUSED in client.assent("work", "list")[1]
    assert client.assent("agents", "resume", AGENT)[0] == 0
    assert client.shell("echo 3") == "0|3|"
    assert client.assent("agents", "revoke", AGENT)[0] == 0
    assert REVOKED.format(AGENT) in client.end()
    assert [(one.code, one.why) for one in client.events() if isinstance(one, WorkEnded)] == [
        (137, REVOKED.format(AGENT))
    ]
