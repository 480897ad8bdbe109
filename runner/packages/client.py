"""Fetches from registries over HTTPS: few hosts, bounded answers, a deadline for all of it together."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import h11

from runner.model.network import Destination, UnusableHost, canonical_host, is_address
from runner.network.addresses import LOCAL_NAME, Reach, parsed
from runner.network.authorities import SYSTEM_ONLY
from runner.network.dialing import secured
from runner.network.proxies import dialer_of_this_machine
from runner.network.refusals import Blocked
from runner.packages.failures import Unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.network.authorities import Authorities
    from runner.network.dialing import Dialer, Streams

MOST_PAGE = 48 << 20
"""Bytes of an answer about one project: the longest ones have some 20 MB."""
MOST_REDIRECTS = 5
MOST_HOSTS = 8
"""Hosts that one plan may lead to."""
AT_ONCE = 6
"""Connections to one host."""
HEAD_BYTES = 64 << 10
ROUNDS_TO_CLOSE = 3
"""Of the loop, until an aborted connection has let go of its socket: TLS takes one more."""
READ_BYTES = 1 << 18
AGENT = "assent"
Origin = tuple[str, str, int]
"""Scheme, canonical host and port."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where a registry answers, and how it is asked."""

    url: str
    """Without credentials; ends with a slash, as the others do."""
    destinations: frozenset[Destination] = frozenset()
    """Hosts that this machine is configured with: they may lead to private addresses."""
    authorization: Callable[[str], str] = field(default=lambda _url: "", repr=False)
    """Returns the Authorization header for a URL, a secret; '' for none."""
    authorities: Authorities = SYSTEM_ONLY
    further: tuple[str, ...] = ()
    """More indexes of Python packages: each is asked for every name, and the first of all that has it counts."""
    scopes: Mapping[str, str] = field(default_factory=dict)
    """Registries of npm that alone are asked for the packages of a scope such as `@corp`."""

    @property
    def indexes(self) -> tuple[str, ...]:
        """All indexes of Python packages, in the order in which they count."""
        return (self.url, *self.further)

    def registry_of(self, name: str) -> str:
        """Return the registry of npm for a package."""
        scope = name.partition("/")[0].casefold() if name.startswith("@") else ""
        # Never the common registry for a name of the company: there it may be anybody's.
        return next((url for known, url in self.scopes.items() if known.casefold() == scope), self.url)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """An answer."""

    data: bytes
    kind: str
    """Media type."""
    url: str
    """Where it came from, after redirects."""


def origin_of(url: str) -> Origin:
    """Return scheme, host and port. Raises Unusable: only HTTPS is used, or HTTP within this machine."""
    try:
        parts = urlsplit(url)
        host = canonical_host(parts.hostname or "")
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except (UnusableHost, ValueError):
        raise Unusable("it has no usable host") from None
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_this_machine(host)):
        raise Unusable(f"{host} is not asked over HTTPS")
    return parts.scheme, host, port


def _is_this_machine(host: str) -> bool:
    return host == LOCAL_NAME or (is_address(host) and parsed(host).is_loopback)


