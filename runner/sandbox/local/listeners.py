"""The way from a local sandbox to the gate: listeners in its own network, on which this process accepts.

Nothing of ours runs inside: the code cannot end it, and it counts for no limit of the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import socket
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from runner.network.names import Names
from runner.sandbox import networked
from runner.sandbox.local.accepting import ServedConnections
from runner.sandbox.local.socket_maker import HELPER_SECONDS, SocketMaker

if TYPE_CHECKING:
    from runner.network.gate import Gate
    from runner.network.loop import NetworkLoop

CERTIFICATES = "certificates.pem"
"""Name of the file with them, beside what starts the code."""
END_SECONDS = 2.0
MOST_STREAMS = 100
"""Connections at once; others wait until there is room."""
PIECE = 1 << 16
LONGEST_QUERY = 1500


class SocketPipe:
    """One connection of the code, for the gate (`runner.network.visit.Pipe`)."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._loop = asyncio.get_running_loop()

    async def read(self) -> bytes:
        data = await self._loop.sock_recv(self._socket, PIECE)
        await asyncio.sleep(0)  # a connection that is always ready must let the others of the loop run
        return data

    async def write(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._socket, data)

    async def finish(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()


class LocalDoors:
    """The listeners of one run. The methods block, and are called on the thread of the run."""

    def __init__(self, gate: Gate, network: NetworkLoop) -> None:
        self._gate = gate
        self._network = network
        self._names = Names()
        self._served = ServedConnections("sandbox", MOST_STREAMS)
        self._sockets: list[socket.socket] = []
        self._space = -1
        """Descriptor of the network that they are in."""
        self._ports = networked.OpenPorts(gate)
        self._making: set[asyncio.Future[list[socket.socket]]] = set()
        self._closed = False
        self._maker: SocketMaker | None = None

    def prepare(self) -> None:
        """Start what `open` needs, before there is a process: an interpreter takes as long to start as a sandbox does.

        Raises KnownError.
        """
        try:
            self._maker = SocketMaker()
        except OSError as error:
            raise networked.failure(str(error)) from error

    def open(self, process: int) -> None:
        """Listen in the network that `process` is in. Raises KnownError."""
        local = (networked.PROXY_PORT, networked.NAME_PORT)
        places = [*(("127.0.0.1", port) for port in local), *(("0.0.0.0", port) for port in self._ports.first)]
        try:
            self._space = os.open(f"/proc/{process}/ns/net", os.O_RDONLY)
            prepared, self._maker = self._maker, None
            with prepared or SocketMaker() as maker:
                made = maker.made(self._space, places)
        except OSError as error:
            raise networked.failure(str(error)) from error
        self._sockets = made
        self._network.start()
        try:
            self._network.submit(self._listen()).result(HELPER_SECONDS)
        except (RuntimeError, TimeoutError) as error:
            self.close()
            raise networked.failure(str(error) or "its thread does not answer") from error

    def close(self) -> None:
        """End all connections, within bounds of time."""
        if self._maker is not None:
            self._maker.close()
            self._maker = None
        # Where the thread of the network has ended, so has every task on it.
        with contextlib.suppress(RuntimeError, TimeoutError, CancelledError):
            self._network.submit(self._end()).result(END_SECONDS)
        # Not before: a loop must not look at descriptors that mean something else by now.
        for each in self._sockets:
            each.close()
        self._sockets.clear()
        if self._space >= 0:
            os.close(self._space)
            self._space = -1

    # ---- on the thread of the network ----

    async def _listen(self) -> None:
        if self._closed:
            return
        proxy, names, *others = self._sockets
        for each in self._sockets:
            each.setblocking(False)
        self._served.spawn("names", self._answer(names))
        self._served.accept(proxy, functools.partial(self._serve, 0))
        for each in others:
            self._accept(each)
        self._gate.follow(self._open_port)
        for port in self._gate.ports:  # one may have been allowed meanwhile
            self._open_port(port)

    def _open_port(self, port: int) -> None:
        """Listen on one more port, a moment later; not where the code has taken it itself."""
        if self._closed or not self._ports.add(port):
            return
        space = os.dup(self._space)
        work = functools.partial(_made_and_closed, space, [("0.0.0.0", port)])
        making = asyncio.get_running_loop().run_in_executor(None, work)
        self._making.add(making)
        making.add_done_callback(self._take)

    def _take(self, making: asyncio.Future[list[socket.socket]]) -> None:
        self._making.discard(making)
        if making.cancelled() or making.exception() is not None:
            return
        for each in making.result():
            if self._closed:
                each.close()
                continue
            each.setblocking(False)
            self._sockets.append(each)
            self._accept(each)

    async def _end(self) -> None:
        self._closed = True
        if self._making:
            await asyncio.wait(self._making)
        await self._served.end()

    def _accept(self, listener: socket.socket) -> None:
        self._served.accept(listener, functools.partial(self._serve, listener.getsockname()[1]))

    async def _serve(self, port: int, connection: socket.socket) -> None:
        """Serve a connection to `port`, for the name whose address it goes to; 0 is the proxy's own."""
        try:
            pipe = SocketPipe(connection)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            address = connection.getsockname()[0]
            name = self._names.name_of(address)
            if not port:
                await self._gate.serve(pipe)
            elif name != address or self._gate.is_configured(address, port):
                # Else nobody asked for a name: as where nothing listens.
                await self._gate.serve(pipe, f"{name}:{port}")
        except OSError:  # it has gone already
            pass

    async def _answer(self, server: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with contextlib.suppress(OSError):
                query, asker = await loop.sock_recvfrom(server, LONGEST_QUERY)
                if answer := self._names.answer(query):
                    await loop.sock_sendto(server, answer, asker)
            await asyncio.sleep(0)


def _made_and_closed(space: int, places: list[tuple[str, int]]) -> list[socket.socket]:
    """Return sockets in the network that `space` is a descriptor of, which is closed. Raises OSError."""
    try:
        with SocketMaker() as maker:
            return maker.made(space, places)
    finally:
        os.close(space)
