"""The only way out of one run: a connection goes to a host that is allowed, at an address that was checked, or nowhere.

Whoever carries the connections of a sandbox here is not trusted and knows no rule: all checks are on this side.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

import h11

from runner.model.network import Contact
from runner.network.addresses import Reach, members
from runner.network.caps import STANDARD
from runner.network.contacts import ContactBook
from runner.network.dialing import DirectDialer
from runner.network.listeners import direct, proxy
from runner.network.permissions import Permissions
from runner.network.refusals import unreachable
from runner.network.run_clock import RunClock
from runner.network.visit import ENDED_WITHDRAWN, Totals, Visit
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.model.network import Destination
    from runner.network.caps import Caps
    from runner.network.dialing import Dialer
    from runner.network.visit import Pipe

TICK_SECONDS = 1.0
"""Between two looks at what is overdue, and two reports on one contact."""
ALL_HOSTS = "all hosts"
"""Stands for the hosts in the contact that says that none can be reached any more; no code can name one so."""
ENDED_CLOSED = "was ended: the run is over"
log = logging.getLogger(__name__)


def _silent(_contact: Contact) -> None:
    """Report to nobody."""


def _unheard(_port: int) -> None:
    """Open no listener: nothing carries connections yet."""


class Gate:
    """The only way out of one run. Denies whatever is not allowed; there is no switch that turns this off."""

    def __init__(
        self,
        allowed: Iterable[Destination],
        *,
        private: Iterable[Destination] = (),
        caps: Caps = STANDARD,
        report: Callable[[Contact], None] = _silent,
        dialer: Dialer | None = None,
    ) -> None:
        """`private` are those of `allowed` that this machine is configured with: they may lead to private addresses.

        `report` is called on the gate's loop with each contact, when it is new and when it has changed.
        """
        self._permissions = Permissions(allowed, private)
        self._caps = caps
        self._totals = Totals(caps)
        self._clock = RunClock()
        self.paused = False
        """Whether it is to stand still; the clock is set on the gate's loop alone."""
        self._tell = report
        self._book = ContactBook(self._report)
        self._dialer = dialer or DirectDialer(seconds=caps.connect_seconds, lookups=caps.resolutions)
        self._opens: Callable[[int], None] = _unheard
        self._visits: dict[Visit, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def serve(self, pipe: Pipe, target: str = "") -> None:
        """Serve one connection to its end, and close `pipe`. Never raises.

        `target` is the `name:port` that a program believes to be connected to; empty where it speaks to a proxy.
        """
        self._loop = asyncio.get_running_loop()
        self._set_clock()
        if self._permissions.closed or len(self._visits) >= 2 * self._caps.connections:
            pipe.close()
            if not self._permissions.closed:
                why = f"were dropped: {len(self._visits)} are on their way already"
                self._book.add(Contact("further connections", 0, None, why))
                self._watch()
            return
        visit = Visit(pipe, self._permissions, self._dialer, self._totals, self._book, self._clock)
        # A task of its own: ending a connection must not cancel what its carrier does besides.
        task = spawn("gate: connection", self._serve(visit, target))
        self._visits[visit] = task
        self._watch()
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise

    def allow(self, destination: Destination, *, private: str = "") -> None:
        """Allow `destination` from the next connection on. May be called on any thread.

        `private` are the addresses of the own network to which it may lead by a person's word, as `listed` writes them.
        """
        self._permissions.allow(destination, Reach.PRIVATE if private else Reach.PUBLIC, members(private))
        self._on_loop(self._open_port, destination.port)

    def is_configured(self, host: str, port: int) -> bool:
        """Return whether this machine's configuration names this very host and port."""
        found = self._permissions.find(host, port)
        return found is not None and found.reach is Reach.CONFIGURED

    def follow(self, opens: Callable[[int], None]) -> None:
        """Call `opens` with each port that is allowed later on, on this loop, which is the gate's."""
        self._loop = asyncio.get_running_loop()
        self._opens = opens

    def withdraw(self, destination: Destination) -> None:
        """Allow `destination` no more, and end what is open to it. May be called on any thread."""
        self._permissions.withdraw(destination)
        self._on_loop(self._end_those_to, destination)

    def pause(self, paused: bool) -> None:
        """Stop or continue, as the run does; may be called on any thread.

        What is open stays so, but carries nothing besides what was on its way, and no time counts.
        """
        self.paused = paused
        self._on_loop(self._set_clock)

    def close(self, why: str = ENDED_CLOSED) -> None:
        """End everything and serve nothing more. May be called on any thread, and more than once.

        `why` is what contacts with an open connection get.
        """
        self._permissions.close()
        self._on_loop(self._end_all, why)

    def cut_off(self, why: str) -> None:
        """Report that the run reaches nothing any more, unless it is over. To be called on the gate's loop.

        `why` is the end of a sentence that begins with the hosts.
        """
        if not self._permissions.closed:
            self._book.add(Contact(ALL_HOSTS, 0, None, why), always=True)

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """What is allowed now. May be called on any thread."""
        return self._permissions.destinations

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports of what is allowed now."""
        return self._permissions.ports

    @property
    def closed(self) -> bool:
        return self._permissions.closed

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """The hosts that the run tried to reach, refused ones first, within bounds."""
        return self._book.contacts

    @property
    def contacts_left_out(self) -> int:
        """How many more tries there were, to hosts that are not among them."""
        return self._book.left_out

    @property
    def sent(self) -> int:
        """Bytes sent to other hosts."""
        return self._totals.sent

    @property
    def received(self) -> int:
        """Bytes received from other hosts."""
        return self._totals.received

    @property
    def connections(self) -> int:
        """Connections to other hosts that are open."""
        return self._totals.open

    async def _serve(self, visit: Visit, target: str) -> None:
        try:
            await self._through_a_door(visit, target)
        except asyncio.CancelledError:
            if not visit.ended:
                raise
            if visit.host:
                visit.refused(unreachable(visit.ended))
        except Exception:
            log.exception("a connection at the gate")
        finally:
            self._visits.pop(visit, None)
            visit.leave()
            self._watch()

    async def _through_a_door(self, visit: Visit, target: str) -> None:
        try:
            await (direct(visit, target) if target else proxy(visit))
        except* (OSError, EOFError, h11.ProtocolError):
            # Either side has gone. What did not go through was noted where it happened.
            pass
        if visit.pause:
            await asyncio.sleep(visit.pause)

    def _end(self, visit: Visit, why: str) -> None:
        if (task := self._visits.get(visit)) is not None and not visit.ended:
            visit.ended = why
            task.cancel()

    def _end_those_to(self, destination: Destination) -> None:
        for visit in list(self._visits):
            if visit.host and destination.fits(visit.host, visit.port):
                self._end(visit, ENDED_WITHDRAWN)

    def _end_all(self, why: str) -> None:
        for visit in list(self._visits):
            self._end(visit, why)
        self._book.flush()

    def _open_port(self, port: int) -> None:
        if not self.closed:
            self._opens(port)

    def _set_clock(self) -> None:
        (self._clock.pause if self.paused else self._clock.resume)()

    def _on_loop(self, work: Callable[..., object], *arguments: object) -> None:
        if self._loop is not None:
            # The loop may have ended, and with it all connections.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(work, *arguments)

    def _watch(self) -> None:
        """Look again later, as long as there is something to look at."""
        if self._timer is None and self._loop is not None and (self._visits or self._book.changed):
            pause = min(TICK_SECONDS, self._caps.idle_seconds / 4, self._caps.seconds / 4)
            self._timer = self._loop.call_later(pause, self._tick)

    def _tick(self) -> None:
        self._timer = None
        for visit in list(self._visits):
            visit.settle()
            if why := visit.overdue:
                self._end(visit, why)
        self._book.flush()
        self._watch()

    def _report(self, contact: Contact) -> None:
        try:
            self._tell(contact)
        except Exception:
            log.exception("a report of the gate")