class RegistryClient:
    """Connections of one plan. Belongs to one loop; `close` ends them."""

    def __init__(self, access: Access, *, dialer: Dialer | None = None, most: int = 1 << 30) -> None:
        """`most` bounds the bytes of all answers together."""
        self._access = access
        self._dialer = dialer or dialer_of_this_machine()
        self._left = most
        self._idle: dict[Origin, list[_Connection]] = {}
        self._slots: dict[Origin, asyncio.Semaphore] = {}

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that were asked."""
        return tuple(sorted({host for _, host, _ in self._slots}))

    async def get(self, url: str, *, accept: str = "*/*", most: int = MOST_PAGE) -> FetchedPage | None:
        """Return the answer to GET; None for 404 and 410. Raises Unusable, naming no credentials."""
        origin = origin_of(url)
        for _ in range(MOST_REDIRECTS):
            answer = await self._asked(origin, url, accept, most)
            if isinstance(answer, FetchedPage):
                return answer
            code, location = answer
            if code in (404, 410):
                return None
            if not location:
                raise Unusable(f"{origin[1]} answers with status {code}")
            url = urljoin(url, location)
            redirected = origin_of(url)
            if origin[0] == "https" and redirected[0] != "https":
                raise Unusable(f"{origin[1]} leads to {redirected[1]} without HTTPS")
            origin = redirected
        raise Unusable(f"{origin[1]} redirects too often")

    async def close(self) -> None:
        for connections in self._idle.values():
            for one in connections:
                one.close()
        self._idle.clear()
        for _ in range(ROUNDS_TO_CLOSE):
            await asyncio.sleep(0)

    async def _asked(self, origin: Origin, url: str, accept: str, most: int) -> FetchedPage | tuple[int, str]:
        """Return a page, or a status and where it leads. Raises Unusable."""
        if origin not in self._slots and len(self._slots) >= MOST_HOSTS:
            raise Unusable(f"the files come from more than {MOST_HOSTS} hosts")
        slots = self._slots.setdefault(origin, asyncio.Semaphore(AT_ONCE))
        async with slots:
            # One that was left open may have been closed by the other end meanwhile: then a new one is tried.
            while idle := self._idle.get(origin, []):
                with contextlib.suppress(_Stale):
                    return await self._exchange(idle.pop(), url, accept, most)
            try:
                return await self._exchange(await self._opened(origin), url, accept, most)
            except _Stale as error:
                raise Unusable(f"{origin[1]} ends the connection") from error

    async def _exchange(
        self, connection: _Connection, url: str, accept: str, most: int
    ) -> FetchedPage | tuple[int, str]:
        try:
            secret = self._access.authorization(url)
            answer, size = await connection.get(url, accept, secret, min(most, self._left))
        except BaseException:
            connection.close()
            raise
        self._left -= size
        if connection.reusable:
            self._idle.setdefault(connection.origin, []).append(connection)
        else:
            connection.close()
        return answer

    async def _opened(self, origin: Origin) -> _Connection:
        """Raises Unusable."""
        scheme, host, port = origin
        configured = Destination(host, port) in self._access.destinations
        try:
            context = self._access.authorities.context()
        except (OSError, ssl.SSLError) as error:
            raise Unusable(f"the certificates that this machine trusts cannot be read: {_words(error)}") from error
        try:
            streams = await self._dialer.open(host, port, Reach.CONFIGURED if configured else Reach.PUBLIC)
        except Blocked as error:
            raise Unusable(f"{host} {error.why}") from error
        if scheme == "https":
            try:
                streams = await secured(streams, context, host)
            except (OSError, ssl.SSLError) as error:
                raise Unusable(f"{host} cannot be trusted: {_words(error)}") from error
        return _Connection(origin, streams)


class _Stale(Exception):
    """The other end has closed a connection before it answered."""


class _Connection:
    """One connection and the requests on it, one after the other."""

    def __init__(self, origin: Origin, streams: Streams) -> None:
        self.origin = origin
        self._reader, self._writer = streams
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)

    @property
    def reusable(self) -> bool:
        return self._http.our_state is h11.IDLE and not self._reader.at_eof()

    def close(self) -> None:
        # Not closed in turn: that would wait for the other end, which has said all that was asked of it.
        self._writer.transport.abort()

    async def get(self, url: str, accept: str, header: str, most: int) -> tuple[FetchedPage | tuple[int, str], int]:
        """Return the answer, and how many bytes it took. Raises Unusable, and _Stale where there is none."""
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if not target.isascii() or not target.isprintable() or " " in target:
            raise Unusable(f"{self.origin[1]} is asked for a path that cannot be written")
        headers = [
            ("Host", self._host),
            ("Accept", accept),
            ("Accept-Encoding", "gzip" if accept != "*/*" else "identity"),
            ("User-Agent", AGENT),
            *([("Authorization", header)] if header else []),
        ]
        request = h11.Request(method="GET", target=target, headers=headers)
        try:
            self._writer.write((self._http.send(request) or b"") + (self._http.send(h11.EndOfMessage()) or b""))
            await self._writer.drain()
            head = await self._next()
            while isinstance(head, h11.InformationalResponse):
                head = await self._next()
            if not isinstance(head, h11.Response):
                raise _Stale
            named = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
            data, size = await self._body(_decoder(named), most)
        except (OSError, EOFError) as error:
            raise _Stale from error
        except h11.RemoteProtocolError as error:
            raise Unusable(f"{self.origin[1]} does not speak HTTP: {_words(error)}") from error
        if self._http.their_state is h11.DONE and self._http.our_state is h11.DONE:
            self._http.start_next_cycle()
        if head.status_code != 200:
            moved = 300 <= head.status_code < 400
            return (head.status_code, named.get("location", "") if moved else ""), size
        return FetchedPage(data, named.get("content-type", "").partition(";")[0].strip().lower(), url), size

    @property
    def _host(self) -> str:
        scheme, host, port = self.origin
        shown = f"[{host}]" if ":" in host else host
        return shown if port == (443 if scheme == "https" else 80) else f"{shown}:{port}"

    async def _body(self, decoder: _Decoder, most: int) -> tuple[bytes, int]:
        """Return the body, and its bytes on the wire. Raises Unusable for one that is larger than `most`."""
        pieces: list[bytes] = []
        size = wire = 0
        while isinstance(event := await self._next(), h11.Data):
            wire += len(event.data)
            pieces.append(decoder.feed(bytes(event.data), most + 1 - size))
            size += len(pieces[-1])
            if size > most or wire > most:
                raise Unusable(f"{self.origin[1]} answers with more than {most:,} bytes")
        return b"".join(pieces), wire

    async def _next(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = await self._reader.read(READ_BYTES)
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise EOFError
            self._http.receive_data(data)
        return event


class _Decoder:
    """Takes off the compression of a body. A bomb is noticed before it has unfolded."""

    def __init__(self, compressed: bool) -> None:
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16) if compressed else None

    def feed(self, data: bytes, most: int) -> bytes:
        """Return at most `most` bytes. Raises Unusable."""
        if self._inflate is None:
            return data
        try:
            return self._inflate.decompress(data, max(1, most))
        except zlib.error as error:
            raise Unusable("an answer is not compressed as it says") from error


def _decoder(headers: Mapping[str, str]) -> _Decoder:
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        raise Unusable("an answer is compressed in a way that was not asked for")
    return _Decoder(encoding == "gzip")


def _words(error: BaseException) -> str:
    text = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return str(text)[:200]
