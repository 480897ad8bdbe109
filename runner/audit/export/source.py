"""Reads what is exported, one request after the other, newest first; memory does not grow with the history."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from runner.audit.history.search import ANYTHING, DECIDED, Filter, History, Interrupted
from runner.audit.ledger.bodies import parsed
from runner.audit.ledger.removal import removed_content
from runner.audit.ledger.row import Row
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.model.lifecycle import Phase
from runner.model.request import canonical

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from runner.audit.history.finding import Line
    from runner.audit.ledger.removal import RemovedContent

CACHE_KIB = 32 * 1024
"""Memory for pages of the file: the entries of a request lie in many."""
PAGE = 500
"""Requests of the list that are read together."""
# A join that keeps this order: one look-up for each entry, and no sorting. The second condition lets SQLite use the
# index of a ledger of the first format as well.
_STEPS = (
    "SELECT requests.seq, entries.seq, at, kind, body_sha256, data FROM requests"
    " CROSS JOIN entries ON request_id = id AND request_id <> '' LEFT JOIN bodies ON bodies.seq = entries.seq"
)
_ORDER = "ORDER BY requests.seq DESC, entries.seq"


class ExportedStep(NamedTuple):
    """One entry about a request; no body where that is missing or damaged."""

    seq: int
    at: int
    """Microseconds since the epoch."""
    kind: str
    text: str | None
    """The body as canonical JSON."""


@dataclass(slots=True, eq=False)
class ExportedRequest:
    """A request as the ledger has it, with nothing added and nothing taken out."""

    line: Line
    steps: tuple[ExportedStep, ...]
    removed: RemovedContent | None = None
    """Set where the content was removed."""
    texts: dict[str, str] = field(init=False)
    """Bodies as canonical JSON, by kind of entry; the last one where there are several."""
    _bodies: dict[str, dict[str, Any]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.texts = {step.kind: step.text for step in self.steps if step.text is not None}

    def body(self, kind: str) -> dict[str, Any]:
        """Return the body of a kind, without the readings of a curve; empty where there is none."""
        if (known := self._bodies.get(kind)) is not None:
            return known
        text = self.texts.get(kind)
        found = {} if text is None else parsed(text)
        body = self._bodies[kind] = found if isinstance(found, dict) else {}
        return body

    @property
    def row(self) -> Row | None:
        return self.line if isinstance(self.line, Row) else None

    @property
    def asked(self) -> dict[str, Any]:
        return self.body(Phase.ARRIVED)

    @property
    def assessment(self) -> dict[str, Any]:
        return self.body(Phase.ASSESSED)

    @property
    def decision(self) -> dict[str, Any]:
        for phase in DECIDED:
            if phase in self.texts:
                return self.body(phase)
        return {}

    @property
    def result(self) -> dict[str, Any]:
        return self.body(Phase.FINISHED)

    @property
    def problem(self) -> str:
        """Why the request cannot be read whole, in a sentence; empty where it can."""
        if not isinstance(self.line, Row):
            return self.line.why
        if self.removed is not None:
            return self.removed.words
        for step in self.steps:
            if step.text is None:
                return f"The body of entry {step.seq} is missing or damaged."
        return ""


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
                count = 0
                for page in self._pages(history):
                    progress(count)
                    count += len(page)
                    for request in _read(connection, page):
                        self._continue()
                        yield request
            except DAMAGE as error:
                raise explained(error, self._path) from error
            finally:
                self._history = None

    def _continue(self) -> None:
        if self._stopped:
            raise Interrupted("The export was stopped.")

    def _pages(self, history: History) -> Iterator[list[Line]]:
        if self._names is not None:
            found = history.fitting(ANYTHING, self._names)
            lines = sorted(found.values(), key=lambda line: line.seq, reverse=True)
            yield from (lines[start : start + PAGE] for start in range(0, len(lines), PAGE))
            return
        before = None
        while page := history.lines(self._wanted, before, PAGE):
            yield page
            before = page[-1].seq
            self._continue()


def _read(connection: sqlite3.Connection, page: list[Line]) -> Iterator[ExportedRequest]:
    """Yield the requests of `page`, the newest first; one after the other is read."""
    marks = ", ".join("?" * len(page))
    found = connection.execute(f"{_STEPS} WHERE requests.seq IN ({marks}) {_ORDER}", [line.seq for line in page])
    ahead = found.fetchone()
    for line in page:
        steps: list[ExportedStep] = []
        while ahead is not None and ahead[0] == line.seq:
            _, seq, at, kind, digest, data = ahead
            steps.append(ExportedStep(seq, at, kind, body_text(data, digest)))
            ahead = found.fetchone()
        whole = None not in [step.text for step in steps]
        yield ExportedRequest(line, tuple(steps), None if whole else removed_content(connection, line.seq))


def body_text(data: object, digest: str) -> str | None:
    """Return a stored body in one line; None where it is no object of JSON.

    One that is not as it was written is read and written again.
    """
    if not isinstance(data, str):
        return None
    whole = sha256(data.encode("utf-8", "replace")).hexdigest() == digest
    if whole and data[:1] == "{" and data.isascii() and "\n" not in data and "\r" not in data:
        return data
    with contextlib.suppress(ValueError, RecursionError):
        body = json.loads(data, parse_constant=_no_number)
        return canonical(body).decode("ascii") if isinstance(body, dict) else None
    return None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
