"""The result that is made of the end of a run."""

from __future__ import annotations

import pytest

from runner.model.request import Language
from runner.model.result import Outcome, OutputOrder
from runner.sandbox import verdict
from runner.sandbox.contract import Job
from runner.sandbox.output import Stream, Transcript
from runner.sandbox.report import Report
from runner.sandbox.verdict import RunEnd, Setting

JOB = Job("test", Language.PYTHON, "")


@pytest.mark.parametrize("why", [None, *(outcome for outcome in Outcome if outcome is not Outcome.OK)])
@pytest.mark.parametrize("status", [0, 3, 137])
def test_only_success_has_exit_code_0(why: Outcome | None, status: int) -> None:
    """Code may end by itself just as it is being ended: a shell would take that for success."""
    transcript = Transcript(1000)
    transcript.end()
    ended = RunEnd(status, 1.0, why, "", (), 0, disk_is_full=False)
    result = verdict.result(JOB, Setting((), {}), transcript, ended, Report())
    assert (result.exit_code == 0) is (result.outcome is Outcome.OK)
    if status:
        assert result.exit_code == (-1 if why is Outcome.TIMED_OUT else status)
    elif why is Outcome.OUT_OF_MEMORY:
        assert result.exit_code == 137


def test_a_timeout_is_called_one() -> None:
    """In the error and in standard error, with words that callers may look for."""
    transcript = Transcript(1000)
    transcript.end()
    ended = RunEnd(143, 1.0, Outcome.TIMED_OUT, "", (), 0, disk_is_full=False)
    result = verdict.result(JOB, Setting((), {}), transcript, ended, Report())
    assert (result.error, result.stderr) == ("Execution timed out after 30 s", "Execution timed out after 30 s.\n")
    assert result.meta.timed_out


@pytest.mark.parametrize(
    ("peak_mb", "words"),
    [
        (0, "Ended by signal 9"),
        (9, "Ended by signal 9"),
        (400, "Killed by signal 9, perhaps for want of memory (400 MB of 512 MB were in use)"),
    ],
)
def test_memory_is_named_as_the_cause_of_a_kill_only_where_much_was_in_use(peak_mb: int, words: str) -> None:
    """`os.kill(os.getpid(), 9)` is no want of memory."""
    transcript = Transcript(1000)
    transcript.end()
    ended = RunEnd(137, 1.0, None, "", (), peak_mb << 20, disk_is_full=False)
    assert verdict.result(JOB, Setting((), {}), transcript, ended, Report()).error == words


def test_the_order_of_the_output_is_kept() -> None:
    transcript = Transcript(1000)
    for stream, data in ((Stream.ERR, b"first\n"), (Stream.OUT, b"second\n"), (Stream.ERR, b"third")):
        transcript.append(stream, data)
    transcript.end()
    ended = RunEnd(143, 1.0, Outcome.TIMED_OUT, "", (), 0, disk_is_full=False)
    result = verdict.result(JOB, Setting((), {}), transcript, ended, Report())
    assert result.order == OutputOrder((0, 1, 1), whole=True)
