"""A gate with real sockets on both sides: code connects to a door of it, hosts are servers of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import socket
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from runner.model.network import Contact, Destination
from runner.network.caps import STANDARD
from runner.network.dialing import DirectDialer
from runner.network.gate import Gate
from runner.system.tasks import spawn
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path

    from runner.network.caps import Caps
    from runner.network.dialing import Dialer, Streams

    Accepted = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]

PUBLIC = "93.184.216.34"
"""An address of the Internet; the stage's dialer connects to this machine in its place."""
PATIENCE = HANGS
GOOD, EVIL = "good.example", "evil.example"


class SocketPipe:
    """A connection that was accepted from the code, as the local carrier brings it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        return await self._reader.read(1 << 16)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def finish(self) -> None:
        self._writer.write_eof()

    def close(self) -> None:
        self._writer.close()


@dataclass
class Code:
    """The code's end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, data: bytes | str) -> None:
        self.writer.write(data.encode("latin-1") if isinstance(data, str) else data)
        await self.writer.drain()

    async def rest(self) -> bytes:
        """Everything until the other side ends."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""

    async def head(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def asked(self, data: bytes | str) -> bytes:
        """Say `data`; return everything that is answered."""
        await self.say(data)
        return await self.rest()

    async def connected(self, host: str, port: int) -> bytes:
        """Send a CONNECT and return the head of its answer."""
        await self.say(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")
        return await self.head()


@dataclass
class Hosts:
    """What names stand for, and who was asked and dialed."""

    addresses: dict[str, list[str]] = field(default_factory=dict)
    ports: dict[int, int] = field(default_factory=dict)
    """The port of this machine at which a host's port is served."""
    looked_up: list[str] = field(default_factory=list)
    dialed: list[tuple[str, int]] = field(default_factory=list)

    def resolve(self, host: str, _port: int) -> list[str]:
        self.looked_up.append(host)
        if host not in self.addresses:
            raise OSError(-2, "Name or service not known")
        return self.addresses[host]

    async def connect(self, address: str, port: int) -> Streams:
        self.dialed.append((address, port))
        return await asyncio.open_connection("127.0.0.1", self.ports.get(port, port))

    def dialer(self) -> DirectDialer:
        return DirectDialer(self.resolve, self.connect, seconds=PATIENCE)


@dataclass
class Stage:
    """A gate and the doors that lead to it."""

    gate: Gate
    hosts: Hosts
    reports: list[Contact]
    proxy_port: int = 0
    reported: asyncio.Event = field(default_factory=asyncio.Event)
    _closing: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    @contextlib.asynccontextmanager
    async def code(self, target: str = "") -> AsyncIterator[Code]:
        """A connection of the code: to the proxy, or to what it takes for `target` itself."""
        port = await self.door(target) if target else self.proxy_port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            yield Code(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def door(self, target: str) -> int:
        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self.gate.serve(SocketPipe(reader, writer), target)

        return await self.server(accepted)

    async def server(
        self,
        accepted: Accepted,
        context: ssl.SSLContext | None = None,
    ) -> int:
        """Serve on a port of this machine until the stage is closed, and return it."""

        return await self._closing.enter_async_context(served(accepted, context))

    async def until(self, found: Callable[[Contact], bool]) -> Contact:
        """Wait for a report."""
        async with asyncio.timeout(PATIENCE):
            while not (hits := [one for one in self.reports if found(one)]):
                self.reported.clear()
                await self.reported.wait()
        return hits[-1]

    async def busy(self) -> None:
        """Wait until a connection is on its way."""
        async with asyncio.timeout(PATIENCE):
            while not self.gate.connections:
                await asyncio.sleep(0.005)

    async def idle(self) -> None:
        """Wait until nothing is open."""
        async with asyncio.timeout(PATIENCE):
            while self.gate._visits:
                await asyncio.wait(set(self.gate._visits.values()))


@contextlib.asynccontextmanager
async def staged(
    *allowed: str, private: tuple[str, ...] = (), caps: Caps = STANDARD, dialer: Dialer | None = None
) -> AsyncIterator[Stage]:
    """A gate that allows `allowed`, as `Destination.parse` reads it."""
    hosts = Hosts({GOOD: [PUBLIC], EVIL: [PUBLIC]})
    reports: list[Contact] = []

    def report(contact: Contact) -> None:
        reports.append(contact)
        stage.reported.set()

    gate = Gate(
        map(Destination.parse, allowed),
        private=map(Destination.parse, private),
        caps=caps,
        report=report,
        dialer=dialer or hosts.dialer(),
    )
    stage = Stage(gate, hosts, reports)
    stage.proxy_port = await stage.door("")
    try:
        yield stage
    finally:
        gate.close()
        await asyncio.sleep(0)
        await stage.idle()
        await stage._closing.aclose()


@contextlib.asynccontextmanager
async def served(accepted: Accepted, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server on a port of this machine; at its end every connection is over."""
    open_: set[asyncio.Task[None]] = set()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, EOFError):
                await accepted(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_.add(spawn("a server of the test", guarded(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=context)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in open_:
            task.cancel()
        if open_:
            await asyncio.wait(open_)


async def nothing(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Close at once."""


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with what comes, until it ends."""
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


@dataclass
class Web:
    """A plain HTTP server that keeps what it was sent, and answers `answer`."""

    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    requests: list[bytes] = field(default_factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(head)
        lower = head.lower()
        if b"content-length:" in lower:
            size = int(lower.partition(b"content-length:")[2].partition(b"\r")[0])
            self.requests[-1] += await reader.readexactly(size)
        elif b"chunked" in lower:
            self.requests[-1] += await reader.readuntil(b"0\r\n\r\n")
        writer.write(self.answer)
        await writer.drain()


def certificate(folder: Path, *names: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return contexts for a server that shows a new certificate for `names`, and for a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = datetime.datetime.now(datetime.UTC)
    alternatives: list[x509.GeneralName] = []
    for name in names:
        try:
            alternatives.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            alternatives.append(x509.DNSName(name))
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    shown = signed.public_bytes(serialization.Encoding.PEM)
    place = folder / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    place.write_bytes(shown + secret)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(place)
    client = ssl.create_default_context(cadata=shown.decode())
    return server, client


def greeting(name: str | None) -> bytes:
    """Return the ClientHello that this Python sends for `name`."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    return out.read()


def hiding(name: str) -> bytes:
    """Return a greeting for `name` that has an encrypted client hello as well, as some browsers send it."""
    plain = greeting(name)
    extension = b"\xfe\x0d" + (100).to_bytes(2, "big") + bytes(100)
    at = 5 + 4 + 2 + 32
    at += 1 + plain[at]
    at += 2 + int.from_bytes(plain[at : at + 2], "big")
    at += 1 + plain[at]
    listed = plain[at + 2 :] + extension
    body = plain[9:at] + len(listed).to_bytes(2, "big") + listed
    hello = plain[5:6] + len(body).to_bytes(3, "big") + body
    return plain[:3] + len(hello).to_bytes(2, "big") + hello


def free_port() -> int:
    """Return a port of this machine at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
