"""The gates of the active runs: made from what was approved, watched, changed by a person, closed with the run."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.approval.hosts import OVER
from runner.model.errors import KnownError
from runner.model.events import HostContacted
from runner.model.network import Destination, UnusableHost
from runner.model.request import NetworkMode
from runner.model.result import Usage
from runner.network.caps import Caps
from runner.network.gate import Gate
from runner.network.proxies import dialer_of_this_machine
from runner.sandbox.usage import Curve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.network import Contact
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.model.result import Result
    from runner.policy.grants import Grant
    from runner.settings.loading import Settings

MOST_CONTACTS = 100
"""Most hosts of one run of which listeners hear; the result counts the others."""
PUBLISHED_AT_ONCE = 25
PUBLISH_SECONDS = 0.25
"""Pause between two batches of events of one run: a program may try hosts faster than anybody can look."""
CLOSED = "The network of this run was closed for good; a new run has its own."
CUT = "was ended: the network of this run was closed"


class Networking:
    """The networks of all runs. Every method is called on the engine's loop unless it says otherwise."""

    def __init__(
        self,
        record: Record,
        settings: Callable[[], Settings],
        configured: Callable[[], Awaitable[tuple[Destination, ...]]],
        use: Callable[[Request], Awaitable[tuple[Grant, ...]]],
        now: Callable[[], float],
    ) -> None:
        """`configured` returns the hosts of this machine's registries, which may lead to private addresses.

        `use(request)` uses the grants for its hosts and returns those that count; `now` is their time.
        """
        self._record = record
        self._settings = settings
        self._configured = configured
        self._use = use
        self._now = now
        self._open: dict[str, OpenNetwork] = {}

    # ---- the life of a run ----

    async def open(self, request: Request) -> Gate | None:
        """Return the gate for a run that is about to start; None for one without network.

        Its use of grants is recorded. What may change meanwhile is the caller's to check again.
        """
        return None if request.network is NetworkMode.NONE else await self._opened(request)

    async def open_to_build(self, request: Request) -> Gate:
        """Return the gate for the builds of a request: that of its run, else one at which every host is refused.

        Without it nobody would see which hosts a build wants, and nobody could allow one.
        """
        none = request.network is NetworkMode.NONE
        return await self._opened(replace(request, network=NetworkMode.DOMAINS) if none else request)

    async def _opened(self, request: Request) -> Gate:
        """Return the gate of a request; it has one, whatever it is opened for."""
        if (there := self._open.get(request.id)) is not None:
            return there.gate
        configured = await self._configured()
        grants = await self._use(request)
        # No await from here on: a grant that is revoked later is withdrawn from the gate.
        opened = OpenNetwork(request, grants, self._record)
        gate = gate_for(request, grants, configured, self._settings(), opened.report)
        assert gate is not None
        opened.gate = gate
        self._open[request.id] = opened
        return gate

    def reading(self, request_id: str, usage: Usage) -> Usage:
        """Return a reading of a run with what its network has carried so far; ends grants whose time is over."""
        if (opened := self._open.get(request_id)) is None:
            return usage
        opened.expire(self._now())
        return opened.reading(usage)

    def close(self, request_id: str) -> None:
        """Close the gate of a run, however the run ended. Harmless when done before."""
        if (opened := self._open.pop(request_id, None)) is not None:
            opened.close()

    def finished(self, request_id: str, result: Result) -> Result:
        """Return the result of a run with the hosts that it tried to reach and the bytes that it exchanged."""
        opened = self._open.get(request_id)
        return result if opened is None else opened.finished(result)

    # ---- what others do with them ----

    def shut(self, request_id: str) -> None:
        """End the network of one run; the run itself may continue. May be called on any thread."""
        if (opened := self._open.get(request_id)) is not None:
            opened.shut()

    def shut_all(self) -> None:
        """End the network of every run; nothing opens it again. May be called on any thread."""
        for opened in self._open.copy().values():
            opened.shut()

    def contacts(self, request_id: str) -> tuple[Contact, ...] | None:
        """Return the hosts that a run has tried to reach; None where it is over or has no network."""
        opened = self._open.get(request_id)
        return None if opened is None else opened.gate.contacts

    def reachable(self, request_id: str) -> tuple[str, ...] | None:
        """Return what a run may reach now; None where it has no network, or is over. May be called on any thread."""
        opened = self._open.get(request_id)
        return None if opened is None else tuple(map(str, opened.gate.destinations))

    def allow(self, request_id: str, destination: Destination, *, private: str) -> str:
        """Let a run reach a host from now on, and its addresses `private`; return why it may not, else ''."""
        if (opened := self._open.get(request_id)) is None:
            return OVER
        if opened.is_shut:
            return CLOSED
        opened.gate.allow(destination, private=private)
        return ""

    def withdraw(self, agent: str, destination: Destination) -> None:
        """Close a host for the runs of `agent`, and end their connections to it."""
        for opened in self._open.values():
            if opened.request.agent == agent:
                opened.gate.withdraw(destination)


