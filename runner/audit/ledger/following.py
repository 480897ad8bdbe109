"""Follows every request of a ledger from entry to entry, and compares what follows with the list of requests.

What the writer wrote is recognised by a short look at each body. Whatever looks different is read again in full, by the
rules of `row.advance`, which decide and name what is wrong: the short look may only ever accept.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from runner.audit.ledger.bodies import parsed
from runner.audit.ledger.chain import stored_row
from runner.audit.ledger.entry import stored_entry
from runner.audit.ledger.row import COLUMNS, Row, advance, storable, to_columns
from runner.model.assessment import Level
from runner.model.decision import Decider
from runner.model.errors import KnownError
from runner.model.lifecycle import NEXT, IllegalMove
from runner.model.request import BESIDE_THE_DIGEST, ONLY_WHERE_SET, Tool
from runner.model.result import Outcome
from runner.system.entry_points import USABLE

if TYPE_CHECKING:
    import sqlite3


PLACE = {name: place for place, name in enumerate(COLUMNS)}
_PHASE = PLACE["phase"]
_LEVEL = PLACE["level"]
_DECISION = slice(PLACE["verdict"], PLACE["waited"] + 1)
_END = slice(PLACE["outcome"], PLACE["duration"] + 1)
_FINISHED = slice(PLACE["finished_at"], PLACE["finished_seq"] + 1)
_ROW = f"SELECT {', '.join(COLUMNS)} FROM requests WHERE seq = ?"
_STEPS = (
    "SELECT seq, at, kind, request_id, body_sha256, prev, hash, data"
    " FROM entries JOIN bodies USING (seq) WHERE request_id = ? AND seq <= ? ORDER BY seq"
)
_LEVELS = {level.name: int(level) for level in Level}
_OUTCOMES = frozenset(outcome.value for outcome in Outcome)
_DECIDERS = frozenset(decider.value for decider in Decider)
_TOOLS = frozenset(tool.value for tool in Tool)
_FOLLOWING: dict[str | None, frozenset[str]] = {
    phase and phase.value: frozenset(then.value for then in following) for phase, following in NEXT.items()
}
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode

Columns = list[Any]


class Broken(Exception):
    """The ledger is broken at an entry; verification ends."""

    def __init__(self, seq: int | None, what: str) -> None:
        super().__init__(what)
        self.seq = seq
        self.what = what


class Following:
    """The requests that are open at the present entry, as the columns that the list must have for them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._open: dict[str, Columns] = {}
        self._passed: dict[str, str] = {}
        """The phase of requests whose content was removed, while they are open."""
        self.arrived = 0
        """Number of requests so far."""

    def step(self, kind: str, seq: int, at: int, request_id: str, data: str) -> None:
        """Take in an entry about the phase of a request. Raises Broken where it cannot follow."""
        columns = self._open.get(request_id)
        possible = kind in _FOLLOWING[columns[_PHASE] if columns else None]
        if not possible or not (columns := _glance(columns, kind, seq, at, request_id, data)):
            columns = list(to_columns(self._replayed(request_id, seq)))
        self.arrived += kind == "arrived"
        if kind == "closed":
            self._open.pop(request_id, None)
            self._compare(columns, seq)
        else:
            self._open[request_id] = columns

    def pass_over(self, kind: str, seq: int, request_id: str) -> None:
        """Take in an entry whose body was removed. Raises Broken for a step that cannot be."""
        if kind not in _FOLLOWING:
            return
        # Its first entries may have been read in an earlier look, before it was closed and its content removed.
        columns = self._open.pop(request_id, None)
        if kind not in _FOLLOWING[columns[_PHASE] if columns else self._passed.get(request_id)]:
            raise Broken(seq, f"Entry {seq} is a step that cannot be: {kind} of {request_id}.")
        self.arrived += kind == "arrived"
        if kind == "closed":
            self._passed.pop(request_id, None)
        else:
            self._passed[request_id] = kind

    def compare_open(self, last: int) -> None:
        """Raise Broken where the list differs in a request that is still open at entry `last`, the end."""
        for columns in self._open.values():
            self._compare(columns, last)

    def _compare(self, columns: Columns, seq: int) -> None:
        """Raise Broken where the list of requests differs from what the entries up to `seq` say."""
        if self._connection.execute(_ROW, columns[:1]).fetchone() != tuple(columns):
            _explain(self._connection, self._replayed(columns[PLACE["id"]], seq))

    def _replayed(self, request_id: str, seq: int) -> Row:
        """Return what follows from the entries of a request up to `seq`, each read in full."""
        row: Row | None = None
        for *columns, data in self._connection.execute(_STEPS, (request_id, seq)):
            entry = stored_entry(columns)
            try:
                row = advance(row, entry, json.loads(data))
            except IllegalMove as error:
                raise Broken(entry.seq, f"Entry {entry.seq} is a step that cannot be: {error}.") from error
            except (ValueError, KnownError) as error:
                raise Broken(entry.seq, f"Entry {entry.seq} makes no sense: {error}") from error
        assert row is not None, "every phase has a row"
        return row


