"""Requests whose class a person marked as wrong: kept in a file of this account, for whoever improves the rules.

The file is never sent and nothing is decided by it. Only a person's own act in the window or terminal writes to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.assessment import Assessment, Finding, Level
from runner.model.codec import UnreadableValue, decode, encode
from runner.model.errors import KnownError
from runner.model.request import Claim, Isolation, Request
from runner.risk.explain.class_reasons import by_findings
from runner.system import sources
from runner.system.durable import replace_file
from runner.system.file_lock import held
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

SCHEMA = 1
MOST_CASES = 500
LONGEST_CASE = 1 << 19
"""Bytes of one case, with its code."""
MOST_BYTES = 16 << 20
"""Bytes of the file."""
LONGEST_NOTE = 500
LOCK_SECONDS = 2.0
ID_LENGTH = 10
FREE_SOME = "Remove some: `assent assess --kept` lists them."


@dataclass(frozen=True, slots=True)
class DisputedCase:
    """A request with the class that it got, and the one that it should have had in the person's view."""

    request: Request
    """Without the agent, its description of itself and its title, reason, project and task."""
    named: Level
    """The person's view."""
    level: Level
    """The class that the classifier gave, without the rules of the person."""
    base: Level | None
    findings: tuple[Finding, ...]
    classifier: str
    """Version of Assent, and the first digits of the hash of the files that assess."""
    kept_at: float
    """Seconds since the epoch."""
    note: str = ""

    @property
    def assessment(self) -> Assessment:
        """What was assessed then, as far as it is kept."""
        return Assessment(self.level, (), self.findings, base=self.base)


@dataclass(frozen=True, slots=True)
class DisputedLine:
    """A line of the file: a case, or why it cannot be read."""

    id: str
    number: int
    """Which line of the file it is, from 1."""
    text: str
    case: DisputedCase | None
    problem: str = ""


def dispute(request: Request, assessment: Assessment, named: Level, note: str, now: float) -> DisputedCase:
    """Return the case of a person who says that `request` should have been `named`."""
    plain = replace(request, id="", agent="", title="", program="", session=0, claim=Claim())
    note = " ".join(note.split())[:LONGEST_NOTE]
    level = by_findings(assessment)
    return DisputedCase(plain, named, level, assessment.base, assessment.findings, classifier(), now, note)


def classifier() -> str:
    """Return which classifier this is, so that cases of another version are recognized."""
    from importlib import metadata

    try:
        version = metadata.version("assent")
    except metadata.PackageNotFoundError:
        version = "0"
    return f"{version} {sources.at_start()[:12]}".strip()


# ---- whether an assessment is what the person named ----


def too_high(assessment: Assessment, named: Level) -> bool:
    """Return whether `assessment` is above what was named, as far as this kind of request can be below it."""
    floor = named if assessment.base is None else max(named, assessment.base)
    return by_findings(assessment) > floor or _worst(assessment) > named


def too_low(assessment: Assessment, named: Level) -> bool:
    """Return whether less was found than was named. The class that the kind has by itself finds nothing."""
    return _worst(assessment) < named


def can_be_named(assessment: Assessment, named: Level) -> bool:
    """Return whether saying `named` says that something is wrong."""
    return too_high(assessment, named) or too_low(assessment, named)


def settled(case: DisputedCase, now: Assessment) -> bool:
    """Return whether a request is assessed now as its case says that it should be.

    What was called too high need not be found any more; what was called too low has to be found.
    """
    return not too_high(now, case.named) and (too_high(case.assessment, case.named) or not too_low(now, case.named))


def _worst(assessment: Assessment) -> Level:
    return assessment.attention or Level.LOW


@dataclass(frozen=True, slots=True)
class Reassessed:
    """A kept case beside what the classifier says today."""

    line: DisputedLine
    now: Assessment
    settled: bool


