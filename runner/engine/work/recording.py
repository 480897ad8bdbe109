"""Brings into the ledger what the logs of programs at work say, each event once.

An entry says up to which place of the log it goes, and the next one begins there: so nothing is recorded twice or left
out, whenever a console is killed, and what happened while none was open is recorded by the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from runner.audit.files.redact import redacted
from runner.audit.history.work import TERMINAL, recorded_places
from runner.engine.work.facts import MOST_WORDS, cut
from runner.model.errors import KnownError
from runner.model.events import WorkRecorded
from runner.model.work import (
    AsItGoes,
    CommandAnswered,
    CommandSeen,
    HostOpened,
    HostSeen,
    PortsSeen,
    StandingSeen,
    WorkDone,
    WorkEnded,
    WorkSession,
    WorkStarted,
)
from runner.model.work_entries import AS_IT_GOES, BY_ITSELF, ENDED, ON_TERMINALS, SEEN, STARTED
from runner.work.log import WorkReading

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from runner.model.record import Record
    from runner.model.work import WorkEvent
    from runner.system.places import Places

    Placed = tuple[int, WorkEvent]

MOST_IN_ENTRY = 200
"""Events in one entry."""
MOST_NAMED = 20_000
"""Commands of one session that are recorded one by one; of later ones the number is."""


class WorkRecording:
    """Every method is called on the engine's loop."""

    def __init__(self, places: Places, record: Record, unwritable: Callable[[], str]) -> None:
        self._places = places
        self._record = record
        self._unwritable = unwritable
        self._since = time.time()
        self._ledger = 0
        """Number of the ledger that `_read` is about."""
        self._read: dict[str, WorkReading] = {}
        self._behind: set[str] = set()
        """Names of logs that may have more than is recorded."""
        self._hosts: dict[str, set[tuple[str, int, bool | None]]] = {}
        """Of each session the hosts that are recorded with their outcome: more of the same is not."""

    async def record(self, sessions: Sequence[WorkSession], moved: Collection[str]) -> None:
        """Record what is new in the logs of `moved`; what cannot be written now is at a later call."""
        self._behind.update(moved)
        sessions = (*sessions, WorkSession(TERMINAL, "", (), 0.0))
        ledger = self._record.ledger
        if not ledger or self._unwritable():
            return
        try:
            if ledger != self._ledger:
                names = frozenset(one.name for one in sessions)
                places = await asyncio.to_thread(recorded_places, self._places.ledger, names)
                self._read = {name: self._reading(name, at) for name, at in places.items()}
                self._ledger = ledger
                self._behind.update(names)
            for session in sessions:
                if session.name in self._behind:
                    while await self._record_of(session):
                        pass
                    self._behind.discard(session.name)
        except KnownError:
            return  # it is reported as trouble where it is found
        for name in (self._read.keys() | self._behind | self._hosts.keys()) - {one.name for one in sessions}:
            self._read.pop(name, None)
            self._hosts.pop(name, None)
            self._behind.discard(name)

    async def _record_of(self, session: WorkSession) -> bool:
        """Record the next piece of a log; return whether there is more. Raises KnownError."""
        reading = self._read.get(session.name)
        if reading is None:
            reading = self._read[session.name] = self._reading(session.name, 0)
        begin = reading.at
        try:
            found = await asyncio.to_thread(self._entries, session, reading)
        except OSError:
            return False  # the session says so
        try:
            for kind, body in found:  # one after the other: behind one that failed none may be written
                await self._record.append(kind, "", body)
            if found:
                self._record.publish(WorkRecorded())
        except BaseException:
            reading.at = begin
            self._hosts.pop(session.name, None)
            self._ledger = 0  # a part of them may be written: the ledger says which
            raise
        return reading.more

    def _reading(self, name: str, at: int) -> WorkReading:
        reading = WorkReading(self._places.work / name)
        reading.at = at
        return reading

    def _entries(self, session: WorkSession, reading: WorkReading) -> list[tuple[str, dict[str, object]]]:
        """Return the entries about what is new in a log. Blocks. Raises OSError."""
        found: list[tuple[str, dict[str, object]]] = []
        waiting: list[Placed] = []

        def put_down() -> None:
            known = self._hosts.setdefault(session.name, set())
            if waiting and (facts := _seen([event for _, event in waiting], known)):
                found.append((SEEN, self._body(session, waiting, facts)))
            waiting.clear()

        for placed in reading.placed():
            match placed[1]:
                case WorkStarted() | WorkEnded() as event:
                    put_down()
                    kind = STARTED if isinstance(event, WorkStarted) else ENDED
                    found.append((kind, self._body(session, [placed], _bound(event))))
                case WorkDone() as event:
                    if session.name == TERMINAL and event.kind in ON_TERMINALS:
                        found.append((event.kind, {**event.body, "terminal_upto": placed[0]}))
                case AsItGoes(why=why) as event:
                    if why:  # else somebody switched it, and that is recorded where it was done
                        put_down()
                        body = {"on": event.on, "why": cut(why), "by": BY_ITSELF}
                        found.append((AS_IT_GOES, self._body(session, [placed], body)))
                case PortsSeen() | StandingSeen():
                    continue  # that an agent was paused is an entry of its own
                case _:
                    waiting.append(placed)
                    if len(waiting) == MOST_IN_ENTRY:
                        put_down()
        put_down()
        return found

    def _body(self, session: WorkSession, placed: Sequence[Placed], facts: dict[str, Any]) -> dict[str, object]:
        # Commands stay in the ledger for good, other than code: no credential is to.
        body: dict[str, object] = dict(redacted(facts, frozenset({"text"})).data)
        body |= {
            "name": session.name,
            "project": cut(session.project),
            "client": cut(session.client),
            **({"agent": cut(session.agent)} if session.agent else {}),
            "at": round(placed[0][1].at, 3),
            "upto": placed[-1][0],
        }
        if placed[0][1].at < self._since:
            body["later"] = True
        return body


