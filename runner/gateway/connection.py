"""HTTP connections: a time limit for the head of a message, and a short life without a valid token."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    import uvicorn
    from starlette.types import Scope

HEADER_SECONDS = 30.0
"""Time for the head of a message, for a valid token since the connection was opened, and for the rest of a message
that was answered before its end. uvicorn itself has no limit.

Clients on this machine send a head in one piece, but on a busy one they may be held up for seconds before they do, and
none sends a call again whose connection was closed. Strangers gain nothing by it: the oldest of them makes room.
"""
IDLE_SECONDS = 120
"""Time for which a connection stays open between two messages.

Longer than clients reuse one (httpx 5 s, Go and reqwest 90 s): a message sent at the moment at which the server closes
the connection is lost, and clients do not send a call twice.
"""
LATE_SECONDS = 1.0
"""How late a time limit may be noticed. Beyond, this process was held up, and what was sent is not yet read."""
MOST_OF_ONE_AGENT = 128
"""Connections of one agent up to which they stay open between two messages; others are closed after each.

A quarter of all where that is less: one agent must not fill them.
"""
CONNECTION = "assent.connection"
"""Key of the `Connection` in the `state` of a request's scope."""


class Connections:
    """The open connections. Any account of this machine can open one; the oldest without a token makes room."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._of_one_agent = min(MOST_OF_ONE_AGENT, most // 4)
        self._open: dict[Connection, None] = {}
        self._strangers: dict[Connection, None] = {}
        self._agents: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def make_room(self, arriving: int = 0) -> bool:
        """Return whether one more may be opened, beside those that are `arriving`; close an old one where needed."""
        if len(self._open) + arriving < self._most:
            return True
        # The oldest without a token; else one that is not in use, of the agent that has most of them.
        idle = (one for one in self._open if one.is_idle())
        least = next(iter(self._strangers), None) or max(idle, key=lambda one: self._agents[one.agent], default=None)
        if least is None:
            return False
        self.remove(least)
        least.transport.abort()
        return True

    def add(self, connection: Connection) -> None:
        self._open[connection] = None
        self._strangers[connection] = None

    def recognize(self, connection: Connection, agent: str) -> None:
        """Record that a message of `agent` came on a connection."""
        if connection in self._open and connection.agent != agent:
            self._strangers.pop(connection, None)
            self._forget(connection.agent)
            self._agents[agent] += 1

    def remove(self, connection: Connection) -> None:
        if connection in self._open:
            del self._open[connection]
            self._strangers.pop(connection, None)
            self._forget(connection.agent)

    def abort(self) -> None:
        """Close all of them at once, without what was not sent yet."""
        for connection in self._open:
            connection.transport.abort()

    def _forget(self, agent: str) -> None:
        if agent:
            self._agents[agent] -= 1
            if not self._agents[agent]:
                del self._agents[agent]

    def may_stay(self, connection: Connection) -> bool:
        """Return whether a connection is kept open for a further message."""
        return connection.agent != "" and self._agents[connection.agent] <= self._of_one_agent


class Connection(H11Protocol):
    """One connection. It stays open between messages only once `recognize` was called for one of them."""

    def __init__(
        self, config: uvicorn.Config, server_state: Any, app_state: dict[str, Any], connections: Connections
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self})
        self._all = connections
        self._patience: asyncio.TimerHandle | None = None
        self.agent = ""
        """Whose token the last message had; empty for a stranger."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._all.add(self)
        self._wait()

    def recognize(self, agent: str) -> None:
        """Record whose token the present message has."""
        if not self.agent:
            self._stop_waiting()
        self._all.recognize(self, agent)
        self.agent = agent
        self._announce()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._announce()
        if self._within_head() or self._answered_early():
            self._wait()
        elif self.agent:
            self._stop_waiting()
        elif self.cycle is not None and self.cycle.response_complete:
            self.transport.close()

    def on_response_complete(self) -> None:
        if self._answered_early():
            # The rest is read and dropped for a while: closed at once, the client might not see the answer.
            self._wait()
        elif not self.agent:
            self.transport.close()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._all.remove(self)
        super().connection_lost(exc)

    def _announce(self) -> None:
        """Say in the answer to the present message whether the connection is closed after it.

        A client that does not know sends its next message into a closed connection.
        """
        if self.cycle is not None and not self.cycle.response_started:
            usual = self.server_state.default_headers
            # With a body still to come uvicorn would close at once, and the client might not see the answer.
            stays = self._all.may_stay(self) or self.conn.their_state is h11.SEND_BODY
            self.cycle.default_headers = usual if stays else [*usual, CLOSE_HEADER]

    def _within_head(self) -> bool:
        return self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])

    def _answered_early(self) -> bool:
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

    def is_idle(self) -> bool:
        """Return whether it waits for its next message."""
        return self.cycle is not None and self.cycle.response_complete and not self._within_head()

    def timeout_keep_alive_handler(self) -> None:
        # uvicorn starts this timer right after each answer.
        if self._is_late(self.timeout_keep_alive_task):
            self.timeout_keep_alive_task = self.loop.call_later(IDLE_SECONDS, self.timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()

    def _wait(self) -> None:
        # Not restarted by each byte: the limit is for the whole.
        if self._patience is None:
            self._patience = self.loop.call_later(HEADER_SECONDS, self._out_of_time)

    def _out_of_time(self) -> None:
        late = self._is_late(self._patience)
        self._patience = None
        if late:
            self._wait()
        else:
            self.transport.close()

    def _is_late(self, timer: asyncio.TimerHandle | None) -> bool:
        return timer is not None and self.loop.time() - timer.when() > LATE_SECONDS

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


def recognize(scope: Scope, agent: str) -> None:
    """Record on the connection of a message whose token it has."""
    if (connection := scope.get("state", {}).get(CONNECTION)) is not None:
        connection.recognize(agent)
