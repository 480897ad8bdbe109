"""A rehearsal: what code did in a sandbox without network before a person decided, withheld until it is handed over."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from runner.model.codec import encode
from runner.model.request import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.network import Contact
    from runner.model.result import Result

REHEARSING, REHEARSED, ENDED, RELEASED = "rehearsing", "rehearsed", "rehearsal-ended", "released"
"""Kinds of entries in the ledger. Each `rehearsing` has its `rehearsed` or `rehearsal-ended`, unless Assent was killed;
`released` comes directly before the approval that it belongs to."""
LONGEST_LINE = 1_000
"""Characters of a line of output before it is continued on the next one: a view cuts lines that are much longer."""
OUT, ERR, VALUE, MORE = "out", "err", "value", "..."


class RehearsalMode(StrEnum):
    """Where the requests of an agent are rehearsed: what a person chooses."""

    OFF = ""
    GVISOR = "gvisor"
    """In gVisor only, which has a kernel of its own."""
    ANY = "any"
    """In every sandbox that separates the code from the machine."""


class RehearsalPhase(StrEnum):
    """How far the rehearsal of an open question is."""

    QUEUED = "queued"
    RUNNING = "running"
    SHOWN = "shown"
    """Its outcome is there, and may be handed over."""
    NONE = "none"
    """There is none, or none any more."""


@dataclass(frozen=True)
class Rehearsal:
    """The outcome of a rehearsal, exactly as it would be handed over."""

    request_digest: str
    result: Result

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) over canonical JSON of the request's digest and the whole outcome."""
        data = {"request": self.request_digest, "result": encode(self.result)}
        return hashlib.sha256(canonical(data)).hexdigest()

    @cached_property
    def text(self) -> str:
        """All that the agent would get, as text to be read before it is handed over.

        Each line that the code wrote has a mark before it, so that no output looks like a line of Assent's own.
        """
        return "\n".join(_lines(self.result))

    @property
    def refused(self) -> tuple[Contact, ...]:
        """The hosts that it tried to reach in vain."""
        return tuple(one for one in self.result.contacts if one.allowed is not True)


def outcome_words(result: Result) -> str:
    """Return how a rehearsal ended, in a few words: `ok, 0.4 s, 12 lines, 2 files, 1 host refused`."""
    printed = result.stdout.count("\n") + bool(result.stdout and not result.stdout.endswith("\n"))
    parts = [result.outcome.value, f"{result.duration:.1f} s"]
    if result.exit_code > 0:
        parts.insert(1, f"exit {result.exit_code}")
    parts += [_count(printed, "line")] if printed else ["no output"]
    parts += [_count(len(result.files), "file")] if result.files else []
    refused = len({(one.host, one.port) for one in result.contacts if one.allowed is not True})
    parts += [f"{_count(refused, 'host')} refused"] if refused else []
    return ", ".join(parts)


def _lines(result: Result) -> Iterator[str]:
    yield f"Outcome: {result.outcome.value}, exit code {result.exit_code}, after {result.duration:.2f} s"
    if result.error:
        yield from _marked("why", result.error)
    if result.peak_memory is not None:
        yield f"Peak memory: {result.peak_memory:,} bytes"
    if result.meta.blocked_imports:
        yield from _marked("import", f"refused: {', '.join(result.meta.blocked_imports)}")
    dropped = result.meta.dropped_stdout + result.meta.dropped_stderr
    if result.meta.truncated:
        what = f"{dropped:,} bytes of output are" if dropped else "a part of the result value is"
        yield f"Shortened: {what} left out. The agent does not get that either."
    yield ""
    if not (result.stdout or result.stderr):
        yield "It printed nothing."
    yield from _marked(OUT, result.stdout) if result.stdout else ()
    yield from _marked(ERR, result.stderr) if result.stderr else ()
    if result.value is not None:
        yield from ("", "Value of result:")
        yield from _marked(VALUE, json.dumps(result.value, indent=2, ensure_ascii=False, default=repr))
    yield from ("", _files_heading(result))
    for file in result.files:
        yield from _marked("file", f"{file.path}  {file.size:,} bytes  SHA-256 {file.sha256}")
    if result.files_left_out:
        yield from _marked("file", f"left out: {result.files_left_out}")
    yield from ("", "Tried the network and was refused:" if result.contacts else "It did not try the network.")
    for contact in result.contacts:
        times = f" ({contact.times:,} times)" if contact.times > 1 else ""
        yield from _marked("host", f"{contact.name}{times}: {contact.why}")
    if result.contacts_left_out:
        yield f"{result.contacts_left_out:,} further tries are not listed."


def _files_heading(result: Result) -> str:
    if result.files:
        return f"{_count(len(result.files), 'file')} created or changed:"
    return "No file was collected." if result.files_left_out else "It left no files."


def _marked(mark: str, text: str) -> Iterator[str]:
    """Yield the lines of a text that is not Assent's own, each with a mark before it; long ones continue."""
    for line in text.removesuffix("\n").split("\n"):
        yield f"{mark} \N{BOX DRAWINGS LIGHT VERTICAL} {line[:LONGEST_LINE]}"
        for start in range(LONGEST_LINE, len(line), LONGEST_LINE):
            yield f"{MORE} \N{BOX DRAWINGS LIGHT VERTICAL} {line[start : start + LONGEST_LINE]}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
