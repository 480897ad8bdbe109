"""Questions on the terminal, and that what is printed there cannot command it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import termios
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import pytest_asyncio

from runner.approval.deliberate import WORDS
from runner.commands.terminal import Terminal
from runner.engine.request.admission import Admission
from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level
from runner.model.events import HostContacted, QuestionAsked, RequestArrived, RequestAssessed, RequestClosed
from runner.model.network import NOT_LISTED, Contact
from runner.model.request import BROUGHT, PROMISED, Isolation, KnownFile, Language, NetworkMode, Request, Tool
from runner.model.sent_files import HeldFile, SentFile, SentFiles, listing
from runner.model.shown import visible
from runner.settings.declared import Settings
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.components import require
from tests.doubles import HeldSandbox
from tests.engine.test_sandbox_watch import staged
from tests.patience import HANGS
from tests.stages.engine import HELLO

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.engine.engine import Engine

PATIENCE = HANGS
_ASKED = (Assessment(Level.HIGH, ("Runs code.",)), QuestionAsked("1", 60.0, 60.0, ""), "approve")


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "\r", "\x9b1m", "\u200b", "\u3164", "\ufe0f", "\u2800"])
def test_nothing_a_terminal_obeys_or_hides_gets_through(hostile: str) -> None:
    shown = visible(f"a{hostile}b")
    assert hostile[0] not in shown
    assert f"\\u{{{ord(hostile[0]):x}}}" in shown


def test_ordinary_text_stays() -> None:
    assert visible("größe\tπ\n") == "größe\tπ\n"


def test_all_that_decides_is_printed_and_none_of_it_commands_the_terminal() -> None:
    """Every value in the digest, also of parameters that are added some day, unless it is empty."""
    request = Request(
        "1",
        "claude",
        Tool.CODE_EXECUTE,
        0.0,
        Language.PYTHON,
        "print(rows)\nprint(2)",
        '{"rows": "first\x1b[2Jrow"}',
        "one\ntwo\x9b1mthree\nInput:",
        packages=("numpy==2",),
        network=NetworkMode.DOMAINS,
        domains=("example.org\x1b[0m",),
        image="image:1",
        sandbox="sandbox-7",
        files=("notes.txt",),
        executable=True,
        offset=5,
        most_bytes=9,
        known=(KnownFile("main.py", "import x\nprint(3)"),),
    )
    sink = io.StringIO()
    terminal = Terminal(cast("Engine", None), io.StringIO(), sink)
    terminal._show(request, Assessment(Level.HIGH, ("Runs code.",)), QuestionAsked("1", 60.0, 60.0, ""), "approve")
    shown = sink.getvalue()
    assert 'Variables:\n    1  {"rows": "first\\u{1b}[2Jrow"}' in shown
    assert "Input:\n    1  one\n    2  two\\u{9b}1mthree\n    3  Input:" in shown, "a line of the input is no heading"
    assert "File main.py:\n    1  import x\n    2  print(3)\n" in shown
    for name, value in request.deciding().items():
        if name == "known":
            continue
        words = value if isinstance(value, str) else json.dumps(value)
        assert name.replace("_", " ") in shown or all(visible(line) in shown for line in words.split("\n")), name
    for known in ("numpy==2", "example.org", "image:1", "sandbox-7", "notes.txt", "domains"):
        assert known in shown
    assert "\x1b" not in shown and "\x9b" not in shown


def test_what_may_leave_and_where_to_is_said() -> None:
    request = Request(
        "1",
        "claude",
        Tool.CODE_EXECUTE,
        0.0,
        Language.PYTHON,
        "print(1)",
        network=NetworkMode.DOMAINS,
        domains=("*.a.example", "b.example"),
        granted=("b.example",),
        sandbox="k7",
    )
    sink = io.StringIO()
    terminal = Terminal(cast("Engine", None), io.StringIO(), sink)
    asked = QuestionAsked("1", 60.0, 60.0, "")
    terminal._show(request, Assessment(Level.CRITICAL, ("Has network.",)), asked, "claude")
    assert "May be reached, and nothing else: *.a.example, b.example (by your grant)." in sink.getvalue()
    assert "has read or made and what the kept sandbox k7 holds." in sink.getvalue()
    assert "every name below it; the names themselves can carry data" in sink.getvalue()
    terminal._show(replace(request, network=NetworkMode.NONE, domains=(), granted=()), *_ASKED)
    assert sink.getvalue().count("May be reached") == 1


def test_a_refused_host_is_said_once_and_commands_nothing() -> None:
    sink = io.StringIO()
    terminal = Terminal(cast("Engine", None), io.StringIO(), sink)
    for times in (1, 2, 3):
        terminal.hear(HostContacted("12345678", Contact("evil.example\x1b[2J", 80, False, NOT_LISTED, times)))
    terminal.hear(HostContacted("12345678", Contact("good.example", 80, True)))
    assert sink.getvalue() == "12345678 refused evil.example\\u{1b}[2J:80: it is not allowed for this sandbox\n"


def test_a_request_that_is_over_is_forgotten() -> None:
    terminal = Terminal(cast("Engine", None), io.StringIO(), io.StringIO())
    terminal.hear(RequestArrived(Request("1", "claude", Tool.CODE_EXECUTE, 0.0)))
    terminal.hear(RequestAssessed("1", Assessment(Level.HIGH, ("Runs code.",))))
    assert (set(terminal._requests), set(terminal._assessments)) == ({"1"}, {"1"})
    terminal.hear(RequestClosed("1"))
    assert not terminal._requests and not terminal._assessments


@pytest.mark.parametrize(
    ("by", "level", "approval"),
    [
        ("key", Level.HIGH, {"approve"}),
        ("key", Level.CRITICAL, {"claude"}),
        ("word", Level.MEDIUM, {"approve"}),
        ("word", Level.HIGH, set(WORDS.split())),
        ("word", Level.CRITICAL, set(WORDS.split())),
        ("mouse", Level.MEDIUM, {""}),
        ("pin", Level.HIGH, {"approve"}),
        ("pin", Level.CRITICAL, {"claude"}),
    ],
)
def test_the_terminal_obeys_what_a_person_chose_to_approve_with(by: str, level: Level, approval: set[str]) -> None:
    configuration = SimpleNamespace(settings=replace(Settings(), approve_by=by))
    engine = SimpleNamespace(parts=SimpleNamespace(configuration=configuration))
    terminal = Terminal(cast("Engine", engine), io.StringIO(), io.StringIO())
    assert terminal._approval("claude", level) in approval


def test_where_only_the_mouse_approves_no_word_does() -> None:
    terminal = Terminal(cast("Engine", None), io.StringIO(), io.StringIO())
    request = Request("1", "claude", Tool.CODE_EXECUTE, 0.0)
    for answer in ("approve", "", "claude"):
        assert terminal._take(request, "", answer).startswith("Only the mouse approves")


@pytest.mark.asyncio
async def test_a_weaker_sandbox_is_accepted_with_the_words_that_the_question_names(tmp_path: Path) -> None:
    places = Places.under(tmp_path)
    places.make()
    places.last_isolation.write_text('{"isolation": "gvisor"}')
    async with staged(tmp_path, HeldSandbox()) as stage:
        sink = io.StringIO()
        terminal = Terminal(stage.engine, io.StringIO(), sink)
        stage.engine.listen(terminal.hear)
        await stage.asked()
        asking = spawn("terminal", terminal._put(await terminal._questions.get()))
        await stage.until(lambda: "Type 'accept local' to take this weaker sandbox" in sink.getvalue())
        terminal._lines.put_nowait("accept local\n")
        await stage.until(lambda: "local is the usual sandbox now. This question still waits" in sink.getvalue())
        terminal._lines.put_nowait("deny Not today.\n")
        await asking
        ticket = await stage.asked(replace(HELLO, title="again"))
        assert terminal._acceptance(ticket.case.request) == ""
    assert json.loads(places.last_isolation.read_text()) == {"isolation": "local"}


@pytest.mark.asyncio
async def test_a_file_that_may_hold_a_secret_is_included_by_its_name_and_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, env = SentFile("a.py", 9, "644", "a" * 64), SentFile(".env", 5, "600", "e" * 64)
    sends = SentFiles(listing([code]), (HeldFile(env.line, "by its name"),))

    async def with_sent(_admission: object, _submission: object, request: Request) -> Request:
        return replace(request, sends=sends)

    monkeypatch.setattr(Admission, "_with_sent", with_sent)
    async with staged(tmp_path, HeldSandbox()) as stage:
        sink = io.StringIO()
        terminal = Terminal(stage.engine, io.StringIO(), sink)
        stage.engine.listen(terminal.hear)
        ticket = await stage.asked()
        asking = spawn("terminal", terminal._put(await terminal._questions.get()))
        await stage.until(lambda: "Type 'include' and a name" in sink.getvalue())
        assert "of them 1 that may hold a secret" not in sink.getvalue()
        for typed, said in (
            ("include a.py", "Not changed: a.py is none of the files that stay behind."),
            ("leave .env", ".env is not included."),
            ("include .env", "Leaves although it may hold a secret, as you have included it:"),
            ("include .env", ".env is already included."),
            ("leave .env", "Stays here, as it may hold a secret, until you include it:"),
            ("include .env", "Leaves although it may hold a secret, as you have included it:"),
        ):
            sink.truncate(0)
            terminal._lines.put_nowait(f"{typed}\n")
            await stage.until(lambda said=said: said in sink.getvalue())  # type: ignore[misc]
        shown = sends.including([".env"])
        assert f"Digest {replace(ticket.case.request, sends=shown).digest[:16]}" in sink.getvalue()
        assert not stage.sandbox.runs
        terminal._lines.put_nowait("approve\n")
        await stage.until(lambda: stage.sandbox.runs)
        assert ticket.case.edited is not None and ticket.case.edited.sends == shown
        await asking


def echoed(master: int) -> bool:
    """Whether the terminal shows what is typed."""
    return bool(termios.tcgetattr(master)[3] & termios.ECHO)


@pytest.mark.asyncio
async def test_the_pin_is_asked_for_without_showing_it(tmp_path: Path) -> None:
    places = Places.under(tmp_path)
    places.make()
    places.settings.write_text("window:\n  approve_by: pin\n")
    master, slave = os.openpty()
    sink = io.StringIO()
    source = os.fdopen(slave)
    async with staged(tmp_path, HeldSandbox()) as stage:
        await stage.engine.parts.pin.change("", "4711")
        terminal = Terminal(stage.engine, source, sink)
        stage.engine.listen(terminal.hear)
        asking = spawn("terminal", terminal.attend())
        await stage.asked()
        await stage.until(lambda: "Type 'approve' to run it" in sink.getvalue())
        for pin, said in (("1234", "This PIN is wrong"), ("", "this needs the PIN"), ("4711", "approved")):
            os.write(master, b"approve\n")
            await stage.until(lambda: not echoed(master))
            os.write(master, f"{pin}\n".encode())
            await stage.until(lambda said=said: said in sink.getvalue())  # type: ignore[misc]
            await stage.until(lambda: echoed(master))
        await stage.until(lambda: stage.sandbox.runs)
        seen = os.read(master, 10_000).decode()
        assert "approve" in seen and "4711" not in seen and "4711" not in sink.getvalue()
        asking.cancel()
        # The end of the input, at which its reader stops: a file that is being read cannot be closed.
        os.write(master, b"\x04")
        for reader in (one for one in threading.enumerate() if one.name == "terminal"):
            await asyncio.to_thread(reader.join)
    source.close()
    os.close(master)


class Talk:
    """A process whose lines are read and answered."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def begin(cls, *arguments: str) -> Talk:
        pipe, environment = asyncio.subprocess.PIPE, {**os.environ, "ASSENT_PORT": "0", "SANDBOX_TYPE": "local"}
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable, *arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
            )
        )

    async def until(self, wanted: str) -> str:
        """Everything up to the line that has `wanted`."""
        assert self.process.stdout is not None
        heard = ""
        while wanted not in heard:
            try:
                line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)
            except TimeoutError:
                pytest.fail(f"nothing more after: {heard}")
            assert line, f"ended after: {heard}"
            heard += line.decode()
        return heard

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    async def end(self) -> str:
        """What else it says; it gets nothing more to read."""
        out, _ = await asyncio.wait_for(self.process.communicate(), PATIENCE)
        return out.decode()


