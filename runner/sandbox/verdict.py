"""Makes the result of a run from its end: one outcome, and a description."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from runner.model.behaviour import NOT_REPORTED, Behaviour
from runner.model.request import Isolation, Language
from runner.model.result import Meta, Outcome, Result, Usage
from runner.sandbox import imports
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from runner.sandbox.contract import Job
    from runner.sandbox.output import Transcript
    from runner.sandbox.report import Report

TAIL = 16384
"""Characters of stderr in which a runtime's last words are looked for. Go says what every goroutine did after them."""
MEMORY_WORDS = (
    "JavaScript heap out of memory",
    "Array buffer allocation failed",
    "ERR_MEMORY_ALLOCATION_FAILED",
    "Cannot allocate memory",
    "cannot allocate",
    "std::bad_alloc",
    "fatal error: runtime: out of memory",  # Go
    "memory allocation of ",  # Rust
    "OutOfMemoryError: Java heap space",
    "OutOfMemoryError: GC overhead limit exceeded",
    "There is insufficient memory for the Java Runtime Environment",
)
DISK_WORDS = (
    *("No space left on device", "ENOSPC", "File too large", "EFBIG", "File size limit exceeded"),
    *("no space left on device", "file too large"),  # Go
)
NO_MORE_PROCESSES = re.compile(
    r"can't start new thread|fork: (?:retry: )?Resource temporarily unavailable"  # Python's threads, Bash
    r"|spawn .{0,200}EAGAIN|fork.{0,200}\[Errno 11\]"  # Node, Python's processes
    r"|failed to create new OS thread|failed to spawn thread|unable to create native thread",  # Go, Rust, Java
    re.DOTALL,
)
KILLED_STATUS = 128 + 9
MUCH_MEMORY = 0.5
"""Share of the limit from which a kill may have been for want of memory: between two readings it grows fast."""
FILE_SIZE_STATUS = 128 + 25


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known before a run: its protections, versions and image."""

    protections: tuple[str, ...]
    versions: dict[str, str]
    isolation: Isolation = Isolation.LOCAL
    image: str = ""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a child: its status and the cause."""

    status: int
    """Exit status, 128 + signal when killed by one."""
    seconds: float
    why: Outcome | None
    """Why it was ended; None where it ended by itself."""
    reason: str
    """In words, where there is more to say."""
    curve: tuple[Usage, ...]
    peak_memory: int
    """Bytes."""
    disk_is_full: bool
    processes_full: bool = False
    """Whether a process was seen not to be started for the limit on them."""


def result(job: Job, setting: Setting, transcript: Transcript, ended: RunEnd, report: Report) -> Result:
    """Return the result of a run that took place; what its sandbox saw of it is for that to add."""
    stdout, dropped_out = transcript.text(Stream.OUT)
    stderr, dropped_err = transcript.text(Stream.ERR)
    outcome = _outcome(ended, report, stderr[-TAIL:])
    error = words(outcome, job, ended)
    if outcome in (Outcome.FAILED, Outcome.TIMED_OUT) and not ended.reason and _out_of_processes(ended, stderr[-TAIL:]):
        error = f"{error}, out of processes ({job.limits.processes} limit)"
    meta = Meta(
        runtime=setting.isolation.value,
        versions=setting.versions,
        image=setting.image,
        limits=job.limits,
        isolation=setting.isolation,
        protections=setting.protections,
        truncated=bool(dropped_out or dropped_err),
        timed_out=outcome is Outcome.TIMED_OUT,
        blocked_imports=report.blocked,
        dropped_stdout=dropped_out,
        dropped_stderr=dropped_err,
    )
    return Result(
        outcome=outcome,
        stdout=stdout,
        stderr=_with_lines(stderr, _stderr_lines(outcome, error, report)),
        exit_code=_exit_code(outcome, ended.status),
        duration=ended.seconds,
        value=report.value,
        error=error,
        # The code may say anything of itself, but it cannot have had more than its limit.
        peak_memory=max(ended.peak_memory, min(report.peak, job.limits.memory_mb << 20)) or None,
        meta=meta,
        curve=ended.curve,
        order=transcript.order(),
        observed=Behaviour(absent=NOT_REPORTED),
    )


