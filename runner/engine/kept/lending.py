"""Lends kept sandboxes, to one user at a time, and copies their files between two runs."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runner.engine.kept.past_states import MOST_OF_ALL, RUNNING, PastStates
from runner.model.codec import encode
from runner.model.errors import KnownError
from runner.model.file_changes import FILES_CHANGED
from runner.model.language_support import packages_of
from runner.risk.explain.foreseen import with_removal
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from runner.model.assessment import Assessment
    from runner.model.file_changes import RunChanges
    from runner.model.kept_sandbox import Kept
    from runner.model.record import Record
    from runner.model.request import KnownFile, Request
    from runner.packages.installing import PackageSet
    from runner.sandbox.contract import Session
    from runner.system.expiry import Expiry

ANSWER_SECONDS = 5.0
"""For the answer of a run to be recorded, before its files are copied all the same."""


@dataclass(slots=True)
class OpenSandbox:
    """One sandbox that an agent keeps, and what is known of what is in it."""

    kept: Kept
    session: Session
    ends_for_good: float
    """On the clock of `since_boot`."""
    expiry: Expiry
    """When it is removed unless it is used."""
    why: str = ""
    """Why it is removed then."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the answer of its latest run is out: the copy must not hold that up."""
    copying: bool = False
    """Whether the lock is held to copy the files only."""
    packages: PackageSet | None = None
    """What was installed in it; None without packages."""
    past: PastStates = field(default_factory=PastStates)
    assessment: Assessment | None = None
    """Of the run that is under way, or was the latest."""
    written: dict[str, KnownFile] = field(default_factory=dict)
    """Files that were written by `code_write_file`, by path, the latest last."""

    @property
    def left(self) -> tuple[str, ...]:
        """The folder of installed packages, which is neither copied nor put back; its files are known by hashes."""
        support = packages_of(self.kept.language)
        return () if self.packages is None or support is None else (support.folder,)


def _unforeseen(one: OpenSandbox, found: RunChanges) -> dict[str, list[str]]:
    """Return what the record of a comparison says besides: that files were removed which the assessment did not name.

    The record of the run itself is written before, and answered.
    """
    observed = None if one.assessment is None else with_removal(None, one.assessment, found.changes)
    return {} if observed is None else {"unforeseen": list(observed.unforeseen)}


class Lending:
    """The open sandboxes by id. Every method is called on the engine's loop, unless it says otherwise."""

    def __init__(self, record: Record, open: Mapping[str, OpenSandbox], publish: Callable[[], None]) -> None:
        """`publish` sends out that something about a sandbox has changed."""
        self._record = record
        self._open = open
        self._publish = publish

    @contextlib.asynccontextmanager
    async def lent(self, id: str) -> AsyncIterator[OpenSandbox]:
        """Lend a sandbox to a person. Raises KnownError where it is gone, and while code runs in it."""
        one = self.held(id)
        if one.past.running and one.lock.locked() and not one.copying:
            raise KnownError(RUNNING)
        async with self.hold(one):
            yield one

    @contextlib.asynccontextmanager
    async def hold(self, one: OpenSandbox) -> AsyncIterator[None]:
        """Hold a sandbox. After a run its files are copied before anybody else gets it, behind the answer."""
        await one.lock.acquire()
        copying = False
        try:
            self.held(one.kept.id)
            yield
            copying = bool(one.past.running) and self._open.get(one.kept.id) is one
        finally:
            if copying:
                spawn(f"copy the files of {one.kept.id}", self._copy(one))
            else:
                one.lock.release()

    async def _copy(self, one: OpenSandbox) -> None:
        """Copy the files after a run, and give the sandbox free."""
        one.copying = True
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await one.answered.wait()
            others = sum(other.past.size for other in self._open.values() if other is not one)
            found = await one.past.end(one.session, one.left, MOST_OF_ALL - others)
        finally:
            one.copying = False
            one.lock.release()
        if found is not None:
            await self._record.note(FILES_CHANGED, found.request_id, {**encode(found), **_unforeseen(one, found)})
            if self._open.get(one.kept.id) is one:
                self.show(one)

    def prepare(self, id: str) -> None:
        """Copy the files while a person reads what is to run, where they have changed since the last run."""
        one = self._open.get(id)
        if one is not None and not one.past.copied and not one.lock.locked():
            spawn(f"copy the files of {id}", self._prepare(one))

    async def _prepare(self, one: OpenSandbox) -> None:
        async with one.lock:
            if self._open.get(one.kept.id) is one:
                await one.past.look(one.session, one.left)

    def answer(self, request: Request) -> None:
        """Note that a request was answered."""
        one = self._open.get(request.sandbox)
        if one is not None and one.past.running in ("", request.id):
            one.answered.set()

    async def begin_run(self, request: Request, assessment: Assessment | None) -> None:
        """Note that a run begins, once there is a copy of the files; call it inside `used`."""
        one = self.held(request.sandbox)
        one.assessment = assessment
        one.answered.clear()
        await one.past.look(one.session, one.left)
        one.past.begin(request)

    def show(self, one: OpenSandbox) -> None:
        """Publish what is known of the runs in a sandbox."""
        one.kept = replace(one.kept, runs=one.past.listed)
        self._publish()

    def note_for(self, request: Request) -> str:
        """Return the note for the agent about its sandbox, once."""
        if (one := self._open.get(request.sandbox)) is None:
            return ""
        note, one.past.note = one.past.note, ""
        return note

    def put_back(self, one: OpenSandbox, number: int) -> None:
        """Note that the files of a sandbox, lent to a person, are those of before its run `number`."""
        one.written = {path: file for path, file in one.written.items() if one.past.holds(path, file.text.encode())}
        one.kept = replace(one.kept, put_back_to=number)
        self.show(one)

    def held(self, id: str) -> OpenSandbox:
        """Return a sandbox. Raises KnownError where it was removed."""
        if (one := self._open.get(id)) is None:
            raise KnownError("The sandbox it was approved for is gone.", "Create a new one and ask again.")
        return one
