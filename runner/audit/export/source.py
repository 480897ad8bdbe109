"""Reads what is exported, one request after the other, newest first; memory does not grow with the history."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from runner.audit.bodies import parsed
from runner.audit.removal import removed_content
from runner.audit.row import Row
from runner.audit.search import ANYTHING, DECIDED, Filter, History, Interrupted
from runner.audit.tables import DAMAGE, connect_to_read, explained
from runner.model.lifecycle import Phase
from runner.model.request import canonical

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from runner.audit.finding import Line
    from runner.audit.removal import RemovedContent

CACHE_KIB = 32 * 1024
"""Memory for pages of the file: the entries of a request lie in many."""
PAGE = 500
"""Requests of the list that are read together."""
# The second condition lets SQLite use the index of a ledger of the first format as well.
_STEPS = (
    "SELECT seq, at, kind, body_sha256, data FROM entries LEFT JOIN bodies USING (seq)"
    " WHERE request_id = ? AND request_id <> '' ORDER BY seq"
)


class ExportedStep(NamedTuple):
    """One entry about a request; no body where that is missing or damaged."""

    seq: int
    at: int
    """Microseconds since the epoch."""
    kind: str
    text: str | None
    """The body as canonical JSON."""


@dataclass(frozen=True)
class ExportedRequest:
    """A request as the ledger has it, with nothing added and nothing taken out."""

    line: Line
    steps: tuple[ExportedStep, ...]
    removed: RemovedContent | None = None
    """Set where the content was removed."""

    @cached_property
    def texts(self) -> dict[str, str]:
        """Bodies as canonical JSON, by kind of entry; the last one where there are several."""
        return {step.kind: step.text for step in self.steps if step.text is not None}

    def body(self, kind: str) -> dict[str, Any]:
        """Return the body of a kind, without the readings of a curve; empty where there is none."""
        text = self.texts.get(kind)
        found = {} if text is None else parsed(text)
        return found if isinstance(found, dict) else {}

    @property
    def row(self) -> Row | None:
        return self.line if isinstance(self.line, Row) else None

    @cached_property
    def asked(self) -> dict[str, Any]:
        return self.body(Phase.ARRIVED)

    @cached_property
    def assessment(self) -> dict[str, Any]:
        return self.body(Phase.ASSESSED)

    @cached_property
    def decision(self) -> dict[str, Any]:
        return next((self.body(phase) for phase in DECIDED if phase in self.texts), {})

    @cached_property
    def result(self) -> dict[str, Any]:
        return self.body(Phase.FINISHED)

    @property
    def problem(self) -> str:
        """Why the request cannot be read whole, in a sentence; empty where it can."""
        if not isinstance(self.line, Row):
            return self.line.why
        if self.removed is not None:
            return self.removed.words
        damaged = next((step.seq for step in self.steps if step.text is None), None)
        return "" if damaged is None else f"The body of entry {damaged} is missing or damaged."


class ExportedRequests:
    """The requests of the ledger at `path` that fit `wanted`, or those called `names`.

    Any thread may call `stop`: iterating raises Interrupted then. Raises KnownError where the ledger cannot be read.
    """

    def __init__(self, path: Path, wanted: Filter = ANYTHING, names: Sequence[str] | None = None) -> None:
        self._path = path
        self._wanted = wanted
        self._names = names
        self._history: History | None = None
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        if (history := self._history) is not None:
            history.interrupt()

    def each(self, progress: Callable[[int], None] = lambda count: None) -> Iterator[ExportedRequest]:
        """Yield them; `progress` gets the number so far, now and then, and may raise to stop."""
        with (
            contextlib.closing(History(self._path)) as history,
            contextlib.closing(connect_to_read(self._path)) as connection,
        ):
            self._history = history
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            try:
                for count, line in enumerate(self._lines(history)):
                    self._continue()
                    if count % PAGE == 0:
                        progress(count)
                    yield _read(connection, line)
            except DAMAGE as error:
                raise explained(error, self._path) from error
            finally:
                self._history = None

    def _continue(self) -> None:
        if self._stopped:
            raise Interrupted("The export was stopped.")

    def _lines(self, history: History) -> Iterator[Line]:
        if self._names is not None:
            found = history.fitting(ANYTHING, self._names)
            yield from sorted(found.values(), key=lambda line: line.seq, reverse=True)
            return
        before = None
        while lines := history.lines(self._wanted, before, PAGE):
            yield from lines
            before = lines[-1].seq
            self._continue()


def _read(connection: sqlite3.Connection, line: Line) -> ExportedRequest:
    found = connection.execute(_STEPS, (line.id,))
    # A list and no generator: this is done for every entry of the history.
    steps = tuple([ExportedStep(seq, at, kind, _text(data, digest)) for seq, at, kind, digest, data in found])
    whole = None not in [step.text for step in steps]
    return ExportedRequest(line, steps, None if whole else removed_content(connection, line.seq))


def _text(data: object, digest: str) -> str | None:
    """Return a stored body; None where it is no object of JSON. One that was altered is read and written again."""
    if not isinstance(data, str):
        return None
    if sha256(data.encode("utf-8", "replace")).hexdigest() == digest and data[:1] == "{":
        return data
    with contextlib.suppress(ValueError, RecursionError):
        body = json.loads(data, parse_constant=_no_number)
        return canonical(body).decode("ascii") if isinstance(body, dict) else None
    return None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