@pytest_asyncio.fixture
async def console(request: pytest.FixtureRequest) -> AsyncIterator[Talk]:
    """Open, as `assent terminal` is typed, or as the test says."""
    require("bubblewrap")
    console = await Talk.begin("-m", *getattr(request, "param", ("app", "terminal")))
    await console.until("Agents reach Assent at")
    yield console
    if console.process.returncode is None:
        console.process.terminate()
        await console.end()
    assert console.process.returncode == 0


async def submit(tmp_path: Path, code: str, stdin: str = "") -> Talk:
    file = tmp_path / "ask.py"
    file.write_text(code)
    asking = await Talk.begin("-m", "app", "run", str(file))
    assert asking.process.stdin is not None
    asking.process.stdin.write(stdin.encode())
    asking.process.stdin.close()
    return asking


@pytest.mark.parametrize(
    "console", [("app", "terminal"), ("runner",)], ids=["assent terminal", "python -m runner"], indirect=True
)
@pytest.mark.asyncio
async def test_what_is_approved_on_the_terminal_runs(console: Talk, tmp_path: Path) -> None:
    asking = await submit(tmp_path, "print(6 * 7)\n")
    shown = await console.until("Type 'approve' to run it")
    assert "HIGH  shell asks for code_execute (python)" in shown
    assert "    1  print(6 * 7)" in shown
    console.say("yes")
    assert "Type 'approve' to run it" in await console.until("or 'deny' and a reason")
    console.say("approve")
    assert " ok after " in await console.until(" after ")
    assert await asking.end() == "42\n"