def reassess(lines: Sequence[DisputedLine], assess: Callable[[Request], Assessment]) -> Iterator[Reassessed]:
    """Yield every case that can be read with its assessment by `assess`; each may take seconds."""
    for line in lines:
        if line.case is not None:
            now = assess(line.case.request)
            yield Reassessed(line, now, settled(line.case, now))


# ---- the file ----


class DisputedCases:
    """The file. Every method reads it again, raises KnownError where that fails, and may wait for another process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> tuple[DisputedLine, ...]:
        """Return all lines, the oldest first; those that cannot be read say so."""
        return tuple(_line(number, text) for number, text in enumerate(self._texts(), 1))

    def find(self, request: Request) -> DisputedLine | None:
        """Return the case that is kept of such a request."""
        subject = _subject(request)
        return next((one for one in self.lines() if one.case and _subject(one.case.request) == subject), None)

    def keep(self, case: DisputedCase) -> DisputedLine:
        """Add a case, in the place of an earlier one of the same request."""
        text = json.dumps({"schema": SCHEMA, **encode(case)}, separators=(",", ":"), allow_nan=False)
        if len(text) > LONGEST_CASE:
            what = f"This request has more than the {LONGEST_CASE >> 10} KB that are kept of one."
            raise KnownError(what, "Keep the part of the code that matters in a file of your own.")
        subject = _subject(case.request)
        with self._locked():
            texts = [line.text for line in self.lines() if line.case is None or _subject(line.case.request) != subject]
            if len(texts) >= MOST_CASES:
                raise KnownError(f"{MOST_CASES} cases are kept in {self.path}, the most there can be.", FREE_SOME)
            texts.append(text)
            self._write(texts)
        return _line(len(texts), text)

    def remove(self, ids: Sequence[str]) -> tuple[DisputedLine, ...]:
        """Remove lines by their ids, also those that cannot be read. Return what was removed."""
        with self._locked():
            lines = self.lines()
            gone = tuple(line for line in lines if line.id in ids)
            if gone:
                self._write([line.text for line in lines if line.id not in ids])
        return gone

    def _texts(self) -> list[str]:
        try:
            data = read_file(self.path, MOST_BYTES)
        except FileNotFoundError:
            return []
        except OSError as error:
            what = f"The kept cases in {self.path} cannot be read: {error.strerror or error}."
            raise KnownError(what, "Move the file away, or give yourself the right to read it.") from None
        return [one for one in data.decode("utf-8", "replace").split("\n") if one.strip()]

    def _write(self, texts: Sequence[str]) -> None:
        whole = "".join(f"{one}\n" for one in texts)
        if len(whole.encode()) > MOST_BYTES:
            raise KnownError(f"{self.path} would have more than {MOST_BYTES >> 20} MB.", FREE_SOME)
        replace_file(self.path, whole)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with held(self.path, LOCK_SECONDS):
                yield
        except BlockingIOError:
            what = f"Another program is writing to {self.path}."
            raise KnownError(what, "Try again when it has ended.") from None
        except OSError as error:
            raise self._unwritten(error) from None

    def _unwritten(self, error: OSError) -> KnownError:
        what = f"The kept cases could not be written to {self.path}: {error.strerror or error}."
        return KnownError(what, "Free disk space or give yourself the right to write there. The file is as before.")


def _subject(request: Request) -> str:
    """Return what makes two cases the same: all that decides, but not who asked and where it would run."""
    plain = replace(request, id="", agent="", isolation=Isolation.LOCAL, image="", protections=())
    return plain.digest


def _line(number: int, text: str) -> DisputedLine:
    id = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:ID_LENGTH]
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ValueError("it is no case of this version")
        return DisputedLine(id, number, text, decode(DisputedCase, data))
    except UnreadableValue as error:
        return DisputedLine(id, number, text, None, error.what)
    except (ValueError, RecursionError, TypeError) as error:
        return DisputedLine(id, number, text, None, f"Line {number:,} is damaged: {error}.")
