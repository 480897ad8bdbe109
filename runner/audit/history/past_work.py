"""Reads what the ledger says of programs at work, put together for each of them: a session.

Nothing of it is stored: the entries about programs at work are few beside those about requests, since up to 200
commands share one and the number of those that are named is bounded. They are read once, and then only what is new.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from runner.audit.history.terms import SoughtWords
from runner.audit.ledger.bodies import values
from runner.model import work_entries
from runner.model.work_entries import OPEN, OUTCOMES, SEEN, STARTED, WANTED, WorkDeed
from runner.system.clock import LAST_TIME

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from runner.audit.history.filter import Filter

KINDS = (SEEN, *work_entries.SINGLE, *WANTED, *OUTCOMES)
COMMAND, HOST, OPENED = "command", "host", "opened"
"""Kinds of steps of which one entry holds several."""
PREFIX = "work:"
"""Before the number of the first entry of a session, in its id: no request is called so."""
TOGETHER = 400
"""Entries that are read in one query."""
MOST_HOSTS = 500
"""Refused hosts of one session and day that are counted: a program may try as many as it likes."""
HELD, REFUSED = '"held":true', '"refused":"'
"""How a command that was held, or not run, says so in the body of its entry. In JSON a quotation mark inside a text has
a backslash before it, so that neither is ever found in one."""
_NEW = (
    "SELECT seq, at, kind, data FROM entries JOIN bodies USING (seq)"
    f" WHERE request_id = '' AND seq > ? AND +kind IN ({', '.join('?' * len(KINDS))}) ORDER BY seq"
)
_LAST = "SELECT coalesce(max(seq), 0) FROM entries WHERE request_id = ''"
_HASH = "SELECT hash FROM entries WHERE seq = ?"
_THESE = "SELECT seq, at, kind, data FROM entries JOIN bodies USING (seq) WHERE seq IN"


class WorkDay(NamedTuple):
    """What was decided about a program at work, and refused to it, on one day."""

    day: int
    """Ordinal, in local time."""
    let_run: int = 0
    turned_down: int = 0
    """Held commands, by a person's answer."""
    not_run: int = 0
    """Commands that were refused without one: by a rule, or as its agent was paused."""
    hosts: tuple[str, ...] = ()
    """The names of those refused, each time that one was recorded."""


@dataclass(frozen=True, slots=True)
class PastSession:
    """What is recorded of one program at work. Times are seconds since the epoch."""

    seq: int
    """The entry with which it begins: unique, and rising with time."""
    name: str
    """Of the working copy."""
    project: str
    program: tuple[str, ...]
    client: str
    agent: str
    started_at: float
    last_at: float
    """Of the last thing that its program did, as far as that is recorded."""
    recorded: bool
    """Whether its start is recorded: of what `assent try` ran, only what was done with the changes is."""
    ended_at: float | None
    """None where no end is recorded: it is at work, or was ended from outside (a kill, a power cut)."""
    code: int
    why: str
    """Why Assent ended it; '' where it ended by itself."""
    commands: int
    held: int
    refused: int
    """Commands that were not run, held ones among them."""
    hosts_refused: int
    opened: int
    """Hosts that a person opened for it."""
    applied: int
    undone: int
    """Changes that were written into the project, and taken back."""
    discarded: bool
    days: tuple[WorkDay, ...] = ()
    """The days on which something was decided or refused."""

    @property
    def id(self) -> str:
        return f"{PREFIX}{self.seq}"

    @property
    def is_open(self) -> bool:
        """Whether its start is recorded, and no end of it."""
        return self.recorded and self.ended_at is None

    @property
    def who(self) -> str:
        """The agent that it belongs to, else its client, else its program."""
        return self.agent or self.client or (Path(self.program[0]).name if self.program else "")

    def fits(self, wanted: Filter) -> bool:
        """Return whether it is asked for by all but the words: what only a request has, no session does."""
        return (
            wanted.level is None
            and not any((wanted.verdict, wanted.outcome, wanted.language, wanted.sandbox))
            and not any((wanted.finding, wanted.unforeseen, wanted.host))
            and wanted.agent in ("", self.who)
            and (wanted.since is None or self.started_at >= wanted.since)
            and (wanted.until is None or self.started_at < wanted.until)
        )


@dataclass(frozen=True, slots=True)
class PastStep:
    """One thing that happened in a session."""

    at: float
    """Seconds since the epoch; of what stands in one entry with others, at least the time of the first of them."""
    kind: str
    """COMMAND, HOST, OPENED, or the kind of its entry."""
    facts: dict[str, Any]


