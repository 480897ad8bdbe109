"""Accepts connections, so many at once and no more than there is room for: accept() must never run out of files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.gateway.connection import Connection, Connections
from runner.system.tasks import spawn

if TYPE_CHECKING:
    import socket

    import uvicorn

AT_A_TIME = 16
"""Connections accepted before the loop turns to other work."""
RETRY_SECONDS = 0.1
"""Pause after the system refused a connection, for want of files or memory."""


class Acceptor:
    """Accepts on a listening socket for a uvicorn server that has started.

    asyncio's own server accepts 2,000 at a time, and stops for a second when files run out.
    """

    def __init__(self, listener: socket.socket, server: uvicorn.Server, most: int) -> None:
        self._listener = listener
        self._server = server
        self.connections = Connections(most)
        self._arriving = 0
        self._retry: asyncio.TimerHandle | None = None

    def start(self) -> None:
        asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def stop(self) -> None:
        """Close the listening socket. Connections stay open."""
        if self._retry is not None:
            self._retry.cancel()
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()

    def _accept(self) -> None:
        for _ in range(AT_A_TIME):
            try:
                accepted, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                self._pause()
                return
            if not self.connections.make_room(self._arriving):
                accepted.close()
                continue
            accepted.setblocking(False)
            self._arriving += 1
            spawn("connection", self._connect(accepted))

    def _pause(self) -> None:
        """Stop for a moment, or the loop would be called for the same connection without end."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        self._retry = loop.call_later(RETRY_SECONDS, self.start)

    async def _connect(self, accepted: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, accepted)
        except OSError:
            # It ended before it began.
            accepted.close()
        except BaseException:
            accepted.close()
            raise
        finally:
            self._arriving -= 1

    def _protocol(self) -> Connection:
        server = self._server
        return Connection(server.config, server.server_state, server.lifespan.state, self.connections)
