"""Reads what is exported, one request after the other, newest first; memory does not grow with the history."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from runner.audit.removal import removed_content
from runner.audit.row import Row
from runner.audit.search import ANYTHING, DECIDED, Filter, History, Interrupted
from runner.audit.tables import DAMAGE, connect_to_read, explained
from runner.model.lifecycle import Phase

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from runner.audit.finding import Line
    from runner.audit.removal import RemovedContent

PAGE = 500
"""Requests of the list that are read together."""
# The second condition lets SQLite use the index of a ledger of the first format as well.
_STEPS = (
    "SELECT seq, at, kind, data FROM entries LEFT JOIN bodies USING (seq)"
    " WHERE request_id = ? AND request_id <> '' ORDER BY seq"
)


@dataclass(frozen=True, slots=True)
class ExportedStep:
    """One entry about a request; no body where that is missing or damaged."""

    seq: int
    at: int
    """Microseconds since the epoch."""
    kind: str
    body: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ExportedRequest:
    """A request as the ledger has it, with nothing added and nothing taken out."""

    line: Line
    steps: tuple[ExportedStep, ...]
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By kind of entry; the last one where there are several."""
    removed: RemovedContent | None = None
    """Set where the content was removed."""

    @property
    def row(self) -> Row | None:
        return self.line if isinstance(self.line, Row) else None

    @property
    def asked(self) -> dict[str, Any]:
        return self.bodies.get(Phase.ARRIVED, {})

    @property
    def assessment(self) -> dict[str, Any]:
        return self.bodies.get(Phase.ASSESSED, {})

    @property
    def decision(self) -> dict[str, Any]:
        return next((self.bodies[phase] for phase in DECIDED if phase in self.bodies), {})

    @property
    def result(self) -> dict[str, Any]:
        return self.bodies.get(Phase.FINISHED, {})

    @property
    def problem(self) -> str:
        """Why the request cannot be read whole, in a sentence; empty where it can."""
        if not isinstance(self.line, Row):
            return self.line.why
        if self.removed is not None:
            return self.removed.words
        damaged = next((step.seq for step in self.steps if step.body is None), None)
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
    steps = tuple(
        ExportedStep(seq, at, kind, _body(data)) for seq, at, kind, data in connection.execute(_STEPS, (line.id,))
    )
    whole = all(step.body is not None for step in steps)
    removed = None if whole else removed_content(connection, line.seq)
    return ExportedRequest(line, steps, {step.kind: step.body for step in steps if step.body is not None}, removed)


def _body(data: object) -> dict[str, Any] | None:
    """Return a stored body; None where it is not what was written."""
    if isinstance(data, str):
        with contextlib.suppress(ValueError, RecursionError):
            body = json.loads(data, parse_constant=_no_number)
            return body if isinstance(body, dict) else None
    return None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
