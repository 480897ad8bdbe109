"""Orders of a person to a program at work: hosts it may reach, answers to held commands, ports, its end.

A word that lets something happen passes the same checks as an approval, is recorded first, and then goes to the process
on the terminal.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.approval.deliberate import unproven
from runner.approval.modes import to_person
from runner.approval.private_addresses import private_addresses
from runner.engine.work.facts import LONGEST_REASON, cut
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost, canonical_host
from runner.model.work import WorkUsage
from runner.model.work_entries import (
    ANSWER,
    AS_IT_GOES,
    CARRIED,
    END,
    FORGOTTEN,
    NOT_ANSWERED,
    NOT_AS_IT_GOES,
    NOT_OPENED,
    OPEN,
)
from runner.work import control, project_hosts
from runner.work.terms import host_request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from runner.approval.circumstances import Circumstances
    from runner.approval.modes import Modes
    from runner.model.record import Record
    from runner.model.work import CommandSeen, WorkSession
    from runner.system.places import Places
    from runner.work.project_hosts import ProjectHost

REMEDY = "Nothing was allowed."
NOT_HELD = "This command is not waiting any more."
NOT_THERE = "There is no such working copy."
NOT_AT_WORK = "It is no longer at work."


class WorkOrders:
    """Every method is called on the engine's loop."""

    def __init__(
        self,
        places: Places,
        record: Record,
        modes: Modes,
        circumstances: Circumstances,
        session: Callable[[str], WorkSession | None],
        look_up: Callable[[str, int], Awaitable[Sequence[str]]],
    ) -> None:
        """`look_up` returns the addresses of a host and port; it raises OSError."""
        self._places = places
        self._record = record
        self._modes = modes
        self._circumstances = circumstances
        self._session = session
        self._look_up = look_up

    # ---- hosts ----

    async def open_host(self, name: str, host: str, port: int, *, always: bool, private: str, proven: bool) -> None:
        """Let a session reach a host, and with `always` the later ones of its project. Raises KnownError."""
        session = self._known(name)
        if not (session.at_work or always):
            raise KnownError(NOT_AT_WORK, REMEDY)
        try:
            destination = Destination(canonical_host(host), port)
        except UnusableHost as error:
            raise KnownError(f"It cannot be allowed: {error}.", REMEDY) from None
        if not 0 < port < 65_536:
            raise KnownError("It cannot be allowed: its port is not a number from 1 to 65535.", REMEDY)
        closed = partial(self._closed, self._modes.generation, None, proven=proven)

        def refused() -> str:
            return closed() or self._denied(session, destination)

        _require(refused())
        address = await private_addresses(self._look_up, destination, private=private)
        _require(refused())
        kept = await asyncio.to_thread(project_hosts.new, session.project, destination, address) if always else None
        body = {
            **_about(session),
            "host": destination.host,
            "port": port,
            "address": address,
            "always": always,
            "by": "person",
        }

        async def do() -> None:
            if session.at_work:
                await self._order(name, "open", host=destination.host, port=port, private=address, always=always)
            if kept is not None:
                await _writing(partial(project_hosts.add, self._places, kept))

        await self._recorded(do, OPEN, body, NOT_OPENED, body, refused)

    async def hosts(self) -> tuple[ProjectHost, ...]:
        """Return the hosts that are open for projects. Raises KnownError."""
        return await asyncio.to_thread(project_hosts.all_hosts, self._places)

    async def forget_host(self, old: ProjectHost) -> None:
        """Let later sessions of a project not reach a host any more. Raises KnownError."""
        if await _writing(partial(project_hosts.remove, self._places, old)):
            body = {"project": cut(old.project), "host": old.host, "port": old.port, "by": "person"}
            await self._record.keep_noting(FORGOTTEN, "", body)

    # ---- commands ----

    async def answer(self, name: str, number: int, *, run: bool, why: str, proven: bool) -> None:
        """Let a held command run, or not. Raises KnownError, LedgerFailed among them."""
        session = self._known(name)
        held = next((one for one in session.held if one.number == number), None)
        if held is None:
            raise KnownError(NOT_HELD)
        closed = partial(self._closed, self._modes.generation, _level(held), proven=proven)
        why = why[:LONGEST_REASON]
        what = {"number": number, "sentence": cut(held.sentence), "level": held.level}
        body = {**_about(session), **what, "run": run, "why": cut(why), "by": "person"}
        do = partial(self._order, name, "answer", number=number, run=run, why=why)
        lost = {**_about(session), "number": number}
        await self._recorded(do, ANSWER, body, NOT_ANSWERED, lost, closed if run else None)

    # ---- the rest ----

    async def as_it_goes(self, name: str, *, on: bool, proven: bool) -> None:
        """Have what is changed applied by itself from now on, or not any more: off needs nothing. Raises KnownError."""
        session = self._known(name)
        if not session.at_work:
            raise KnownError(NOT_AT_WORK, REMEDY)
        closed = partial(self._closed, self._modes.generation, None, proven=proven)
        body = {**_about(session), "on": on, "by": "person"}
        do = partial(self._order, name, "as_it_goes", on=on)
        await self._recorded(do, AS_IT_GOES, body, NOT_AS_IT_GOES, body, closed if on else None)

    async def carry(self, name: str, port: int) -> str:
        """Carry a port of the inside to this machine; return its address. Raises KnownError."""
        session = self._known(name)
        generation = self._modes.generation
        _require(self._closed(generation, None, proven=True))
        said = await self._order(name, "carry", port=port)
        address = str(said.get("address", ""))
        await self._record.note(CARRIED, "", {**_about(session), "port": port, "address": cut(address)})
        return address

    async def end(self, name: str, why: str) -> None:
        """End a program at work and all that it started. Raises KnownError where it is not there any more."""
        session = self._known(name)
        await self._order(name, "end", why=why)
        await self._record.note(END, "", {**_about(session), "why": cut(why)})

    async def usage(self, name: str) -> WorkUsage:
        """Return what a program at work uses now. Raises KnownError."""
        said = await self._order(name, "usage")
        try:
            return WorkUsage(int(said["memory_bytes"]), float(said["cpu_seconds"]), int(said["processes"]))
        except (KeyError, TypeError, ValueError):
            raise KnownError("What it uses is not known: it may be of another version of Assent.") from None

    async def _recorded(
        self,
        do: Callable[[], Awaitable[object]],
        kind: str,
        body: dict[str, object],
        lost_kind: str,
        lost: dict[str, object],
        refused: Callable[[], str] | None,
    ) -> None:
        """Do something after its entry of `kind`; note an entry of `lost_kind` where it was not done after all.

        `refused` returns why it may not be done, '' while it may: it is asked before the entry, which then is durable
        before anything is done, and once more after it. None for what needs no approval. Raises KnownError.
        """
        if refused is None:
            await self._record.note(kind, "", body)
        else:
            _require(refused())
            await self._record.append(kind, "", body)
        try:
            if refused is not None:
                _require(refused())
            await do()
        except KnownError as error:
            await self._record.keep_noting(lost_kind, "", {**lost, "why": error.what})
            raise

    async def _order(self, name: str, do: str, **arguments: object) -> dict[str, Any]:
        return await asyncio.to_thread(partial(control.order, self._places.runtime, name, do, **arguments))

    def _known(self, name: str) -> WorkSession:
        if (session := self._session(name)) is None:
            raise KnownError(NOT_THERE, REMEDY)
        return session

    def _closed(self, generation: int, level: Level | None, *, proven: bool) -> str:
        """Return why nothing may be allowed now: the same that ends an approval."""
        return (
            self._circumstances.closing()
            or to_person(self._modes.overruled(generation, by_trust=False))
            or self._circumstances.unwritable()
            or unproven(self._circumstances.settings(), level, proven=proven)
        )

    def _denied(self, session: WorkSession, destination: Destination) -> str:
        """Return why a rule, or what its agent may do, denies code that may reach this host; '' where nothing does."""
        name = session.agent or session.client or "work"
        stands_for = host_request(name, session.started_at, destination)
        return self._circumstances.policy().denied(stands_for) or self._circumstances.forbids(stands_for, False)


def _about(session: WorkSession) -> dict[str, object]:
    return {"name": session.name, "project": cut(session.project), "client": cut(session.client)}


def _level(held: CommandSeen) -> Level | None:
    return Level.__members__.get(held.level)


async def _writing(work: Callable[[], Any]) -> Any:
    try:
        return await asyncio.to_thread(work)
    except OSError as error:
        raise KnownError(f"The hosts of projects could not be written: {error}.", "Free some space.") from error


def _require(why: str) -> None:
    if why:
        raise KnownError(why, REMEDY)