@pytest.mark.asyncio
async def test_input_is_shown_before_it_is_approved(console: Talk, tmp_path: Path) -> None:
    asking = await submit(tmp_path, "print(input())\n", "pears\n")
    shown = await console.until("Type 'approve' to run it")
    assert "Input:\n    1  pears\n" in shown
    console.say("approve")
    await console.until(" after ")
    assert await asking.end() == "pears\n"


@pytest.mark.asyncio
async def test_what_is_denied_there_does_not_run_and_the_end_of_input_denies(console: Talk, tmp_path: Path) -> None:
    asking = await submit(tmp_path, "print('\\x1b[2J ran')\n")
    await console.until("Type 'approve' to run it")
    console.say("deny Not today.")
    await console.until("denied: Not today.")
    assert await asking.end() == ""
    assert asking.process.returncode == 125
    asking = await submit(tmp_path, "print('ran too')\n")
    await console.until("Type 'approve' to run it")
    assert console.process.stdin is not None
    console.process.stdin.close()
    ended = await console.until("denied:")
    assert "The input has ended: nobody can answer here" in ended
    assert "denied: Nobody is at the terminal any more." in ended
    assert await asking.end() == ""
    late = await submit(tmp_path, "print('ran as well')\n")
    assert "denied: Nobody is at the terminal any more." in await console.until("denied:")
    assert await late.end() == ""