def _bound(event: WorkStarted | WorkEnded) -> dict[str, Any]:
    if isinstance(event, WorkEnded):
        return {"code": event.code, "why": cut(event.why)}
    return {
        "program": [cut(word) for word in event.program[:MOST_WORDS]],
        "hosts": [cut(host) for host in event.hosts[:MOST_IN_ENTRY]],
    }


def _seen(events: Sequence[WorkEvent], known: set[tuple[str, int, bool | None]]) -> dict[str, Any]:
    """Return what is said of commands and hosts, those not `known`; nothing where there is nothing to be said."""
    commands = [one for one in events if isinstance(one, CommandSeen)]
    named = [_command(one) for one in commands if one.number <= MOST_NAMED]
    facts: dict[str, Any] = {
        "commands": named,
        "levels": dict(Counter(one.level for one in commands if one.level)),
        "commands_not_named": len(commands) - len(named),
        "answered": [
            {"number": one.number, "run": one.run, "why": cut(one.why)}
            for one in events
            if isinstance(one, CommandAnswered)
        ],
        "hosts": _hosts([one for one in events if isinstance(one, HostSeen) and not one.quiet], known),
        "opened": [
            {"host": cut(one.host), "port": one.port, "always": one.always}
            for one in events
            if isinstance(one, HostOpened)
        ],
    }
    return {name: value for name, value in facts.items() if value}


def _command(one: CommandSeen) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "number": one.number,
        "at": round(one.at, 3),
        "text": cut(one.text),
        "sentence": cut(one.sentence),
        "level": one.level,
        "refused": cut(one.refused),
        "held": one.held,
        "sandbox": cut(one.sandbox),
    }
    return {name: value for name, value in facts.items() if value}


def _hosts(seen: Sequence[HostSeen], known: set[tuple[str, int, bool | None]]) -> list[dict[str, Any]]:
    """Return the last word of each host, port and outcome that is not known, and make it so."""
    last = {(one.contact.host, one.contact.port, one.contact.allowed): one.contact for one in seen}
    new = [one for key, one in last.items() if key not in known]
    known.update(last)
    return [
        {"host": cut(one.host), "port": one.port, "allowed": one.allowed, "why": cut(one.why), "times": one.times}
        for one in new
    ]