@dataclass(slots=True)
class _Session:
    """A session while its entries are put together."""

    seq: int
    name: str
    started_at: float
    last_at: float
    entries: list[int] = field(default_factory=list)
    project: str = ""
    program: tuple[str, ...] = ()
    client: str = ""
    agent: str = ""
    recorded: bool = False
    ended_at: float | None = None
    code: int = 0
    why: str = ""
    commands: int = 0
    held: int = 0
    refused: int = 0
    hosts: set[tuple[str, str]] = field(default_factory=set)
    opened: set[tuple[str, str]] = field(default_factory=set)
    applied: int = 0
    undone: int = 0
    discarded: bool = False
    days: dict[int, WorkDay] = field(default_factory=dict)

    @property
    def plain(self) -> PastSession:
        return PastSession(
            self.seq,
            self.name,
            self.project,
            self.program,
            self.client,
            self.agent,
            self.started_at,
            self.last_at,
            self.recorded,
            self.ended_at,
            self.code,
            self.why,
            self.commands,
            self.held,
            self.refused,
            len(self.hosts),
            len(self.opened),
            self.applied,
            self.undone,
            self.discarded,
            tuple(self.days.values()),
        )

    def take(self, seq: int, kind: str, at: float, body: dict[str, Any], data: str) -> None:
        """Take in one more entry; `data` is the text of its body. What is damaged in it says nothing."""
        self.entries.append(seq)
        self.project = self.project or _text(body, "project")
        self.client = self.client or _text(body, "client")
        self.agent = _text(body, "agent") or self.agent
        self.program = self.program or tuple(map(str, _listed(body, "program")))
        match kind:
            case work_entries.STARTED:
                self.recorded = True
            case work_entries.SEEN:
                self._take_seen(at, body, data)
            case work_entries.ENDED:
                self.ended_at = self.last_at = max(self.started_at, at)
                self.code, self.why = _number(body, "code"), _text(body, "why")
            case work_entries.ANSWER:
                self._take_answer(at, body, 1)
            case work_entries.NOT_ANSWERED:
                self._take_answer(at, body, -1)
            case work_entries.OPEN:
                self.opened.add(_place(body))
            case work_entries.NOT_OPENED:
                self.opened.discard(_place(body))
            case WorkDeed.APPLY.done:
                self.applied += _number(body, "paths")
            case WorkDeed.UNDO.done:
                self.undone += _number(body, "paths")
            case WorkDeed.DISCARD.done:
                self.discarded = True

    def _take_answer(self, at: float, body: dict[str, Any], number: int) -> None:
        """Count an answer, or with -1 that it does not count after all."""
        run = body.get("run") is True
        self._add(at, let_run=number * run, turned_down=number * (not run))

    def _add(
        self, at: float, *, let_run: int = 0, turned_down: int = 0, not_run: int = 0, hosts: Iterable[str] = ()
    ) -> None:
        day = date.fromtimestamp(at).toordinal()
        was = self.days.get(day, WorkDay(day))
        self.days[day] = WorkDay(
            day,
            was.let_run + let_run,
            was.turned_down + turned_down,
            was.not_run + not_run,
            (*was.hosts, *hosts)[:MOST_HOSTS],
        )

    def _take_seen(self, at: float, body: dict[str, Any], data: str) -> None:
        # Commands are only counted, and not looked at one by one: a long night has tens of thousands of them.
        commands = _listed(body, "commands")
        self.commands += len(commands) + _number(body, "commands_not_named")
        self.held += data.count(HELD)
        not_run = data.count(REFUSED)
        self.refused += not_run
        hosts = [_text(one, "host") for one in _facts(body, "hosts") if one.get("allowed") is False]
        if not_run or hosts:
            self._add(at, not_run=not_run, hosts=hosts)
        last = commands[-1] if commands else None
        self.last_at = max(self.last_at, at, _moment(last, at) if isinstance(last, dict) else at)
        self.refused += sum(one.get("run") is False for one in _facts(body, "answered"))
        self.hosts |= {_place(one) for one in _facts(body, "hosts") if one.get("allowed") is False}
        self.opened |= {_place(one) for one in _facts(body, "opened")}


