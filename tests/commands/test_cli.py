"""The commands of `assent` as processes of their own; `run` against a real engine and its gateway."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.assembly import build, open_engine
from runner.commands import cli
from runner.commands.run import _told
from runner.gateway import own_command, snippets
from runner.gateway.live import Received
from runner.identity.agents import Agents
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked, RequestArrived, RequestDecided, RunStarted
from runner.settings.loading import load
from runner.system.places import Places
from tests.components import require
from tests.doubles import HeldSandbox
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.model.events import Event
    from runner.model.request import Request

ASSENT = (sys.executable, "-m", "app")


def assent(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **more}
    return subprocess.run(
        [*ASSENT, *arguments], env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


class Desk:
    """A console without a window: an engine with its gateway open, whose questions the test answers."""

    def __init__(self, places: Places) -> None:
        self.sandbox = HeldSandbox()
        settings = load(places, {"ASSENT_PORT": "0", "ASSENT_AUTO_APPROVE_LOW": "false"})
        self.engine = build(places, settings, (self.sandbox,))
        self.requests: dict[str, Request] = {}
        self.questions: asyncio.Queue[str] = asyncio.Queue()
        self.running = asyncio.Event()
        self.decided: asyncio.Queue[Verdict] = asyncio.Queue()
        self.engine.listen(self._hear)

    def _hear(self, event: Event) -> None:
        match event:
            case RequestArrived(request):
                self.requests[request.id] = request
            case QuestionAsked(request_id=request_id):
                self.questions.put_nowait(request_id)
            case RunStarted():
                self.running.set()
            case RequestDecided(decision=decision):
                self.decided.put_nowait(decision.verdict)
            case _:
                pass

    async def answer(self, verdict: Verdict, reason: str = "") -> str:
        """Answer the next question; the code that was asked about."""
        request_id = await asyncio.wait_for(self.questions.get(), HANGS)
        request = self.requests[request_id]
        assert self.engine.answer(request_id, request.digest, verdict, reason) == ""
        return request.code


@pytest_asyncio.fixture
async def desk(home: Path) -> AsyncIterator[Desk]:
    desk = Desk(Places.under(home))
    await desk.engine.start()
    yield desk
    await desk.engine.close("the test is over")


async def submitted(*arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    # What a shell starts in the background ignores Ctrl+C, and these tests may be run so.
    command = ("env", "--default-signal=INT", *ASSENT, "run", *arguments)
    return await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)


@pytest.mark.asyncio
async def test_a_file_is_asked_about_and_its_output_printed(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "sum.py"
    file.write_text("print(input())\n")
    process = await submitted(str(file))
    assert process.stdin is not None
    process.stdin.write(b"typed\n")
    process.stdin.close()
    assert await desk.answer(Verdict.APPROVED) == "print(input())\n"
    await asyncio.wait_for(desk.running.wait(), HANGS)
    assert desk.sandbox.runs[0].job.stdin == "typed\n"
    desk.sandbox.runs[0].finish("typed\n")
    out, told = await process.communicate()
    assert (process.returncode, out) == (0, b"typed\n")
    assert told.startswith(b"assent run: being looked at")


@pytest.mark.asyncio
async def test_a_denial_says_why_and_runs_nothing(desk: Desk) -> None:
    process = await submitted("-", "--language", "shell")
    assert process.stdin is not None
    process.stdin.write(b"make deploy\n")
    process.stdin.close()
    assert await desk.answer(Verdict.DENIED, "Not on a Friday.") == "make deploy\n"
    out, told = await process.communicate()
    assert (process.returncode, out) == (125, b"")
    assert b"Not on a Friday." in told
    assert desk.sandbox.runs == []


@pytest.mark.asyncio
async def test_interrupting_withdraws_the_question(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "long.sh"
    file.write_text("sleep 1\n")
    process = await submitted(str(file))
    assert process.stdin is not None
    process.stdin.close()
    await asyncio.wait_for(desk.questions.get(), HANGS)
    process.send_signal(signal.SIGINT)
    assert await asyncio.wait_for(desk.decided.get(), HANGS) is Verdict.WITHDRAWN
    assert await process.wait() == 130


def test_without_a_console_it_says_so_and_runs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "sum.py"
    file.write_text("print(1)\n")
    done = assent("run", str(file))
    assert (done.returncode, done.stdout) == (125, "")
    assert "Assent is not running" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("gone.py", None, "No such file"),
        ("bad.py", b"\xff", "not UTF-8"),
        ("what", b"print(1)\n", "--language"),
    ],
)
def test_a_file_that_will_not_do_is_explained(tmp_path: Path, name: str, content: bytes | None, wanted: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = assent("run", str(tmp_path / name))
    assert done.returncode == 125
    assert wanted in done.stderr
    assert "Traceback" not in done.stderr


def test_the_first_line_names_the_language(tmp_path: Path) -> None:
    from runner.commands.run import language_of

    assert language_of("x", "#!/usr/bin/env python3.11\n") == "python"
    assert language_of("x", "#!/bin/bash -e\n") == "shell"
    assert language_of("x.sh", "#!/usr/bin/env node\n") == "shell"


def test_agents_are_added_listed_and_revoked(home: Path) -> None:
    added = assent("agents", "add", "codex")
    assert added.returncode == 0
    token = next(word for word in added.stdout.split() if word.startswith("assent_"))
    assert Agents(Places.under(home)).recognize(token) is not None
    assert "mcp_servers.assent" in added.stdout
    assert "codex" in assent("agents", "list").stdout
    assert assent("agents", "add", "codex").returncode == 1
    assert assent("agents", "revoke", "codex").returncode == 0
    assert Agents(Places.under(home)).recognize(token) is None
    assert "revoked" in assent("agents", "list").stdout
    assert assent("agents", "revoke", "nobody").returncode == 1


def test_an_open_console_learns_of_a_revocation_by_another_process(home: Path) -> None:
    places = Places.under(home)
    there = Agents(places)
    token = there.add("codex")
    assert there.recognize(token) is not None
    Agents(places).revoke("codex")
    assert there.recognize(token) is None


def test_verify_before_the_first_start_finds_nothing_wrong(home: Path) -> None:
    done = assent("verify")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "There is no history yet; it begins with the first start.\n"
    assert assent("verify", str(home / "nowhere")).returncode == 1, "a file that somebody names has to be there"


@pytest.mark.asyncio
async def test_verify_names_the_first_broken_entry(home: Path) -> None:
    places = Places.under(home)
    engine = open_engine(places, {})
    await engine.start(gateway=False)
    await engine.close("the test is over")
    good = assent("verify")
    # Nobody agreed to keep the key anywhere, so nobody can vouch for what it signed.
    assert good.returncode == 2, good.stderr
    assert "entries fit together" in good.stdout
    assert "The signing key is not available" in good.stdout
    assert json.loads(places.verified.read_text())["at"] > 0, "the window reminds nobody of it"
    places.verified.unlink()
    with sqlite3.connect(places.ledger) as connection:
        for (guard,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {guard}")
        connection.execute("UPDATE bodies SET data = '{}' WHERE seq = 1")
    connection.close()
    broken = assent("verify", str(places.ledger))
    assert broken.returncode == 1 and not places.verified.exists()
    assert assent("verify", str(home / "nothing")).returncode == 1


def test_the_self_test_goes_the_whole_way() -> None:
    require("bubblewrap")
    require("node")
    done = assent("self-test")
    assert done.returncode == 0, done.stderr
    assert "python: asked, approved, ran" in done.stdout
    assert "entries fit together" in done.stdout


def test_doctor_speaks_to_programs_as_well() -> None:
    done = assent("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert {"Settings", "Secrets", "Local sandbox", "Python", "Console"} <= checks.keys()
    assert all(check["state"] in ("ok", "unused", "warn", "bad") for check in checks.values())
    assert done.returncode == any(check["state"] == "bad" for check in checks.values())


@pytest.mark.parametrize("arguments", [("nonsense",), ("run",), ("agents",), ("agents", "add"), ("mcp", "extra")])
def test_a_wrong_command_line_ends_with_2(arguments: tuple[str, ...]) -> None:
    done = assent(*arguments)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["work apply", "agents list", "doctor"])
def test_a_command_answers_for_its_own_arguments(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = ["p-1"] if command == "work apply" else []
    with pytest.raises(SystemExit):
        cli.main([*command.split(), *name, "--no-such"])
    said = capsys.readouterr().err
    assert said.startswith(f"usage: assent {command} [")
    assert f"assent {command}: error: unrecognized arguments: --no-such" in said


def test_assess_and_images_are_commands_of_assent(tmp_path: Path) -> None:
    file = tmp_path / "clean.sh"
    file.write_text("rm -rf ~/\n")
    done = assent("assess", str(file))
    assert done.returncode == 3
    assert "CRITICAL" in done.stdout
    unknown = assent("images", "nonsense", DOCKER_HOST=f"unix://{tmp_path}/nobody.sock")
    assert unknown.returncode == 1
    assert "Traceback" not in unknown.stderr


def test_what_did_not_succeed_never_ends_with_0() -> None:
    """Whatever the console that answers says."""
    data = {"status": "failed", "outcome": "out of memory", "stdout": "", "stderr": "", "exit_code": 0}
    assert _told({}, data, Received()) == 1
    assert _told({}, data | {"exit_code": 137}, Received()) == 137
    assert _told({}, data | {"exit_code": -1}, Received()) == 124
    assert _told({}, data | {"status": "finished", "outcome": "ok"}, Received()) == 0


def test_a_command_with_blanks_in_its_path_stays_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_command.installed, "command", lambda: "/opt/a folder/assent")
    given = snippets.configurations("x", "TOKEN", "http://127.0.0.1:1/mcp", own_command.own_command())
    texts = [one.text for one in given if "a folder" in one.text]
    assert len(texts) == 6
    assert json.loads(texts[0])["mcpServers"]["assent"]["command"] == "/opt/a folder/assent"
    assert 'command = "/opt/a folder/assent"' in texts[1]


@pytest.mark.parametrize("terminal", [True, False])
def test_verify_counts_where_somebody_can_see_it(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    cli._count(12_000)
    assert ("12,000 entries" in capsys.readouterr().err) is terminal


def test_every_state_of_a_check_has_its_sign_on_the_terminal() -> None:
    from runner.commands.check import State

    signs = [state.sign for state in State]
    assert len({*signs}) == len(signs) and {len(sign) for sign in signs} == {4}