def _glance(columns: Columns | None, kind: str, seq: int, at: int, request_id: str, data: str) -> Columns | None:
    """Return the columns after an entry that looks as the writer writes it; None where it does not."""
    try:
        body = {} if data == "{}" else parsed(data)
        if columns is None:
            return _arrived(seq, at, request_id, body)
        columns[_PHASE] = kind
        match kind:
            case "assessed":
                columns[_LEVEL] = _LEVELS[body["level"]]
            case "asked":
                columns[PLACE["asked_at"]] = at / 1_000_000
            case "approved" | "denied" | "expired" | "withdrawn":
                columns[_DECISION] = _decided(kind, at, body)
            case "running":
                columns[PLACE["started_at"]] = at / 1_000_000
            case "finished":
                columns[_FINISHED] = at / 1_000_000, seq
                if "outcome" in body:
                    columns[_END] = _ended(body)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    return columns if type(body) is dict else None


def _arrived(seq: int, at: int, request_id: str, body: dict[str, Any]) -> Columns | None:
    agent, tool, language, title = body["agent"], body["tool"], body["language"], body["title"]
    known = body["id"] == request_id and tool in _TOOLS and _is_language(language)
    if not known or type(agent) is not str or type(title) is not str:
        return None
    deciding = {name: value for name, value in body.items() if value or name not in ONLY_WHERE_SET}
    for name in BESIDE_THE_DIGEST:
        del deciding[name]
    digest = hashlib.sha256(_canonical(deciding).encode()).hexdigest()
    before = (seq, request_id, storable(agent), tool, language, storable(title), digest, "arrived", at / 1_000_000)
    columns: Columns = [None] * len(COLUMNS)
    columns[: len(before)] = before
    columns[PLACE["rule"]] = ""
    return columns


def _is_language(name: object) -> bool:
    """Return whether a request can be in a language of that name, perhaps one of a package that is not there now."""
    return name is None or (type(name) is str and USABLE.fullmatch(name) is not None)


def _decided(kind: str, at: int, body: dict[str, Any]) -> tuple[Any, ...]:
    if body["verdict"] != kind or body["by"] not in _DECIDERS:
        raise ValueError
    return kind, body["by"], storable(body["rule"]), at / 1_000_000, float(body["after_seconds"])


def _ended(body: dict[str, Any]) -> tuple[Any, ...]:
    if body["outcome"] not in _OUTCOMES or type(body["exit_code"]) is not int:
        raise ValueError
    return body["outcome"], body["exit_code"], float(body["duration"])


def _explain(connection: sqlite3.Connection, row: Row) -> None:
    """Raise Broken for the first column in which the list of requests differs from `row`."""
    try:
        listed = stored_row(connection, row.id)
    except KnownError as error:
        raise Broken(row.seq, f"The list of requests is wrong about entry {row.seq}: {error.what}") from error
    if listed is None:
        raise Broken(row.seq, f"The list of requests lacks {row.id}, which arrived with entry {row.seq}.")
    for name in COLUMNS:
        says, meant = getattr(listed, name), getattr(row, name)
        if says != meant:
            raise Broken(
                row.seq,
                f"The list of requests was changed: it gives {name} {says} for {row.id} (entry {row.seq}),"
                f" the entries give {meant}.",
            )