def not_run(job: Job, setting: Setting, stderr: str, error: str, blocked: tuple[str, ...] = ()) -> Result:
    """Return the result of a run that was refused before it began."""
    meta = Meta(
        runtime=setting.isolation.value,
        versions=setting.versions,
        image=setting.image,
        limits=job.limits,
        isolation=setting.isolation,
        protections=setting.protections,
        blocked_imports=blocked,
    )
    return Result(Outcome.FAILED, "", stderr, 1, 0.0, error=error, meta=meta)


def refused(job: Job, setting: Setting) -> Result | None:
    """Return the result when the code's imports already say that it may not run."""
    if job.language is not Language.PYTHON:
        return None
    if not (found := imports.refused(job.code, job.imports, job.imported)):
        return None
    names = tuple(dict.fromkeys(entry.module for entry in found))
    error = f"Import of {', '.join(names)} is not allowed"
    return not_run(job, setting, imports.explained(found, job.imports), error, names)


def _outcome(ended: RunEnd, report: Report, last_words: str) -> Outcome:
    if ended.why is not None:
        return ended.why
    if ended.status == 0:
        return Outcome.OK
    if report.fault == "memory" or any(word in last_words for word in MEMORY_WORDS):
        return Outcome.OUT_OF_MEMORY
    full = ended.disk_is_full or ended.status == FILE_SIZE_STATUS
    if report.fault == "disk" or full or any(word in last_words for word in DISK_WORDS):
        return Outcome.OUT_OF_DISK
    return Outcome.FAILED


def _exit_code(outcome: Outcome, status: int) -> int:
    """Return the exit code. Only success has 0: code may have ended by itself just as it was being ended."""
    if outcome is Outcome.TIMED_OUT:
        return -1
    if status or outcome is Outcome.OK:
        return status
    return 1 if outcome in (Outcome.FAILED, Outcome.ENGINE_LOST) else KILLED_STATUS


def _out_of_processes(ended: RunEnd, last_words: str) -> bool:
    return ended.processes_full or NO_MORE_PROCESSES.search(last_words) is not None


def words(outcome: Outcome, job: Job, ended: RunEnd) -> str:
    """Return how it ended, for a person."""
    limits = job.limits
    match outcome:
        case Outcome.OK:
            return ""
        case Outcome.FAILED:
            return ended.reason or _status(ended, limits.memory_mb)
        case Outcome.TIMED_OUT:
            return f"Execution timed out after {limits.seconds:g} s"
        case Outcome.OUT_OF_MEMORY:
            return f"Ran out of memory ({limits.memory_mb} MB limit)"
        case Outcome.OUT_OF_DISK:
            return ended.reason or f"Ran out of disk space ({limits.disk_mb} MB limit)"
        case Outcome.OUTPUT_LIMIT:
            return f"Stopped for writing too much output ({limits.output_bytes:,} bytes are kept of each stream)"
        case Outcome.KILLED:
            return ended.reason or "Stopped"
        case Outcome.ENGINE_LOST:
            return ended.reason or "The sandbox failed"
        case _:
            assert_never(outcome)


def _status(ended: RunEnd, memory_mb: int) -> str:
    if ended.status == KILLED_STATUS and ended.peak_memory >= memory_mb * MUCH_MEMORY * 2**20:
        used = f"{ended.peak_memory / 2**20:,.0f} MB of {memory_mb:,} MB were in use"
        return f"Killed by signal 9, perhaps for want of memory ({used})"
    if ended.status > 128:
        return f"Ended by signal {ended.status - 128}"
    return f"Exit code {ended.status}"


def _stderr_lines(outcome: Outcome, error: str, report: Report) -> list[str]:
    """Return what an agent that only reads stderr has to know."""
    lines = [f"Note: {report.note}"] if report.note else []
    if outcome not in (Outcome.OK, Outcome.FAILED):
        lines.append(f"{error}.".replace("..", "."))
    return lines


def _with_lines(stderr: str, lines: list[str]) -> str:
    if not lines:
        return stderr
    gap = "" if not stderr or stderr.endswith("\n") else "\n"
    return stderr + gap + "\n".join(lines) + "\n"
