"""Lets requests wait for a person who is away instead of expiring: bounded, recorded, and never an approval.

Everything else stays as it is: rules, grants and modes answer what they always answer, a question is answered by a
person alone, and what waited is checked again like any other request when it is approved.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from runner.approval.desk import AWAY_SECONDS
from runner.model.errors import KnownError
from runner.model.events import AwayChanged, QuestionsMoved
from runner.system.durable import replace_file
from runner.system.plain_file import read_file
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from pathlib import Path

    from runner.approval.desk import Desk, Question
    from runner.model.record import Record
    from runner.requests.cases import Cases

ENTRY = "away"
"""Kind of the entry in the ledger."""
MOST_BYTES = 1000


class Absence:
    """Whether the person is away. Every method is called on the engine's loop; it is remembered over restarts."""

    def __init__(self, record: Record, desk: Desk, cases: Cases, path: Path) -> None:
        """`path` is the file that remembers it."""
        self._record = record
        self._desk = desk
        self._cases = cases
        self._path = path
        self._turn = asyncio.Lock()
        self.away = False

    async def open(self) -> None:
        """Take up what an earlier process remembered, before any question is asked."""
        if await asyncio.to_thread(self._remembered):
            self._become_away()

    async def leave(self) -> None:
        """Let questions wait from now on. Raises KnownError where that cannot be recorded or remembered."""
        async with self._turn:
            if self.away:
                return
            await self._record.append(ENTRY, "", {"away": True, "seconds": AWAY_SECONDS})
            try:
                await asyncio.to_thread(self._remember, True)
            except OSError as error:
                spawn("record the return", self._record.keep_noting(ENTRY, "", {"away": False}))
                raise KnownError(f"{self._path} cannot be written: {error.strerror}.", "Free disk space.") from error
            self._become_away()

    async def come_back(self) -> None:
        """Let questions expire as always, at once; what waited has ten minutes from now."""
        async with self._turn:
            if not self.away:
                return
            self.away = False
            self._tell(self._desk.come_back())
            self._record.publish(AwayChanged(False))
            try:
                await asyncio.to_thread(self._remember, False)
            except OSError as error:
                raise KnownError(f"{self._path} cannot be written: {error.strerror}.", "Remove the file.") from error
            finally:
                spawn("record the return", self._record.keep_noting(ENTRY, "", {"away": False}))

    def set_aside(self) -> frozenset[str]:
        """Drop the questions that wait and whose agents fetch the answer later; return their requests.

        They stay open in the ledger, and are asked again by the next process.
        """
        found = frozenset(
            case.request.id
            for case in self._cases.active()
            if case.parked and (question := self._desk.question(case.request.id)) is not None and question.parked
        )
        for request_id in found:
            self._desk.set_aside(request_id)
        return found

    def _become_away(self) -> None:
        self.away = True
        self._tell(self._desk.leave())
        self._record.publish(AwayChanged(True))

    def _tell(self, questions: tuple[Question, ...]) -> None:
        if questions:
            ends = tuple((one.request_id, one.deadline, one.window) for one in questions)
            self._record.publish(QuestionsMoved(ends))

    def _remembered(self) -> bool:
        """Return whether the person was away. A file that cannot be read counts for nothing: requests expire."""
        try:
            return json.loads(read_file(self._path, MOST_BYTES))[ENTRY] is True
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return False

    def _remember(self, away: bool) -> None:
        if away:
            replace_file(self._path, json.dumps({ENTRY: True}) + "\n")
        else:
            self._path.unlink(missing_ok=True)
