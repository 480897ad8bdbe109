"""Heads of requests: read alike however they are cut, and only where the plainest reading says the same."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from runner.model.network import canonical_host
from runner.network.caps import STANDARD
from runner.network.heads import Malformed, absolute_target, connect_target, host_header, parse, read_head
from tests.fuzz.mutation import cut, fuzz
from tests.network.test_heads import Pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.network.heads import Asked

SEEDS = (
    b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\nrest",
    b"GET http://a.example:8080/b?c HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n",
    b"POST http://[::1]/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.0\r\nConnection: close, x\r\n\r\n",
)
WORDS = (
    *(b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":", b"%00", b"@", b"\xff", b"*.", b"[", b"]", b"#", b"\\"),
    *(b"Content-Length: 1\r\n", b"Host: b.example\r\n", b"Transfer-Encoding: chunked\r\n", b"http://"),
)


def check(data: bytes) -> None:
    """Fail where a request in `data` depends on how it arrives, or a plainer reading finds another."""
    source = random.Random(len(data))
    whole, pieces = _asked([data]), _asked(cut(source, data))
    assert (whole is None) == (pieces is None)
    if whole is None or pieces is None:
        return
    assert whole.request == pieces.request
    head = data.partition(b"\r\n\r\n")[0]
    line, *fields = head.split(b"\r\n")
    method, target, version = line.split(b" ")
    assert (whole.request.method, whole.request.target, b"HTTP/" + whole.request.http_version) == (
        method,
        target,
        version,
    )
    plain = [(name.lower(), value.strip(b" \t")) for name, _, value in (field.partition(b":") for field in fields)]
    assert [(name, value.lower()) for name, value in whole.request.headers] == [(a, b.lower()) for a, b in plain]
    assert sum(name in (b"content-length", b"transfer-encoding") for name, _ in plain) <= 1
    for read in (connect_target, absolute_target, host_header):
        try:
            found = read(whole.request)
        except Malformed:
            continue
        if found:
            assert canonical_host(found[0]) == found[0] and 0 < found[1] < 65536
            assert b"\0" not in found[0].encode() and "%" not in found[0]


def run(seconds: float, seed: int) -> int:
    return fuzz("http_heads", check, SEEDS, seconds, seed, WORDS)


def _asked(parts: Sequence[bytes]) -> Asked | None:
    pipe = Pieces(b"")
    pipe._pieces = [part for part in parts if part]
    try:
        head, rest = asyncio.run(read_head(pipe, STANDARD))
        return parse(head, rest, STANDARD) if head else None
    except Malformed:
        return None
