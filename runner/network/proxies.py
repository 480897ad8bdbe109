"""The proxy that this machine itself stands behind: connections then go to it, by name."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import os
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from runner.model.network import Destination, canonical_host, is_address
from runner.network.addresses import LOCAL_NAME, Reach, may_lead
from runner.network.contacts import shown
from runner.network.dialing import CONNECT_SECONDS, PRIVATE, DirectDialer, secured
from runner.network.heads import HTTP_PORT
from runner.network.refusals import Blocked, unreachable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from runner.network.dialing import Dialer, Streams

MOST_HEAD_BYTES = 16 << 10
_PORTS = {"http": 80, "https": 443}
NO_URL = "it is not a URL; a password in it needs its special characters as %23, for example"


@dataclass(frozen=True, slots=True)
class CompanyProxy:
    """One proxy of this machine's environment. Shows no credentials."""

    scheme: str
    host: str
    port: int
    authorization: str = field(default="", repr=False)
    """Value of the Proxy-Authorization header; empty where the proxy wants none."""

    @classmethod
    def parse(cls, text: str) -> CompanyProxy:
        """Return the proxy that a variable names: a URL, or host and port alone. Raises ValueError, half a sentence."""
        try:
            parts = urlsplit(text if "://" in text else f"http://{text}")
            port = parts.port
        except ValueError:
            # Without the library's words: they repeat a password that was not written as a URL has it.
            raise ValueError(NO_URL) from None
        if "@" in parts.path + parts.query + parts.fragment:
            raise ValueError(NO_URL)
        if parts.scheme not in _PORTS:
            raise ValueError(f"proxies of the kind {shown(parts.scheme, 20)} are not supported")
        if not parts.hostname:
            raise ValueError("it names no host")
        host = canonical_host(parts.hostname)
        authorization = ""
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            authorization = "Basic " + base64.b64encode(pair.encode()).decode()
        return cls(parts.scheme, host, port or _PORTS[parts.scheme], authorization)

    @property
    def name(self) -> str:
        return Destination(self.host, self.port).with_port


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """What the environment says of proxies."""

    secure: CompanyProxy | None = None
    """For everything besides plain HTTP."""
    plain: CompanyProxy | None = None
    """For plain HTTP at its usual port."""
    without: tuple[str, ...] = ()
    """Hosts that are connected to directly, as NO_PROXY names them."""
    problem: str = ""
    """Why a variable could not be used: nothing is connected then, as that would go past the proxy."""

    @classmethod
    def of(cls, environ: Mapping[str, str] | None = None) -> ProxySettings:
        """Read HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY; lower case first, as curl and Python do."""
        environ = os.environ if environ is None else environ
        # Servers that run CGI set HTTP_PROXY from a request's header; this console is none of them.
        found: dict[str, CompanyProxy | None] = {}
        for kind in ("https", "http"):
            name, text = next(
                ((name, text) for name in _names(kind) if (text := environ.get(name, "").strip())), ("", "")
            )
            try:
                found[kind] = CompanyProxy.parse(text) if text else None
            except ValueError as error:
                return cls(problem=f"the proxy of this machine cannot be used: {name}: {error}")
        listed = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
        without = tuple(one.strip().lower() for one in listed.split(",") if one.strip())
        return cls(found["https"], found["http"], without)

    def proxy_for(self, host: str, port: int) -> CompanyProxy | None:
        """Return the proxy for the canonical `host` at `port`; None where it is connected to directly."""
        if any(_listed(host, port, one) for one in self.without):
            return None
        return self.plain if port == HTTP_PORT else self.secure

    @property
    def sentence(self) -> str:
        """What a person should know; empty where there is no proxy."""
        if self.problem:
            return f"{self.problem[:1].upper()}{self.problem[1:]}. Code with network access reaches nothing."
        names = dict.fromkeys(proxy.name for proxy in (self.secure, self.plain) if proxy is not None)
        if not names:
            return ""
        return (
            f"Connections go through {' and '.join(names)}, which looks names up itself: hosts and ports are checked "
            "here, but not whether a name leads to a private address."
        )


