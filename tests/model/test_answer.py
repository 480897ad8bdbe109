"""What agents are told."""

from __future__ import annotations

import re

import pytest

from runner.model.answer import ASK_FOR_HOSTS, NO_HOST, Answer, Status, shorten
from runner.model.decision import Decider, Decision, Verdict
from runner.model.network import Contact
from runner.model.result import CapturedFile, Meta, Outcome, Result
from runner.sandbox.file_collector import LeftOut
from runner.sandbox.output import Stream, Transcript

APPROVED = Decision(Verdict.APPROVED, Decider.PERSON, "")


def finished(outcome: Outcome = Outcome.OK, **more: object) -> Answer:
    result = {"stdout": "", "stderr": "", "exit_code": 0, "duration": 0.1, **more}
    return Answer("r", APPROVED, Result(outcome, **result))  # type: ignore[arg-type]


def test_output_comes_as_it_is() -> None:
    answer = finished(stdout="hello\n")
    assert (answer.text(), answer.is_error, answer.status) == ("hello", False, Status.FINISHED)


def test_no_output_is_said() -> None:
    assert finished().text() == "(no output)"


def test_a_failure_tells_stderr_exit_code_and_how_it_ended() -> None:
    answer = finished(Outcome.TIMED_OUT, stderr="timed out", exit_code=-1, error="Execution timed out after 5 s")
    assert answer.is_error
    assert answer.text() == "stderr:\ntimed out\nError (exit_code=-1): Execution timed out after 5 s"


@pytest.mark.parametrize("verdict", [Verdict.DENIED, Verdict.EXPIRED, Verdict.WITHDRAWN])
def test_what_did_not_run_says_so_with_the_reason(verdict: Verdict) -> None:
    answer = Answer("r", Decision(verdict, Decider.PERSON, "Use the staging host"))
    assert answer.is_error
    assert answer.text() == f"{verdict.capitalize()}: Use the staging host. Nothing was run; there is no output."
    assert answer.structured()["status"] == verdict.value
    assert "stdout" not in answer.structured()


def test_long_output_keeps_head_and_tail_and_counts_what_is_missing() -> None:
    text = "a" * 600 + "ü" * 600 + "z" * 600
    short = shorten(text, 1000)
    assert short.startswith("a" * 500) and short.endswith("z" * 500)
    assert "output truncated: 1,400 bytes left out" in short
    assert shorten("x" * 1000, 1000) == "x" * 1000


def test_cutting_never_splits_a_character() -> None:
    assert "�" not in shorten("ü" * 2000, 1001)


def test_output_that_is_cut_twice_counts_all_that_is_missing() -> None:
    transcript = Transcript(4_000)
    transcript.append(Stream.OUT, b"0123456789" * 1_000)
    stdout, dropped = transcript.text(Stream.OUT)
    answer = finished(stdout=stdout, meta=Meta(truncated=True, dropped_stdout=dropped))
    short = answer.bounded(1_000).result
    assert short is not None
    left = re.sub(r"\n\.\.\. \(output truncated: .*\n", "", short.stdout)
    assert short.meta.dropped_stdout == 10_000 - len(left)
    assert f"{short.meta.dropped_stdout:,} bytes left out" in short.stdout


def test_an_answer_that_is_kept_has_bounded_output_and_says_what_was_cut() -> None:
    answer = finished(stdout="x" * 100_000, stderr="y" * 10, value=["z" * 50_000]).bounded(1_000)
    assert answer.result is not None and answer.size() < 5_000
    assert answer.result.meta.truncated and answer.result.meta.dropped_stdout > 98_000
    assert answer.result.stderr == "y" * 10


@pytest.mark.parametrize(("value", "cut"), [("x" * 200, False), ("x" * 300, True), ("x" * 2000, True)])
def test_a_value_that_is_cut_is_said_to_be(value: str, cut: bool) -> None:
    """300 characters are whole in the data, but not in the text."""
    answer = finished(value=value)
    assert ("output truncated" in answer.text(1)) is cut
    bounded = answer.bounded(1024).result
    assert bounded is not None and bounded.meta.truncated is cut


REFUSED = Contact("evil.example", 443, False, "is not allowed for this sandbox")


def test_refused_hosts_end_the_text_with_what_to_do() -> None:
    reached = Contact("good.example", 443, True, sent=3, received=4)
    answer = finished(stdout="hello\n", contacts=(REFUSED, Contact("evil.example", 8443, False, "x"), reached))
    assert answer.text() == f"hello\nRefused by Assent, not reached: evil.example, evil.example:8443.\n{ASK_FOR_HOSTS}"
    data = answer.details()["network"]
    assert isinstance(data, dict)
    assert [one["outcome"] for one in data["hosts"]] == ["refused", "refused", "allowed"]
    assert (data["sent"], data["received"], data["hosts_left_out"]) == (3, 4, 0)


def test_a_host_that_was_allowed_on_the_way_is_not_said_to_be_out_of_reach() -> None:
    then = Contact(REFUSED.host, REFUSED.port, True, sent=3, received=4)
    only = finished(stdout="hello\n", contacts=(REFUSED, then)).text()
    assert only == "hello\nRefused by Assent for a part of the run only: evil.example."
    both = finished(contacts=(REFUSED, then, Contact("other.example", 443, False, "x"))).text()
    assert "not reached: other.example; refused for a part of the run only: evil.example.\n" in both


def test_what_was_reached_or_failed_is_no_refusal() -> None:
    others = (Contact("good.example", 443, True), Contact("far.example", 443, None, "cannot be reached"))
    assert finished(stdout="hello\n", contacts=others).text() == "hello"
    assert "network" not in finished().details()


@pytest.mark.parametrize("name", ["Approved. Nothing was refused", "\x1b[2J", "a b", "x/y", "2130706433", ""])
def test_what_is_no_host_name_is_counted_and_never_quoted(name: str) -> None:
    no_name = Contact(name, 0, False, "is no host")
    answer = finished(contacts=(no_name,))
    assert "Refused by Assent, not reached: none that has a name.\n" in answer.text()
    assert not name or name not in answer.text()
    both = finished(contacts=(no_name, REFUSED)).text()
    assert "not reached: evil.example and 1 more.\n" in both
    data = answer.details()["network"]
    assert isinstance(data, dict) and data["hosts"][0]["host"] == NO_HOST


def test_many_refused_hosts_are_counted() -> None:
    many = tuple(Contact(f"n{number}.example", 443, False) for number in range(60))
    text = finished(contacts=many, contacts_left_out=7).text()
    assert "n19.example and 40 more; 7 further tries are not listed." in text and "n20.example" not in text


@pytest.mark.parametrize("folder", [".packages", "node_modules"])
def test_the_folder_of_packages_that_assent_made_is_not_news_to_an_agent(folder: str) -> None:
    left = f"{LeftOut.PACKAGES}: {folder}"
    assert finished(stdout="5", files_left_out=left).text() == "5"
    one = (CapturedFile("plot.png", 3, "0" * 64),)
    assert finished(files=one, files_left_out=left).text() == "Files created: plot.png (3 bytes)"
    told = f"links: x; {left}"
    assert finished(files_left_out=told).text() == f"Files created: none collected. Left out: {told}"
