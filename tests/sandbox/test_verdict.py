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


@pytest.mark.parametrize(
    ("language", "said", "outcome", "error"),
    [
        (Language.GO, "fatal error: runtime: out of memory\n", Outcome.OUT_OF_MEMORY, "Ran out of memory"),
        (Language.RUST, "memory allocation of 1048576 bytes failed\n", Outcome.OUT_OF_MEMORY, "Ran out of memory"),
        (
            Language.JAVA,
            'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n',
            Outcome.OUT_OF_MEMORY,
            "Ran out of memory",
        ),
        (Language.GO, "panic: write large: no space left on device\n", Outcome.OUT_OF_DISK, "Ran out of disk space"),
        (Language.GO, "runtime: failed to create new OS thread\n", Outcome.FAILED, "out of processes"),
        (Language.RUST, "failed to spawn thread: Os { code: 11 }\n", Outcome.FAILED, "out of processes"),
        (Language.JAVA, "OutOfMemoryError: unable to create native thread\n", Outcome.FAILED, "out of processes"),
        (Language.GO, "panic: no\n", Outcome.FAILED, "Exit code 2"),
    ],
)
def test_each_language_says_in_its_own_words_what_it_ran_out_of(
    language: Language, said: str, outcome: Outcome, error: str
) -> None:
    """Go says what each goroutine did after that."""
    transcript = Transcript(100_000)
    transcript.append(Stream.ERR, said.encode() + b"goroutine 1 [running]:\n" * 400)
    transcript.end()
    ended = RunEnd(2, 1.0, None, "", (), 0, disk_is_full=False)
    found = verdict.result(Job("test", language, ""), Setting((), {}), transcript, ended, Report())
    assert found.outcome is outcome and error in found.error
