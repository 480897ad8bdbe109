"""A port inside the network of a contained program, carried outside on demand, for a person's browser.

It is opened at an address of its own for each session (127.64.0.0 to 127.127.255.255), not at localhost. Cookies know
no ports: at localhost the program's server would get those of all other servers of this person there, and set them. At
an address of its own it is another site in every respect. And a page from elsewhere that wants to reach it would have
to guess one of four million addresses. The header Host is passed as the browser sends it: development servers take
addresses of this machine, except those that list the names that they take (Django says so itself, and how to add one).
Other accounts of this machine can reach the port, as they can reach every port of this person on localhost.

Inside, nothing of ours runs and nothing listens. A small process outside enters the network once and hands out sockets
that are connected in there: whatever the code inside does, no other network can be reached by them.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.local.accepting import ServedConnections, until_readable
from runner.sandbox.local.listeners import END_SECONDS, SocketPipe
from runner.sandbox.local.socket_maker import HELPER_SECONDS
from runner.sandbox.programs import inside
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.network.loop import NetworkLoop

MOST_CONNECTIONS = 256
"""Carried at once; others wait until there is room."""
BACKLOG = 256
LISTENS = "0A"
REACHED = {
    "00000000",
    "0100007F",
    "0" * 32,
    "0" * 24 + "01000000",
    "0" * 16 + "FFFF0000" + "00000000",
    "0" * 16 + "FFFF0000" + "0100007F",
}
"""Addresses, as the kernel writes them, at which 127.0.0.1 or ::1 is answered."""
LONGEST_LIST = 1 << 20
FIRST_ADDRESS, ADDRESSES = int(ipaddress.IPv4Address("127.64.0.1")), (1 << 22) - 2


def listening(process: int, without: Collection[int] = ()) -> set[int]:
    """Return the ports that can be carried, of the network that the process is in; those in `without` left out.

    Empty where the process has ended.
    """
    found: set[int] = set()
    for kind in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{process}/net/{kind}") as file:
            for line in file.read(LONGEST_LIST).splitlines()[1:]:
                words = line.split()
                if len(words) > 3 and words[3] == LISTENS:
                    address, _, port = words[1].rpartition(":")
                    found |= {int(port, 16)} if address in REACHED else set()
    return found - set(without)


def new_address() -> str:
    """Return an address of this machine for the ports of one session."""
    return str(ipaddress.IPv4Address(FIRST_ADDRESS + secrets.randbelow(ADDRESSES)))


class CarriedPort:
    """One port, from `open` to `close`. Both block; it ends by itself with the process that it is carried for."""

    def __init__(self, process: int, port: int, network: NetworkLoop, address: str) -> None:
        """`process` is in the network where `port` is listened on; `address` is from `new_address`."""
        self._process, self._wanted, self._network = process, port, network
        self.address, self.port = address, 0
        """Where it is outside; no port where it is not open."""
        self._pidfd = -1
        self._listener: socket.socket | None = None
        self._helper: subprocess.Popen[bytes] | None = None
        self._console: socket.socket | None = None
        """To the process that connects."""
        self._asking = asyncio.Lock()
        self._served = ServedConnections("carried port", MOST_CONNECTIONS)
        self._ending: asyncio.Task[None] | None = None
        self._closing = threading.Lock()

    @property
    def is_open(self) -> bool:
        return self.port > 0

    @property
    def url(self) -> str:
        """For a browser; '' where it is not open."""
        return f"http://{self.address}:{self.port}/" if self.is_open else ""

    def open(self) -> None:
        """Open it outside: at the same port, else at another one. Raises KnownError."""
        try:
            self._start_helper()
            self._listener = self._bound()
            self._network.start()
            self._network.submit(self._listen()).result(HELPER_SECONDS)
        except (OSError, RuntimeError, TimeoutError) as error:
            self.close()
            why = str(error) or "its thread does not answer"
            raise KnownError(f"Port {self._wanted} cannot be opened here: {why}.", "Try again.") from error

    def close(self) -> None:
        """End all connections, and what was started for them, within bounds of time. May be called again."""
        with contextlib.suppress(RuntimeError, TimeoutError, CancelledError):
            self._network.submit(self._end()).result(END_SECONDS)
        with self._closing:
            self.port = 0
            for each in (self._listener, self._console):
                if each is not None:
                    each.close()
            self._listener = self._console = None
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1
            if self._helper is not None:
                self._helper.kill()  # it keeps nothing
                self._helper.communicate()
                self._helper = None

    def _start_helper(self) -> None:
        """Start what connects, in the network of the process. Raises OSError."""
        self._pidfd = os.pidfd_open(self._process)
        space = os.open(f"/proc/{self._process}/ns/net", os.O_RDONLY)
        try:
            if os.path.samestat(os.fstat(space), os.stat("/proc/self/ns/net")):
                raise OSError("the process has no network of its own")
            if select.select([self._pidfd], [], [], 0)[0]:  # its number may be that of another one by now
                raise OSError("the process has ended")
            self._console, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with there:
                self._helper = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", inside("connecting.py"), str(space), str(self._wanted)],
                    stdin=there.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=(space,),
                    env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                    cwd="/",
                    start_new_session=True,
                )
        finally:
            os.close(space)
        self._console.settimeout(HELPER_SECONDS)
        if self._console.recv(1) != b"r":
            _, said = self._helper.communicate()
            raise OSError(" ".join(said.decode("utf-8", "replace").split())[-200:] or "its helper ended")
        self._console.setblocking(False)

    def _bound(self) -> socket.socket:
        """Return a socket that listens outside. Raises OSError."""
        for port in (self._wanted, 0):
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.bind((self.address, port))
                made.listen(BACKLOG)
                made.setblocking(False)
            except OSError:  # taken, or one of those that only root may open
                made.close()
                if not port:
                    raise
            else:
                return made
        raise AssertionError("one of both is taken or raises")

    # ---- on the thread of the network ----

    async def _listen(self) -> None:
        assert self._listener is not None
        self.port = self._listener.getsockname()[1]
        self._served.accept(self._listener, self._serve)
        asyncio.get_running_loop().add_reader(self._pidfd, self._process_ended)

    def _process_ended(self) -> None:
        """Listen no more, and end what is carried: nobody is there who would answer."""
        self._ending = spawn("carried port's end", self._end())

    async def _end(self) -> None:
        self.port = 0
        if self._pidfd >= 0:
            asyncio.get_running_loop().remove_reader(self._pidfd)
        await self._served.end()
        if self._listener is not None:
            self._listener.close()

    async def _serve(self, connection: socket.socket) -> None:
        there = await self._connected()
        if there is None:
            return
        with there:
            for each in (connection, there):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            here, inner = SocketPipe(connection), SocketPipe(there)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(_flow(here, inner))
                    both.create_task(_flow(inner, here))
            except* OSError:  # one of both has gone
                pass

    async def _connected(self) -> socket.socket | None:
        """Return a socket that is connected inside; None where nothing takes the connection."""
        async with self._asking:
            if self._console is None:
                return None
            try:
                self._console.send(b"c")
                _, files = await _received(self._console)
            except OSError:  # the helper has ended
                return None
        return socket.socket(fileno=files[0]) if files else None


async def _flow(source: SocketPipe, target: SocketPipe) -> None:
    """Carry one direction to its end. Raises OSError where one of both breaks off, which ends the other direction."""
    while data := await source.read():
        await target.write(data)
    await target.finish()


async def _received(console: socket.socket) -> tuple[bytes, list[int]]:
    while True:
        with contextlib.suppress(BlockingIOError, InterruptedError):
            data, files, _, _ = socket.recv_fds(console, 1, 1, socket.MSG_CMSG_CLOEXEC)
            return data, files
        await until_readable(console)
