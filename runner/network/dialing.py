"""Connections to hosts by name: looked up once, every address checked, and connected to the checked address."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from runner.model.network import is_address
from runner.network.addresses import may_lead
from runner.network.refusals import Blocked, unreachable
from runner.system.plain_file import read_file
from runner.system.tasks import in_daemon, spawn

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from runner.network.addresses import Reach
    from runner.network.permissions import Permissions

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
CONNECT_SECONDS = 10.0
LOOK_UP_SECONDS = 5.0
"""For `look_up`."""
HEAD_START_SECONDS = 0.25
"""How long one address is tried alone before the next one is tried as well (RFC 8305, 8)."""
MOST_ADDRESSES = 8
"""Addresses of one host that are tried; all of them are checked."""
MOST_LOOKUPS = 8
STREAM_BYTES = 1 << 18
HOSTS, MOST_HOSTS_BYTES = Path("/etc/hosts"), 8 << 20
"""The machine's own file of hosts (hosts(5)), and the most that is read of it: lists of blocked hosts are long."""
PRIVATE = "leads to a private address"


class Dialer(Protocol):
    """Opens connections to hosts that are allowed."""

    @property
    def pins_addresses(self) -> bool:
        """Whether a connection goes to the very address that was checked."""
        ...

    async def open(self, host: str, port: int, reach: Reach, inside: Collection[str] = ()) -> Streams:
        """Return a connection to the canonical `host`; `inside` as in `may_lead`. Raises Blocked."""
        ...


