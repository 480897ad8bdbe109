"""Greetings of TLS: read alike however they are cut, and as OpenSSL reads them, or not at all."""

from __future__ import annotations

import contextlib
import random
import ssl
from typing import TYPE_CHECKING

from runner.network.client_hello import MOST_HELLO_BYTES, MOST_RECORD_BYTES, ClientHello, NotTLS
from tests.fuzz.mutation import cut, fuzz
from tests.network.stage import greeting

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = (b"\0\0", b"\xff\xff", b"\x16\x03\x01", b"\0\x0e\0\0\x0bb.example\0", b"\xfe\x0d", b"\x01", b"a.example", b"\0")
REFUSED = "not TLS"


def check(data: bytes) -> None:
    """Fail where the name in `data` depends on how it arrives, or another server would read another one."""
    source = random.Random(len(data))
    found = [_name(parts) for parts in ([data], cut(source, data), [bytes([byte]) for byte in data[:3000]])]
    assert found[0] == found[1]
    assert found[0] == found[2] or len(data) > 3000
    if found[0] not in (None, REFUSED):
        theirs = _theirs(data)
        assert theirs is None or theirs == (found[0] or "").lower(), (theirs, found[0])


def run(seconds: float, seed: int) -> int:
    seeds = [greeting("a.example"), greeting("b.example"), greeting(None), _recut(greeting("a.example"), 100)]
    return fuzz("client_hello", check, seeds, seconds, seed, WORDS)


def _name(parts: Sequence[bytes]) -> str | None:
    """Return the name, REFUSED, or None where more is needed."""
    hello = ClientHello()
    for part in parts:
        try:
            if hello.feed(part):
                return hello.name
        except NotTLS:
            return REFUSED
        assert len(hello._record) <= MOST_RECORD_BYTES + 5
        assert len(hello._hello) <= MOST_HELLO_BYTES + MOST_RECORD_BYTES
    return hello.name


def _theirs(data: bytes) -> str | None:
    """Return the name that OpenSSL reads, '' for none; None where it gets no further than refusing the greeting."""
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    incoming = ssl.MemoryBIO()
    incoming.write(data)
    with contextlib.suppress(ssl.SSLError, ValueError):
        context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True).do_handshake()
    return (names[0] or "").lower() if names else None


def _recut(data: bytes, size: int) -> bytes:
    """Return a greeting in records of `size` bytes."""
    content = data[5:]
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    return b"".join(b"\x16\x03\x01" + len(piece).to_bytes(2, "big") + piece for piece in pieces)