class ProxiedDialer:
    """Connects by the company's proxy, and directly to what NO_PROXY names."""

    def __init__(self, settings: ProxySettings, direct: Dialer | None = None, seconds: float = CONNECT_SECONDS) -> None:
        self._settings = settings
        self._direct = direct or DirectDialer(seconds=seconds)
        self._seconds = seconds
        self._context: ssl.SSLContext | None = None

    @property
    def pins_addresses(self) -> bool:
        """Whether a connection goes to the very address that was checked: not where a proxy looks the name up."""
        return self._settings.secure is None and self._settings.plain is None

    async def open(self, host: str, port: int, reach: Reach, inside: Collection[str] = ()) -> Streams:
        if self._settings.problem:
            raise unreachable(f"cannot be reached: {self._settings.problem}")
        proxy = self._settings.proxy_for(host, port)
        # This machine is never asked for from another one, where the name would mean that one.
        if proxy is None or host == LOCAL_NAME or host.endswith(f".{LOCAL_NAME}"):
            return await self._direct.open(host, port, reach, inside)
        # An address is checked here; of a name only the proxy knows where it leads.
        if is_address(host) and not may_lead(host, host, reach, inside):
            raise Blocked(PRIVATE, address=host)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._through(proxy, host, port)
        except TimeoutError:
            raise unreachable(f"cannot be reached: the proxy {proxy.name} does not answer", 504) from None
        except (OSError, EOFError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or "it ended the connection"
            raise unreachable(f"cannot be reached: the proxy {proxy.name}: {why}") from error

    async def _through(self, proxy: CompanyProxy, host: str, port: int) -> Streams:
        """Return a tunnel to `host` that `proxy` has made. Raises Blocked, OSError and EOFError."""
        # The proxy is of this machine's own configuration, and may well be this machine.
        try:
            reader, writer = await self._direct.open(proxy.host, proxy.port, Reach.CONFIGURED)
        except Blocked as blocked:
            # Of the proxy, and not of the host: a person is not asked to allow what they do not mean.
            raise unreachable(f"cannot be reached: the proxy {proxy.name} {blocked.why}", blocked.status) from None
        try:
            if proxy.scheme == "https":
                self._context = self._context or ssl.create_default_context()
                reader, writer = await secured((reader, writer), self._context, proxy.host)
            where = Destination(host, port).with_port
            lines = [f"CONNECT {where} HTTP/1.1", f"Host: {where}"]
            if proxy.authorization:
                lines.append(f"Proxy-Authorization: {proxy.authorization}")
            writer.write("\r\n".join([*lines, "", ""]).encode())
            await writer.drain()
            status = await _status(reader)
            if status != "200":
                raise unreachable(f"cannot be reached: the proxy {proxy.name} answers {status}")
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer


def dialer_of_this_machine(seconds: float = CONNECT_SECONDS, environ: Mapping[str, str] | None = None) -> Dialer:
    """Return what connects from here: directly, or by the proxy that the environment names."""
    settings = ProxySettings.of(environ)
    if settings == ProxySettings(without=settings.without):
        return DirectDialer(seconds=seconds)
    return ProxiedDialer(settings, seconds=seconds)


async def _status(reader: asyncio.StreamReader) -> str:
    """Return the status of a proxy's answer, whose head is read to its end. Raises Blocked and EOFError."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise unreachable("cannot be reached: the proxy of this machine does not speak HTTP") from None
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
    if len(head) > MOST_HEAD_BYTES or len(words) < 2 or not words[0].startswith("HTTP/1."):
        raise unreachable("cannot be reached: the proxy of this machine does not speak HTTP")
    return "200" if words[1].startswith("2") else shown(" ".join(words[1:]), 100)


def _names(kind: str) -> tuple[str, ...]:
    names = f"{kind}_proxy", "all_proxy"
    return tuple(name for plain in names for name in (plain, plain.upper()))


def _listed(host: str, port: int, entry: str) -> bool:
    """Return whether an entry of NO_PROXY means `host`: a name and what is below it, an address or a network, `*`."""
    if entry == "*":
        return True
    name, colon, number = entry.rpartition(":")
    if colon and number.isdigit() and ":" not in name:
        if int(number) != port:
            return False
        entry = name
    if "/" in entry or is_address(host):
        try:
            return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    below = entry.removeprefix("*").removeprefix(".")
    return host == below or host.endswith(f".{below}")
