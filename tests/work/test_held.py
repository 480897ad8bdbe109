"""A client at work in real rings: the setting, the rules and its agent count at the next command, without a console."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.model.codec import encode
from runner.model.errors import KnownError
from runner.model.work import CommandSeen, HostOpened, StandingSeen
from runner.settings.loading import load
from runner.system.places import Places
from runner.work import control, project_hosts
from runner.work.in_force import ASK, PAUSED, REVOKED
from runner.work.log import WorkReading
from runner.work.project_hosts import ProjectHost
from runner.work.session import MOST_HELD, NOT_RUN
from runner.work.terms import LEAVE_OUT
from runner.workspace.working_copy import all_below
from tests.components import require
from tests.engine.test_work_deeds import recorded
from tests.other_account import NAMES, account_of
from tests.work.test_session import HANGS, ROOT, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.model.work import WorkSession

CLIENT = """#!/usr/bin/python3
import subprocess, sys
def shell(line):
    return subprocess.Popen(["bash", "-c", line.strip()], stdin=-3, stdout=-1, stderr=-1, text=True)
for line in sys.stdin:
    if line.startswith("& "):  # in the background
        shell(line[2:])
        continue
    done = shell(line)
    out, errors = done.communicate()
    print(f"{done.returncode}|{out.strip()}|{errors.strip()}".replace(chr(10), ";"), flush=True)
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

    def popen(self, *words: str, stdin: int = subprocess.PIPE) -> subprocess.Popen[str]:
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
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def assent(self, *words: str) -> tuple[int, str]:
        """Run `assent`, with a terminal as input where that is asked for; return its exit code, and what it printed."""
        ours, terminal = os.openpty()
        try:
            with self.popen(*words, stdin=terminal if words[:2] == ("work", "run") else subprocess.PIPE) as process:
                said, errors = process.communicate(timeout=HANGS)
        finally:
            os.close(terminal)
            os.close(ours)
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
        assert select.select((self.process.stdout,), (), (), HANGS)[0], "no answer came"
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

    def order(self, do: str, **given: object) -> str:
        """Give an order as a console does; return why it was not carried out."""
        try:
            control.order(self.places.runtime, self.name, do, **given)
        except KnownError as error:
            return error.what
        return ""

    @property
    def name(self) -> str:
        return all_below(self.places.work)[0].name

    def events(self) -> list[object]:
        return list(WorkReading(self.places.work / self.name).new())

    def commands(self) -> list[CommandSeen]:
        return [one for one in self.events() if isinstance(one, CommandSeen)]


@pytest.fixture(params=NAMES)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    require("bubblewrap")
    account = account_of(request.param)
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
    conditions = [{"param": "code", "matches": "git push"}, {"param": "client_tool", "equals": "Bash"}]
    rule = {"name": "no-push", "action": "deny", "agents": [AGENT], "conditions": conditions}
    client.write(client.places.config / "rules.yaml", json.dumps({"rules": [rule]}))
    refused = f"Denied by your rule no-push. {LEAVE_OUT}"
    assert client.shell("git push --force") == f"126||{NOT_RUN} {refused}"
    assert client.commands()[-1].refused == refused and client.commands()[-1].sentence

    # CRITICAL is held as delivered; a setting moves that, without a word to the session.
    client.ask("crontab -r")
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
    assert client.shell("echo 2") == f"126||{NOT_RUN} {PAUSED} {ASK}"
    until(lambda: [one.refused for one in client.events() if isinstance(one, StandingSeen)] == ["", PAUSED])
    assert PAUSED in client.assent("work", "list")[1]
    assert client.assent("agents", "resume", AGENT)[0] == 0
    assert client.shell("echo 3") == "0|3|"
    assert client.assent("agents", "revoke", AGENT)[0] == 0
    until(lambda: client.process is not None and client.process.poll() is not None)
    assert REVOKED.format(AGENT) in client.end()
    assert client.process is not None and client.process.returncode == 137


def test_an_agent_that_was_paused_before_is_paused_here(client: Client) -> None:
    assert client.assent("agents", "add", AGENT)[0] == client.assent("agents", "pause", AGENT)[0] == 0
    client.start()
    assert client.shell("echo 1") == f"126||{NOT_RUN} {PAUSED} {ASK}"
    assert client.assent("agents", "resume", AGENT)[0] == 0
    assert client.shell("echo 2") == "0|2|"
    assert f"{AGENT}: {PAUSED}" in client.end()