class OpenNetwork:
    """The network of one run: its gate, and what listeners have heard of it."""

    gate: Gate

    def __init__(self, request: Request, grants: tuple[Grant, ...], record: Record) -> None:
        self.request = request
        self.is_shut = False
        self._ends = {Destination.parse(one.pattern): one.expires_at for one in grants}
        self._record = record
        self._curve = Curve()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._news: OrderedDict[tuple[str, int, bool | None], Contact] = OrderedDict()
        self._known: set[tuple[str, int, bool | None]] = set()
        self._scheduled = False
        self._over = False
        self._timer: asyncio.TimerHandle | None = None

    def report(self, contact: Contact) -> None:
        """Take the news of the gate; called on its own thread, as often as the code likes."""
        key = (contact.host, contact.port, contact.allowed)
        with self._lock:
            if self._over or (key not in self._known and len(self._known) >= MOST_CONTACTS):
                return
            self._known.add(key)
            self._news[key] = contact
            if self._scheduled:
                return
            self._scheduled = True
        with contextlib.suppress(RuntimeError):  # the engine's loop was closed
            self._loop.call_soon_threadsafe(self._publish)

    def _publish(self) -> None:
        with self._lock:
            if self._over:
                return
            batch = [self._news.popitem(last=False)[1] for _ in range(min(PUBLISHED_AT_ONCE, len(self._news)))]
            self._scheduled = bool(batch)
        for contact in batch:
            self._record.publish(HostContacted(self.request.id, contact))
        if batch:
            self._timer = self._loop.call_later(PUBLISH_SECONDS, self._publish)

    def expire(self, now: float) -> None:
        """Withdraw the hosts of grants whose time is over."""
        for destination in [one for one, end in self._ends.items() if end <= now]:
            del self._ends[destination]
            self.gate.withdraw(destination)

    def reading(self, usage: Usage) -> Usage:
        gate = self.gate
        usage = replace(usage, sent=gate.sent, received=gate.received, connections=gate.connections)
        self._curve.add(usage)
        return usage

    def finished(self, result: Result) -> Result:
        """Return `result` with the contacts, and its curve with the readings of the network."""
        gate = self.gate
        last = Usage(round(result.duration, 3), sent=gate.sent, received=gate.received, connections=0)
        return replace(
            result,
            contacts=gate.contacts,
            contacts_left_out=gate.contacts_left_out,
            curve=_joined(result.curve, self._curve.thinned, last),
        )

    def shut(self) -> None:
        """End the network for good. May be called on any thread."""
        self.is_shut = True
        self.gate.close(CUT)

    def close(self) -> None:
        with self._lock:
            self._over = True
            self._news.clear()
        if self._timer is not None:
            self._timer.cancel()
        self.gate.close()


def _asked(request: Request) -> set[Destination]:
    """Return the hosts that a request may reach without a grant. Raises KnownError for a request of an old version."""
    try:
        return {Destination.parse(one) for one in request.domains if one not in request.granted}
    except UnusableHost as reason:
        raise KnownError(f"A host of this request cannot be used: {reason}.", "Ask again.") from None


def gate_for(
    request: Request,
    grants: tuple[Grant, ...],
    configured: tuple[Destination, ...],
    settings: Settings,
    report: Callable[[Contact], None] = lambda _contact: None,
) -> Gate | None:
    """Return the gate for the run of a request; None for one without network. Raises KnownError.

    `grants` are those for its granted hosts that still count. `configured` hosts may lead to private addresses.
    """
    if request.network is NetworkMode.NONE:
        return None
    asked = _asked(request)
    granted = {Destination.parse(one.pattern): one.private for one in grants}
    bounds = caps(settings)
    dialer = dialer_of_this_machine(bounds.connect_seconds)
    private = asked & {*configured}
    gate = Gate(asked | granted.keys(), private=private, caps=bounds, report=report, dialer=dialer)
    for destination, addresses in granted.items():
        if addresses:
            gate.allow(destination, private=addresses)
    return gate


def caps(settings: Settings) -> Caps:
    """Return how much of the network one run may use."""
    mebi = 1 << 20
    return Caps(
        connections=settings.network_connections,
        sent=settings.network_sent_mb * mebi,
        received=settings.network_received_mb * mebi,
    )


def _joined(curve: tuple[Usage, ...], ours: tuple[Usage, ...], last: Usage) -> tuple[Usage, ...]:
    """Return the sandbox's `curve` with the network's part of the readings `ours`; its last one is that of `last`."""
    if not curve:
        return (last,)
    times = [one.at for one in ours]
    joined = []
    for one in curve:
        place = bisect_right(times, one.at)
        then = ours[place - 1] if place else Usage(0.0, sent=0, received=0, connections=0)
        joined.append(replace(one, sent=then.sent, received=then.received, connections=then.connections))
    joined[-1] = replace(joined[-1], sent=last.sent, received=last.received, connections=0)
    return tuple(joined)
