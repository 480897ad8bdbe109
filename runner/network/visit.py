"""One connection of the code at the gate: where it wants to go, what it may use, and what is counted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from runner.model.network import Contact
from runner.network.refusals import Blocked, unreachable

if TYPE_CHECKING:
    from runner.network.caps import Caps
    from runner.network.contacts import ContactBook, Key
    from runner.network.dialing import Dialer, Streams
    from runner.network.permissions import Permission, Permissions
    from runner.network.run_clock import RunClock

ENDED_IDLE = "was ended: nothing moved on the connection for {seconds:.0f} seconds"
ENDED_TOO_LONG = "was ended: the connection was {seconds:.0f} seconds old"
ENDED_WITHDRAWN = "was ended: it is no longer allowed"
PAUSE_SECONDS = 0.5


class Pipe(Protocol):
    """One connection of the code, as its carrier brings it. Used on the gate's loop only."""

    async def read(self) -> bytes:
        """Return what comes next, at most some 64 KiB; empty at the end. Raises OSError."""
        ...

    async def write(self, data: bytes) -> None:
        """Send `data` and return once more may be sent. Raises OSError."""
        ...

    async def finish(self) -> None:
        """Send the end: nothing more will be written. Raises OSError."""
        ...

    def close(self) -> None:
        """Drop the connection; more than once does no harm."""
        ...


class Totals:
    """What all connections of a run have used together."""

    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self.sent = 0
        self.received = 0
        self.open = 0
        """Connections to hosts, those on their way there among them."""
        self.refused = 0
        """Connections that did not go through."""
        self.over = ""
        """Why nothing more may pass; empty while it may."""

    def add(self, sent: int, received: int) -> None:
        """Count bytes that are about to pass. Raises Blocked where they are more than the run may have."""
        if not self.over and self.sent + sent > self.caps.sent:
            self.over = f"the run has sent the {self.caps.sent:,} bytes that it may send"
        if not self.over and self.received + received > self.caps.received:
            self.over = f"the run has received the {self.caps.received:,} bytes that it may receive"
        if self.over:
            raise unreachable(f"was ended: {self.over}", 403)
        self.sent += sent
        self.received += received


class Visit:
    """A connection of the code, from its first byte to its end."""

    def __init__(
        self, pipe: Pipe, permissions: Permissions, dialer: Dialer, totals: Totals, book: ContactBook, clock: RunClock
    ) -> None:
        self.pipe = pipe
        self.caps = totals.caps
        self.host = ""
        self.port = 0
        self.ended = ""
        """Why the gate ended it; empty while it did not."""
        self.clock = clock
        self.began = self.moved = clock.time()
        """`moved`: when bytes last passed."""
        self._permissions = permissions
        self._permission: Permission | None = None
        self._dialer = dialer
        self._totals = totals
        self._book = book
        self._key: Key | None = None
        self._streams: Streams | None = None
        self._sent = 0
        self._received = 0

    def said(self, text: str) -> None:
        """Note what the code sent in place of a host."""
        self.host, self.port = text, 0

    def admit(self, host: str, port: int) -> None:
        """Note where the connection wants to go. Raises Blocked, before anything is looked up."""
        self.host, self.port = host, port
        self._permission = self._permissions.find(host, port)
        if self._permission is None:
            raise Blocked
        if over := self._totals.over:
            raise unreachable(f"is not reached any more: {over}", 403)
        if self._totals.open >= self.caps.connections:
            raise unreachable(f"is not reached now: {self.caps.connections} connections are open", 503)

    async def dial(self) -> Streams:
        """Return a connection to where it was admitted to. Raises Blocked."""
        if self._permission is None:
            raise Blocked
        # Counted from here: those that are being dialed must not pass the cap together.
        self._totals.open += 1
        try:
            await self.clock.going()
            self._streams = await self._dialer.open(
                self.host, self.port, self._permission.reach, self._permission.inside
            )
        finally:
            if self._streams is None:
                self._totals.open -= 1
        if self._permissions.find(self.host, self.port) != self._permission:
            raise Blocked
        return self._streams

    def opened(self) -> None:
        """Note that the code is connected to the host."""
        # Of these there are no more than were approved: invented names below a wildcard must not push them out.
        named = self._permissions.names(self.host, self.port)
        self._key = self._book.add(Contact(self.host, self.port, True), always=named)
        self.moved = self.clock.time()

    def refused(self, blocked: Blocked) -> None:
        """Note that the connection did not go through, or why it did not last."""
        self._totals.refused += 1
        self._book.add(Contact(self.host, self.port, blocked.allowed, blocked.why, private=blocked.address))

    async def sending(self, size: int) -> None:
        """Count bytes that are about to leave, once the run is not paused. Raises Blocked where it may send no more."""
        await self.clock.going()
        self._totals.add(size, 0)
        self._sent += size
        self.moved = self.clock.time()

    async def receiving(self, size: int) -> None:
        """Count bytes that are about to arrive, as `sending`. Raises Blocked where the run may receive no more."""
        await self.clock.going()
        self._totals.add(0, size)
        self._received += size
        self.moved = self.clock.time()

    @property
    def pause(self) -> float:
        """Seconds to wait before it ends, as the run has been refused too often."""
        return PAUSE_SECONDS if self._totals.refused > self.caps.refusals and self._key is None else 0.0

    def settle(self) -> None:
        """Put the bytes that passed since the last time into the contact."""
        if self._key is not None:
            self._book.count(self._key, self._sent, self._received)
            self._sent = self._received = 0

    @property
    def overdue(self) -> str:
        """Why it must end now; empty while it need not."""
        now = self.clock.time()
        if now - self.began > self.caps.seconds:
            return ENDED_TOO_LONG.format(seconds=self.caps.seconds)
        if now - self.moved > self.caps.idle_seconds:
            return ENDED_IDLE.format(seconds=self.caps.idle_seconds)
        return ""

    def leave(self) -> None:
        """Drop both ends and note what has passed."""
        self.settle()
        self.pipe.close()
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None
            self._totals.open -= 1
