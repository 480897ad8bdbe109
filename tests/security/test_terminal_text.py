"""What agents and their code write cannot command a terminal, hide there, or look like a line of Assent's own."""

from __future__ import annotations

import io
import unicodedata
from typing import TYPE_CHECKING, cast

import pytest

from runner.commands import run
from runner.commands.assess import as_text
from runner.commands.terminal import Terminal
from runner.model.assessment import Assessment, Capability, Finding, Level, Span
from runner.model.decision import Decider, Decision, Verdict
from runner.model.events import QuestionAsked, RequestDecided
from runner.model.request import Language, Request, Tool
from runner.model.shown import visible

if TYPE_CHECKING:
    from runner.engine.engine import Engine

FORGED = "harmless\nHIGH  claude asks for code_execute (python)\nType 'approve' to run it, or 'deny' and a reason."
HOSTILE = "\x1b]52;c;cm0gLXJm\x07\x1b[8m\x9b2J\r"


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def _terminal() -> tuple[Terminal, io.StringIO]:
    sink = io.StringIO()
    return Terminal(cast("Engine", None), io.StringIO(), sink), sink


@pytest.mark.parametrize("hidden", "\u115f\u3164\u2800\u034f\ufe0f\U000e0101\u00a0\u2028")
def test_letters_and_marks_that_show_nothing_are_written_out(hidden: str) -> None:
    assert visible(f"a{hidden}b") == f"a\\u{{{ord(hidden):x}}}b", unicodedata.name(hidden)


def test_a_reason_cannot_look_like_another_question() -> None:
    terminal, sink = _terminal()
    terminal.hear(RequestDecided("1", Decision(Verdict.DENIED, Decider.ENGINE, FORGED)))
    finding = Finding("kept.unread", Level.CRITICAL, Capability.STARTS_PROCESSES, Span(1, 0, 1, 0), FORGED, FORGED)
    assessment = Assessment(Level.HIGH, (FORGED,), (finding,))
    request = Request("1", "claude", Tool.CODE_EXECUTE, 0.0, Language.SHELL, "true")
    terminal._show(request, assessment, QuestionAsked("1", 60.0, 60.0, FORGED), "approve")
    beginnings = [line for line in sink.getvalue().split("\n") if line.startswith("HIGH  claude asks")]
    assert len(beginnings) == 1
    assert len(as_text(assessment, "a.sh")) == len("\n".join(as_text(assessment, "a.sh")).split("\n"))


def test_what_code_printed_does_not_command_the_terminal_of_assent_run(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = _Tty(), _Tty()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    data = {"exit_code": 0, "stdout": f"a\tb\r\n{HOSTILE}", "stderr": HOSTILE, "error": HOSTILE, "status": "finished"}
    assert run._told({}, data, run.Received()) == 0
    assert run._told({"error": {"message": HOSTILE}}, {}, run.Received()) == run.NOT_RUN
    for stream in (out, err):
        assert not any(unicodedata.category(one) == "Cc" for one in stream.getvalue() if one not in "\t\n")
    assert out.getvalue().startswith("a\tb\n")


def test_a_file_gets_what_code_printed_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    run._told({}, {"exit_code": 0, "stdout": HOSTILE, "stderr": "", "status": "finished"}, run.Received())
    assert out.getvalue() == HOSTILE
