"""Hosts that a person lets a program reach although it did not ask for them: for one run, or for its agent (spec N3).

Such a word passes the same checks as an approval, after the last await and before it counts.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from runner.approval.deliberate import unproven
from runner.approval.modes import to_person
from runner.approval.private_addresses import private_addresses
from runner.approval.remembering import MADE, REVOKED, USED
from runner.audit.history.search import History
from runner.model.decision import Decision, Verdict
from runner.model.errors import KnownError
from runner.model.events import GrantsChanged
from runner.model.network import Destination, UnusableHost, canonical_host
from runner.model.request import NetworkMode
from runner.policy.grantfile import plain
from runner.policy.host_grants import MONTH, for_host

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from runner.approval.circumstances import Circumstances
    from runner.approval.modes import Modes
    from runner.model.assessment import Assessment
    from runner.model.network import Contact
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.policy.grantfile import Grants
    from runner.policy.grants import Grant
    from runner.requests.cases import Cases

ALLOWED, NOT_ALLOWED = "host-allowed", "host-not-allowed"
"""Kinds of entries in the ledger. The second one says that the first does not count after all."""
OVER = "This run is over."
NOT_REFUSED = "This run was not refused that host, or for something else than its name."
REMEDY = "Nothing was allowed."


class Gates(Protocol):
    """The gates of the active runs."""

    def contacts(self, request_id: str) -> tuple[Contact, ...] | None:
        """Return the hosts that a run has tried to reach; None where it is over or has no network."""
        ...

    def allow(self, request_id: str, destination: Destination, *, private: str) -> str:
        """Let a run reach a host from now on; return why it may not, '' where it may."""
        ...

    def withdraw(self, agent: str, destination: Destination) -> None:
        """Close a host for the runs of an agent, and end their connections to it."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """A refused host of a request."""

    request: Request
    assessment: Assessment | None
    destination: Destination


class Hosts:
    """The words of a person about single hosts. Every method is called on the engine's loop."""

    def __init__(
        self,
        record: Record,
        cases: Cases,
        modes: Modes,
        circumstances: Circumstances,
        grants: Grants,
        gates: Callable[[], Gates],
        look_up: Callable[[str, int], Awaitable[Sequence[str]]],
        ledger: Path,
    ) -> None:
        """`look_up` returns the addresses of a host and port; it raises OSError."""
        self._record = record
        self._cases = cases
        self._modes = modes
        self._circumstances = circumstances
        self._grants = grants
        self._gates = gates
        self._look_up = look_up
        self._ledger = ledger

    # ---- for one run ----

    async def allow(self, request_id: str, host: str, port: int, *, private: str = "", proven: bool = False) -> str:
        """Let a run reach a host that it was refused; return '' where it may now, else why not.

        Raises PrivateAddress for a host that leads to other addresses of the own network than `private`, those that the
        person was shown, and LedgerFailed where the word cannot be recorded: then it does not count. `proven`: whether
        the person's PIN came with it and was right.
        """
        generation = self._modes.generation
        contacts = self._gates().contacts(request_id)
        case = self._cases.find(request_id)
        if case is None or contacts is None:
            return OVER
        destination = _refused(contacts, host, port)
        asked = _Asked(case.approved, case.weighed, destination)
        if why := self._closed(asked, generation) or self._unproven(proven=proven):
            return why
        address = await private_addresses(self._look_up, destination, private=private)
        if why := self._closed(asked, generation):
            return why
        body = {"host": destination.host, "port": destination.port, "address": address, "by": "person"}
        await case.attach(ALLOWED, body)
        why = self._closed(asked, generation) or self._gates().allow(request_id, destination, private=address)
        if why:
            await self._record.keep_noting(NOT_ALLOWED, request_id, {**body, "why": why})
        return why

    # ---- for an agent ----

    async def allow_always(
        self,
        request_id: str,
        host: str,
        port: int,
        *,
        private: str = "",
        seconds: float = MONTH,
        proven: bool = False,
    ) -> Grant:
        """Let all networked runs of an agent reach a host that one of its runs was refused; return the grant.

        Counts for the run itself while it is active. Raises PrivateAddress like `allow`, and KnownError where it
        is not allowed or cannot be recorded.
        """
        generation = self._modes.generation
        asked = await self._past(request_id, host, port)
        _require(self._closed(asked, generation) or self._unproven(proven=proven))
        address = await private_addresses(self._look_up, asked.destination, private=private)
        _require(self._closed(asked, generation))
        request = asked.request
        grant = for_host(
            request.agent, asked.destination, request.title, self._grants.now(), private=address, seconds=seconds
        )
        body = {"request": request_id, "address": address, **plain(grant)}
        await self._record.append(MADE, "", body)
        try:
            _require(self._closed(asked, generation))
            await self._grants.add(grant)
            if why := self._closed(asked, generation):
                await self._grants.revoke((grant.name,))
                _require(why)
        except KnownError as failure:
            await self._record.keep_noting(REVOKED, "", {"grant": grant.name, "why": failure.what, "used": 0})
            raise
        finally:
            self._record.publish(GrantsChanged())
        if any(one.name == grant.name for one in self._grants.hosts(request.agent)):  # not revoked meanwhile
            self._gates().allow(request_id, asked.destination, private=address)
        return grant

    def granted(self, agent: str) -> tuple[Destination, ...]:
        """Return the hosts that networked runs of `agent` reach besides those that they ask for."""
        grants = self._grants.hosts(agent, self._circumstances.registered(agent))
        return tuple(sorted({Destination.parse(grant.pattern) for grant in grants}))

    async def use(self, request: Request) -> tuple[Grant, ...]:
        """Return the grants by which a run that starts now reaches its `granted` hosts, each used once more.

        The use is durable when this returns. A grant that was revoked since, or whose use cannot be recorded, is left
        out: the host is then refused.
        """
        if not request.granted:
            return ()
        registered = self._circumstances.registered(request.agent)
        newest = {one.pattern: one.name for one in reversed(self._grants.hosts(request.agent, registered))}
        try:
            used = await self._grants.use(tuple(newest[host] for host in request.granted if host in newest))
            for grant in used:
                body = {"grant": grant.name, "use": grant.used, "of": grant.uses}
                await self._record.append(USED, request.id, body)
        except KnownError as failure:
            self._record.trouble("grants", failure.what, f"{failure.remedy} Until then remembered hosts are refused.")
            return ()
        if used:
            self._record.publish(GrantsChanged())
        live = {one.name for one in self._grants.hosts(request.agent, self._circumstances.registered(request.agent))}
        return tuple(one for one in used if one.name in live or one.used >= one.uses)

    def withdraw(self, grants: tuple[Grant, ...]) -> None:
        """Close the hosts of revoked grants for active runs."""
        for grant in grants:
            self._gates().withdraw(grant.agent, Destination.parse(grant.pattern))

    # ---- checks ----

    def _unproven(self, *, proven: bool) -> str:
        """Return why it needs the person's PIN; empty where that was right or is not asked for."""
        return unproven(self._circumstances.settings(), None, proven=proven)

    def _closed(self, asked: _Asked, generation: int) -> str:
        """Return why no host may be allowed now: the same that ends an approval, and the rules about the host."""
        request = asked.request
        if why := (
            self._circumstances.closing()
            or to_person(self._modes.overruled(generation, by_trust=False))
            or self._circumstances.barred(request.agent, request.received_at)
            or self._circumstances.unwritable()
        ):
            return why
        if asked.assessment is None:
            return "It was never assessed."
        with_host = replace(
            request, network=NetworkMode.DOMAINS, domains=(*request.domains, str(asked.destination)), granted=()
        )
        settled = self._circumstances.policy().decide(with_host, asked.assessment)
        if isinstance(settled, Decision):
            return settled.reason if settled.verdict is Verdict.DENIED else ""
        return settled.blocked

    async def _past(self, request_id: str, host: str, port: int) -> _Asked:
        """Return a refused host of a request, whether its run is active or not. Raises KnownError."""
        contacts, case = self._gates().contacts(request_id), self._cases.find(request_id)
        if case is not None and contacts is not None:
            return _Asked(case.approved, case.weighed, _refused(contacts, host, port))
        history = await asyncio.to_thread(_from_history, self._ledger, request_id)
        if history is None:
            raise KnownError("There is no such run in the history." if case is None else OVER, REMEDY)
        request, assessment, contacts = history
        return _Asked(request, assessment, _refused(contacts, host, port))


def _refused(contacts: tuple[Contact, ...], host: str, port: int) -> Destination:
    """Return the destination of a refused contact. Raises KnownError for what was not refused or is no host."""
    try:
        destination = Destination(canonical_host(host), port)
    except UnusableHost as reason:
        raise KnownError(f"It cannot be allowed: {reason}.", REMEDY) from None
    if not any((one.host, one.port) == (destination.host, port) and one.can_be_allowed for one in contacts):
        raise KnownError(NOT_REFUSED, REMEDY)
    return destination


def _from_history(ledger: Path, request_id: str) -> tuple[Request, Assessment | None, tuple[Contact, ...]] | None:
    history = History(ledger)
    try:
        found = history.case(request_id)
    finally:
        history.close()
    if found is None or found.result is None:
        return None
    return found.request, found.assessment, found.result.contacts


def _require(why: str) -> None:
    if why:
        raise KnownError(why, REMEDY)
