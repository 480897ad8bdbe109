"""The head of an HTTP request as code sends it: read strictly, so that every server behind reads the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import h11

from runner.model.network import HTTPS_PORT, Destination, UnusableHost
from runner.network.contacts import shown
from runner.network.refusals import Blocked

if TYPE_CHECKING:
    from runner.network.caps import Caps
    from runner.network.visit import Pipe

HTTP_PORT = 80
_END = b"\r\n\r\n"
_STRAY = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]|\0")
_ABSOLUTE = re.compile(rb"(?i:http)://([^/?#\\]*+)([^#\\]*+)")
_VERSIONS = (b"1.0", b"1.1")
BAD_REQUEST = 400


class Malformed(Blocked):
    """A request that is not HTTP, or that two programs may read as two different ones."""

    def __init__(self, why: str, said: str = "") -> None:
        """`said` is what stands in place of a host."""
        super().__init__(why, status=BAD_REQUEST)
        self.said = said


@dataclass(slots=True)
class Asked:
    """A request whose head was read; its body, if any, is still to come through `http`."""

    http: h11.Connection
    request: h11.Request
    rest: bytes = b""
    """What came behind the head of a CONNECT."""


async def read_head(pipe: Pipe, caps: Caps, first: bytes = b"") -> tuple[bytes, bytes]:
    """Return the head of a request and what came behind it; nothing at all where the connection ended before.

    Raises Malformed. The caller bounds the time.
    """
    data = bytearray(first)
    seen = 0
    while (end := data.find(_END, seen)) < 0:
        if len(data) > caps.head_bytes:
            raise Malformed("has too long a head", _first_line(data))
        seen = max(0, len(data) - len(_END))
        more = await pipe.read()
        if not more:
            if data:
                raise Malformed("is not a complete request", _first_line(data))
            return b"", b""
        if not data and not more[:1].isalpha():
            raise Malformed("is not a request", _first_line(more))
        data += more
    if end > caps.head_bytes:
        raise Malformed("has too long a head", _first_line(data))
    end += len(_END)
    return bytes(data[:end]), bytes(data[end:])


def parse(head: bytes, rest: bytes, caps: Caps) -> Asked:
    """Return the request that `head` is. Raises Malformed."""
    said = _first_line(head)
    if _STRAY.search(head):
        raise Malformed("has lines that are read in two ways", said)
    # Between two reads of h11 a whole piece of the connection is held.
    http = h11.Connection(h11.SERVER, max_incomplete_event_size=caps.head_bytes + 1)
    http.receive_data(head)
    try:
        request = http.next_event()
    except h11.RemoteProtocolError as error:
        # Without the library's words: they repeat what was sent.
        raise Malformed("is not a request as HTTP has it", said) from error
    if not isinstance(request, h11.Request):
        raise Malformed("is not a request", said)
    _check_lengths(head, request, said)
    if request.method == b"CONNECT":
        return Asked(http, request, rest)
    if rest:
        http.receive_data(rest)
    return Asked(http, request)


def _check_lengths(head: bytes, request: h11.Request, said: str) -> None:
    # As they were sent: h11 makes one of two lengths that are equal.
    fields = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    lengths = [value.strip() for name, _, value in fields if name.strip().lower() == b"content-length"]
    codings = [value.strip() for name, _, value in fields if name.strip().lower() == b"transfer-encoding"]
    if request.http_version not in _VERSIONS:
        raise Malformed("has an unknown version of HTTP", said)
    if len(lengths) > 1 or (lengths and codings) or any(not one.isdigit() for one in lengths):
        raise Malformed("has two lengths", said)
    if len(codings) > 1 or any(one.lower() != b"chunked" for one in codings):
        raise Malformed("has an unknown transfer coding", said)
    if codings and request.http_version < b"1.1":
        raise Malformed("has a transfer coding that its version does not know", said)
    if request.method == b"CONNECT" and (codings or lengths not in ([], [b"0"])):
        raise Malformed("has a body that it cannot have", said)


def authority(text: bytes, default: int) -> tuple[str, int]:
    """Return the canonical host and the port that `text` names. Raises Malformed."""
    said = shown(text.decode("latin-1"), len(text))
    try:
        words = text.decode("ascii")
        bare = not words.rpartition(":")[1] or words.endswith("]")
        found = Destination.parse(f"{words}:{default}" if bare else words)
    except (UnicodeDecodeError, UnusableHost) as error:
        why = str(error) if isinstance(error, UnusableHost) else "it is not a host name"
        raise Malformed(f"cannot be reached: {why}", said) from None
    if found.is_wildcard or text != text.strip():
        raise Malformed("cannot be reached: it is not a host name", said)
    return found.host, found.port


def connect_target(request: h11.Request) -> tuple[str, int]:
    """Return host and port of a CONNECT. Raises Malformed."""
    return authority(request.target, HTTPS_PORT)


def absolute_target(request: h11.Request) -> tuple[str, int, bytes]:
    """Return host, port and path of a request to a proxy. Raises Malformed."""
    found = _ABSOLUTE.fullmatch(request.target)
    if not found:
        raise Malformed("is not a request to a proxy", shown(request.target.decode("latin-1"), 253))
    host, port = authority(found[1], HTTP_PORT)
    path = found[2]
    return host, port, path if path.startswith(b"/") else b"/" + path


def host_header(request: h11.Request) -> tuple[str, int] | None:
    """Return what the one Host header of `request` names; None without one. Raises Malformed."""
    hosts = [value for name, value in request.headers if name == b"host"]
    if len(hosts) > 1:
        raise Malformed("has two hosts")
    return authority(hosts[0], HTTP_PORT) if hosts else None


def _first_line(data: bytes | bytearray) -> str:
    line = bytes(data[:300]).partition(b"\n")[0].strip()
    return shown(line.decode("latin-1"), 253)