class PastWork:
    """The sessions of one ledger, kept between readings. For one thread at a time; raises what sqlite3 does."""

    def __init__(self) -> None:
        self._upto, self._hash = 0, ""
        self._sessions: dict[int, _Session] = {}
        self._newest: dict[str, _Session] = {}
        self._words: tuple[str, ...] = ()
        self._sought: dict[int, tuple[int, bool]] = {}
        """For each session: how many of its entries were searched for `_words`, and whether these were found."""

    def all(self, connection: sqlite3.Connection) -> tuple[PastSession, ...]:
        """Return all sessions, the newest first."""
        self._catch_up(connection)
        return tuple(one.plain for one in reversed(self._sessions.values()))

    def fitting(
        self, connection: sqlite3.Connection, wanted: Filter, before: int | None = None
    ) -> Iterator[PastSession]:
        """Yield the sessions that fit, the newest first; those alone that began before the entry `before`."""
        self._catch_up(connection)
        words = SoughtWords(wanted.text).all
        if words != self._words:
            self._words = words
            self._sought.clear()
        for one in [*reversed(self._sessions.values())]:
            if before is not None and one.seq >= before:
                continue
            if (plain := one.plain).fits(wanted) and (not words or self._holds(connection, one, words)):
                yield plain

    def one(self, connection: sqlite3.Connection, name: str) -> PastSession | None:
        """Return the session with this id; None for none."""
        self._catch_up(connection)
        found = self._sessions.get(_begin(name))
        return None if found is None else found.plain

    def steps(self, connection: sqlite3.Connection, name: str) -> tuple[PastStep, ...]:
        """Return what happened in the session with this id, oldest first."""
        self._catch_up(connection)
        found = self._sessions.get(_begin(name))
        if found is None:
            return ()
        rows = [(at, kind, values(data)) for at, kind, data in self._rows(connection, found.entries)]
        told = {_place(body) for _, kind, body in rows if kind == OPEN}
        return tuple(step for at, kind, body in rows for step in _steps(_moment(body, at), kind, body, told))

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        """Take in what was written since the last time; everything where this is another ledger."""
        if self._upto and connection.execute(_HASH, (self._upto,)).fetchone() != (self._hash,):
            self._upto = 0
            for known in (self._sessions, self._newest, self._sought):
                known.clear()
        (last,) = connection.execute(_LAST).fetchone()
        if last <= self._upto:
            return
        for seq, at, kind, data in connection.execute(_NEW, (self._upto, *KINDS)):
            if seq <= last:
                self._take(seq, at / 1_000_000, kind, data)
        (self._hash,) = connection.execute(_HASH, (last,)).fetchone()
        self._upto = last

    def _take(self, seq: int, at: float, kind: str, data: str) -> None:
        body = values(data)
        name = _text(body, "name")
        if not name:
            return
        at = _moment(body, at)
        session = self._newest.get(name)
        if session is None or (kind == STARTED and session.recorded):
            session = self._newest[name] = self._sessions[seq] = _Session(seq, name, at, at)
        session.take(seq, kind, at, body, data)

    def _holds(self, connection: sqlite3.Connection, session: _Session, words: tuple[str, ...]) -> bool:
        """Return whether all words occur in what is recorded of a session."""
        number, found = self._sought.get(session.seq, (0, False))
        if not found and number < len(session.entries):
            missing = SoughtWords.missing(words, (session.name, session.project, *session.program, session.client))
            for _, kind, data in self._rows(connection, session.entries) if missing else ():
                # The text of the body is compared first, as that is cheap.
                text = data.casefold()
                if "\\u" in text or any(json.dumps(word)[1:-1] in text for word in missing):
                    missing = SoughtWords.missing(missing, _texts(kind, values(data)))
                if not missing:
                    break
            found = not missing
            self._sought[session.seq] = len(session.entries), found
        return found

    def _rows(self, connection: sqlite3.Connection, seqs: list[int]) -> Iterator[tuple[float, str, str]]:
        for first in range(0, len(seqs), TOGETHER):
            these = seqs[first : first + TOGETHER]
            marks = ", ".join("?" * len(these))
            for _, at, kind, data in connection.execute(f"{_THESE} ({marks}) ORDER BY seq", these).fetchall():
                yield at / 1_000_000, kind, data


def _steps(at: float, kind: str, body: dict[str, Any], told: set[tuple[str, str]]) -> Iterator[PastStep]:
    """Yield what an entry says, a step each; hosts in `told` have an entry that says that a person opened them."""
    if kind != SEEN:
        yield PastStep(at, kind, body)
        return
    answered = {_number(one, "number"): one for one in _facts(body, "answered")}
    for one in _facts(body, "commands"):
        answer = answered.pop(_number(one, "number"), None)
        yield PastStep(_moment(one, at), COMMAND, one if answer is None else {**one, "answer": answer})
    for answer in answered.values():  # of a command in an entry before
        yield PastStep(at, COMMAND, {"number": answer.get("number"), "answer": answer})
    if unnamed := _number(body, "commands_not_named"):
        yield PastStep(at, COMMAND, {"not_named": unnamed})
    yield from (PastStep(at, HOST, one) for one in _facts(body, "hosts"))
    yield from (PastStep(at, OPENED, one) for one in _facts(body, "opened") if _place(one) not in told)


def _texts(kind: str, body: dict[str, Any]) -> Iterable[str]:
    for step in _steps(0.0, kind, body, set()):
        yield from (value for value in step.facts.values() if isinstance(value, str))
    yield from (_text(one, "path") for one in _facts(body, "paths"))


def _begin(name: str) -> int:
    number = name.removeprefix(PREFIX)
    return int(number) if number.isdecimal() else 0


def _text(body: dict[str, Any], name: str) -> str:
    found = body.get(name)
    return found if isinstance(found, str) else ""


def _number(body: dict[str, Any], name: str) -> int:
    found = body.get(name)
    return found if type(found) is int else 0


def _listed(body: dict[str, Any], name: str) -> list[Any]:
    found = body.get(name)
    return found if isinstance(found, list) else []


def _facts(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in _listed(body, name) if isinstance(one, dict)]


def _place(body: dict[str, Any]) -> tuple[str, str]:
    return _text(body, "host"), str(body.get("port", ""))


def _moment(body: dict[str, Any], recorded: float) -> float:
    """Return when something happened; when it was recorded, where it does not say so."""
    at = body.get("at")
    return float(at) if isinstance(at, int | float) and 0 < at <= LAST_TIME else recorded