def test_what_leaves_this_machine_is_said_before_the_answer() -> None:
    sink = io.StringIO()
    there = Request(
        "1", "claude", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "1", isolation=Isolation.E2B, protections=(OF_CLOUD,)
    )
    terminal = Terminal(cast("Engine", None), io.StringIO(), sink)
    terminal._show(there, Assessment(Level.HIGH, ("Runs code.",)), QuestionAsked("1", 60.0, 60.0, ""), "approve")
    words = "Runs in the e2b sandbox at cloud.example, so its code, input and files leave this machine, 30 s"
    assert words in sink.getvalue()


def test_that_nobody_has_checked_a_packages_sandbox_is_said_before_the_answer() -> None:
    sink = io.StringIO()
    brought = (f"{BROUGHT}tiny of the package tiny 1.0",)
    there = Request(
        "1", "claude", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "1", isolation=Isolation.PLUGIN, protections=brought
    )
    terminal = Terminal(cast("Engine", None), io.StringIO(), sink)
    terminal._show(there, Assessment(Level.HIGH, ("Runs code.",)), QuestionAsked("1", 60.0, 60.0, ""), "approve")
    words = "tiny of the package tiny 1.0, which Assent has not checked and which may leave this machine, 30 s"
    assert words in sink.getvalue()


OF_CLOUD = f"{PROMISED}cloud.example"


def test_a_reason_that_is_a_finding_too_is_said_once() -> None:
    sink = io.StringIO()
    said = "The code would have network access."
    found = Finding("request.network", Level.CRITICAL, Capability.NETWORK, WHOLE, "", said)
    assessment = Assessment(Level.CRITICAL, (said, "Code is run."), (found,))
    request = Request("1", "claude", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(1)")
    Terminal(cast("Engine", None), io.StringIO(), sink)._show(
        request, assessment, QuestionAsked("1", 60.0, 60.0, ""), "approve"
    )
    assert sink.getvalue().count(said) == 1 and "Code is run." in sink.getvalue()
