"""Hosts for runs with a network: real servers of this machine, behind names that the gate's dialer leads to them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import http.server
import ssl
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.model.network import NOT_LISTED, Contact, Destination
from runner.network.dialing import DirectDialer
from runner.network.gate import Gate
from tests.network.stage import PUBLIC, certificate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.network.dialing import Streams

GOOD, EVIL = "good.example", "evil.example"
FURTHER_PORT = 7000


class Page(http.server.BaseHTTPRequestHandler):
    """Answers `/` with a word, `/N` with N bytes, and a POST with the hash of what was sent."""

    def do_GET(self) -> None:
        size = int(self.path[1:] or 0)
        self._answer(b"hello from outside\n" if not size else bytes(size))

    def do_POST(self) -> None:
        self._answer(hashlib.sha256(self.rfile.read(int(self.headers["Content-Length"]))).hexdigest().encode())

    def _answer(self, body: bytes) -> None:
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        pass


@dataclass
class Outside:
    """Two sites, one with TLS, and what was looked up for them."""

    plain: int
    """Port of this machine."""
    secure: int
    looked_up: list[str] = field(default_factory=list)

    def gate(self, *allowed: str) -> Gate:
        """A gate to `allowed`, as `Destination.parse` reads it."""

        def resolve(host: str, _port: int) -> list[str]:
            self.looked_up.append(host)
            return [PUBLIC]

        async def connect(_address: str, port: int) -> Streams:
            return await asyncio.open_connection("127.0.0.1", self.secure if port == 443 else self.plain)

        return Gate(map(Destination.parse, allowed), dialer=DirectDialer(resolve, connect))


def refused(gate: Gate) -> set[str]:
    """What was refused as not allowed."""
    return {one.name for one in gate.contacts if one.allowed is False and one.why == NOT_LISTED}


def reached(gate: Gate) -> set[str]:
    return {one.name for one in gate.contacts if one.allowed}


def contact(gate: Gate, name: str) -> Contact:
    return next(one for one in gate.contacts if one.name == name)


@contextlib.contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    """Both sites; `folder` has `authority.pem` for the one with TLS."""
    context, client = certificate(folder, GOOD, EVIL)
    (folder / "authority.pem").write_text(_pem(client))
    with served(None) as plain, served(context) as secure:
        yield Outside(plain, secure)


def _pem(context: ssl.SSLContext) -> str:
    return "".join(ssl.DER_cert_to_PEM_cert(one) for one in context.get_ca_certs(binary_form=True)[-1:])


@contextlib.contextmanager
def served(context: ssl.SSLContext | None, host: str = "127.0.0.1") -> Iterator[int]:
    server = http.server.ThreadingHTTPServer((host, 0), Page)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