class DirectDialer:
    """Connects from this machine, without a proxy."""

    pins_addresses = True

    def __init__(
        self,
        resolve: Callable[[str, int], Sequence[str]] | None = None,
        connect: Callable[[str, int], Awaitable[Streams]] | None = None,
        *,
        seconds: float = CONNECT_SECONDS,
        lookups: int = MOST_LOOKUPS,
    ) -> None:
        """`resolve` is called on a thread of its own, `lookups` times at once; it raises OSError."""
        self._resolve = resolve or addresses_of
        self._connect = connect or _connect
        self._seconds = seconds
        self._lookups = lookups
        self._pending = 0
        self._lock = threading.Lock()

    async def open(self, host: str, port: int, reach: Reach, inside: Collection[str] = ()) -> Streams:
        addresses = await self._found(host, port)
        # One bad address is enough: a name that leads to a public and a private host is how rebinding begins.
        if bad := next((one for one in addresses if not may_lead(host, one, reach, inside)), None):
            raise Blocked(PRIVATE, address=bad)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._first(addresses[:MOST_ADDRESSES], port)
        except TimeoutError:
            raise unreachable("cannot be reached: it does not answer", 504) from None
        except OSError as error:
            raise unreachable(f"cannot be reached: {_words(error)}") from error

    async def _found(self, host: str, port: int) -> list[str]:
        """Return the addresses of `host`, without doubles. Raises Blocked."""
        with self._lock:
            if self._pending >= self._lookups:
                raise unreachable("cannot be looked up now: too many names are being looked up at once", 503)
            self._pending += 1

        counted = True

        def over() -> None:
            nonlocal counted
            with self._lock:
                self._pending -= counted
                counted = False

        def look_up() -> Sequence[str]:
            try:
                return self._resolve(host, port)
            finally:
                # Not where it is awaited: a lookup that hangs counts for as long as its thread lives.
                over()

        try:
            async with asyncio.timeout(self._seconds):
                found = await in_daemon("assent-lookup", look_up)
        except RuntimeError as error:
            over()
            raise unreachable("cannot be looked up now: this machine starts no more threads", 503) from error
        except TimeoutError:
            raise unreachable("cannot be looked up: its name server does not answer", 504) from None
        except (OSError, UnicodeError) as error:
            raise unreachable(f"cannot be looked up: {_words(error)}") from error
        if not found:
            raise unreachable("has no address")
        return list(dict.fromkeys(found))

    async def _first(self, addresses: Sequence[str], port: int) -> Streams:
        """Return the first connection that stands; the others are given up. Raises OSError."""
        attempts: set[asyncio.Task[Streams]] = set()
        waiting = list(reversed(_alternating(addresses)))
        failure = OSError("no address")
        try:
            while waiting or attempts:
                if waiting:
                    attempts.add(spawn("assent-connect", _as_task(self._connect(waiting.pop(), port))))
                pause = HEAD_START_SECONDS if waiting else None
                done, attempts = await asyncio.wait(attempts, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                for attempt in done:
                    error = attempt.exception()
                    if error is None:
                        attempts |= done - {attempt}
                        return attempt.result()
                    if not isinstance(error, OSError):
                        raise error
                    failure = error
            raise failure
        finally:
            await _give_up(attempts)


async def dial(permissions: Permissions, host: str, port: int, dialer: Dialer | None = None) -> Streams:
    """Return a connection to the canonical `host` at `port`, as `permissions` have it. Raises Blocked.

    The name is matched before it is looked up: otherwise the lookup alone would carry data out.
    """
    permission = permissions.find(host, port)
    if permission is None:
        raise Blocked
    streams = await (dialer or DirectDialer()).open(host, port, permission.reach, permission.inside)
    if permissions.find(host, port) != permission:
        streams[1].transport.abort()
        raise Blocked
    return streams


class _SecuredWriter(asyncio.StreamWriter):
    """Writes through TLS. Holds the writer below, which would close the connection when it is collected."""

    def __init__(
        self,
        transport: asyncio.WriteTransport,
        protocol: asyncio.StreamReaderProtocol,
        reader: asyncio.StreamReader,
        loop: asyncio.AbstractEventLoop,
        below: asyncio.StreamWriter,
    ) -> None:
        super().__init__(transport, protocol, reader, loop)
        self._below = below


async def secured(streams: Streams, context: ssl.SSLContext, host: str) -> Streams:
    """Return `streams` with TLS for `host` on them. Raises OSError and ssl.SSLError; then they are closed.

    With a reader of its own: what came before the handshake came from anybody on the way, and
    `StreamWriter.start_tls` would let it be read as if `host` had said it.
    """
    _, writer = streams
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=STREAM_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    try:
        transport = await loop.start_tls(writer.transport, protocol, context, server_hostname=host)
    except BaseException:
        writer.transport.abort()
        raise
    if transport is None:  # it was closed meanwhile
        raise ConnectionResetError("it ended the connection")
    protocol.connection_made(transport)
    return reader, _SecuredWriter(transport, protocol, reader, loop, writer)


def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of `host` as this machine knows them. Raises OSError.

    A name with a dot is looked up as it is. With a search domain of this machine behind it (resolv.conf(5)), one that
    does not exist would lead to another host than the one that was allowed.
    """
    whole = f"{host}." if "." in host and not is_address(host) and not _has_hosts_file(host) else host
    return [str(one[4][0]) for one in socket.getaddrinfo(whole, port, type=socket.SOCK_STREAM)]


async def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host as this machine knows them. Raises OSError."""
    async with asyncio.timeout(LOOK_UP_SECONDS):
        return await in_daemon("assent-lookup", partial(addresses_of, host, port))


def _has_hosts_file(host: str) -> bool:
    """Return whether the machine's file of hosts has the name, which is read there without a dot at its end."""
    try:
        lines = read_file(HOSTS, MOST_HOSTS_BYTES).decode("utf-8", "replace").lower().split("\n")
    except OSError:
        return False
    return any(host in line.partition("#")[0].split()[1:] for line in lines)


async def _connect(address: str, port: int) -> Streams:
    return await asyncio.open_connection(address, port, limit=STREAM_BYTES)


async def _as_task(work: Awaitable[Streams]) -> Streams:
    return await work


async def _give_up(attempts: set[asyncio.Task[Streams]]) -> None:
    for attempt in attempts:
        attempt.cancel()
    for attempt in attempts:
        await asyncio.wait({attempt})
        if not attempt.cancelled() and attempt.exception() is None:
            attempt.result()[1].transport.abort()


def _alternating(addresses: Sequence[str]) -> list[str]:
    """Return `addresses` with those of IPv6 and IPv4 in turn, in their order otherwise (RFC 8305, 4)."""
    six, four = [one for one in addresses if ":" in one], [one for one in addresses if ":" not in one]
    first, second = (six, four) if addresses and ":" in addresses[0] else (four, six)
    found = []
    while first or second:
        found += [one.pop(0) for one in (first, second) if one]
    return found


def _words(error: BaseException) -> str:
    """Return what failed without the address: asyncio writes it into its errors, and the code reads this."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno) if error.errno > 0 else str(error.strerror)
    return "it is no name that can be looked up" if isinstance(error, UnicodeError) else "the connection failed"