def test_what_waits_can_be_answered_once_and_is_weighed_again(client: Client) -> None:
    """The agent is paused, a rule is made, and two persons answer, all while a command waits."""
    assert client.assent("agents", "add", AGENT)[0] == 0
    assert client.assent("agents", "set", AGENT, "--waiting", "1")[0] == 0
    client.start()
    client.ask("echo ran; crontab -r")
    until(lambda: bool(all_below(client.places.work)) and bool(client.commands()))
    client.ask("& crontab -r")  # while another one waits
    rule = {"name": "no-cron", "action": "deny", "conditions": [{"param": "code", "matches": "crontab"}]}
    client.write(client.places.config / "rules.yaml", json.dumps({"rules": [rule]}))
    code, said = client.assent("work", "run", client.name, "1")
    assert code != 0 and "no-cron" in said
    client.write(client.places.config / "rules.yaml", "rules: []")
    assert client.assent("agents", "pause", AGENT)[0] == 0
    both = [threading.Thread(target=lambda: answers.append(client.order("answer", number=1, run=True))) for _ in "12"]
    answers: list[str] = []
    for one in both:
        one.start()
    for one in both:
        one.join(HANGS)
    assert sorted(answers) == ["", "This command is not waiting any more."]
    assert client.answer().split("|")[1] == "ran"
    until(lambda: len(client.commands()) == 2)
    assert client.commands()[1].refused == f"{PAUSED} {ASK}"


def test_as_many_wait_as_a_person_lets(client: Client) -> None:
    assert client.assent("agents", "add", AGENT)[0] == 0
    assert client.assent("agents", "set", AGENT, "--waiting", "1")[0] == 0
    client.start()
    client.ask("& crontab -r")
    until(lambda: bool(all_below(client.places.work)) and bool(client.commands()))
    assert client.shell("crontab -l; crontab -r") == f"126||{NOT_RUN} {MOST_HELD.format(1, 1)}"
    assert client.shell("echo 3") == "0|3|"


def test_hosts_stay_closed_where_the_page_would_not_open_them(client: Client) -> None:
    rule = {"name": "no-evil", "action": "deny", "conditions": [{"param": "domain", "equals": "evil.example"}]}
    client.write(client.places.config / "rules.yaml", json.dumps({"rules": [rule]}))
    code, said = client.assent("work", "--keep", "--allow", "evil.example", "claude")
    assert code != 0 and "no-evil" in said and not all_below(client.places.work)
    found = client.project.stat()
    kept = ProjectHost(str(client.project), found.st_dev, found.st_ino, "evil.example", 443)
    client.write(client.places.config / project_hosts.NAME, json.dumps([encode(kept)]))
    client.start()
    assert client.shell("echo 1") == "0|1|"
    code, said = client.assent("work", "allow", client.name, "evil.example")
    assert code != 0 and "no-evil" in said
    code, said = client.assent("work", "allow", client.name, "10.1.2.3")
    assert code != 0 and "10.1.2.3, an address inside your own network" in said
    code, said = client.assent("work", "allow", client.name, "127.0.0.1")
    assert code != 0 and "this machine" in said
    assert client.assent("work", "allow", "--always", client.name, "93.184.216.34")[0] == 0
    assert [one.host for one in client.events() if isinstance(one, HostOpened)] == ["93.184.216.34"]
    assert "evil.example stays closed" in client.end()


@pytest.mark.asyncio
async def test_an_open_console_pauses_revokes_and_records(client: Client) -> None:
    if client.account != os.geteuid():
        pytest.skip("the console of this test is of this account")
    engine = build(client.places, load(client.places, {}), ())
    await engine.start(gateway=False)
    await engine.membership.add(AGENT)
    rule = {"name": "no-push", "action": "deny", "conditions": [{"param": "code", "matches": "git push"}]}
    client.write(client.places.config / "rules.yaml", json.dumps({"rules": [rule]}))
    await asyncio.to_thread(client.start)
    refused = f"Denied by your rule no-push. {LEAVE_OUT}"
    assert await asyncio.to_thread(client.shell, "git push") == f"126||{NOT_RUN} {refused}"
    await engine.membership.pause(AGENT)
    assert await asyncio.to_thread(client.shell, "echo 1") == f"126||{NOT_RUN} {PAUSED} {ASK}"

    def session() -> WorkSession:
        return engine.work.sessions()[0]

    async def looked(holds: Callable[[], object]) -> None:
        async with asyncio.timeout(HANGS):
            while not holds():
                await engine.work.look()

    await looked(lambda: engine.work.sessions() and session().refused)
    assert (session().agent, session().refused) == (AGENT, PAUSED)
    await engine.membership.resume(AGENT)
    await asyncio.to_thread(client.ask, "crontab -r")
    await looked(lambda: session().held)
    (held,) = session().held
    assert "Docker or stronger" in held.sandbox
    await engine.work.answer(client.name, held.number, run=False, why="Not that.")
    assert "a person refused this command. Not that." in await asyncio.to_thread(client.answer)
    await engine.membership.revoke(AGENT)
    assert REVOKED.format(AGENT) in await asyncio.to_thread(client.end)
    await engine.work.look()
    await engine.close("over")
    entries = recorded(client.places.ledger)
    seen = [command for kind, body in entries if kind == "work-seen" for command in body.get("commands", ())]
    assert [(one["text"], one.get("refused", ""), one.get("held", False)) for one in seen] == [
        ("git push", refused, False),
        ("echo 1", f"{PAUSED} {ASK}", False),
        ("crontab -r", "", True),
    ]
    assert all(body["agent"] == AGENT for kind, body in entries if kind == "work-seen")
    assert "work-answer" in {kind for kind, _ in entries}
