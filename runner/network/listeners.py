"""The two ways in which code comes to the gate: as to a proxy, and as to the host itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.network import HTTPS_PORT
from runner.network.heads import (
    HTTP_PORT,
    Malformed,
    absolute_target,
    authority,
    connect_target,
    host_header,
    parse,
    read_head,
)
from runner.network.plain_http import PlainRequest
from runner.network.refusals import UNRECOGNIZED_NAME, Blocked, http_answer, tls_answer
from runner.network.tunnel import TLS_BYTE, carry, greeting

if TYPE_CHECKING:
    import h11

    from runner.network.dialing import Streams
    from runner.network.heads import Asked
    from runner.network.visit import Visit

CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


async def proxy(visit: Visit) -> None:
    """Serve a program that speaks to a proxy. Raises OSError; whoever is refused has been answered."""
    try:
        asked = await _request(visit)
        if asked is None:
            return
        if asked.request.method == b"CONNECT":
            visit.admit(*connect_target(asked.request))
        else:
            host, port, path = absolute_target(asked.request)
            visit.admit(host, port)
        streams = await visit.dial()
    except Blocked as blocked:
        _name(visit, blocked)
        visit.refused(blocked)
        await _say(visit, http_answer(blocked, visit.host, visit.port))
        return
    if asked.request.method == b"CONNECT":
        await _tunnel(visit, streams, asked.rest)
    else:
        visit.opened()
        await _exchange(visit, asked, path, streams)


async def direct(visit: Visit, target: str) -> None:
    """Serve a program that believes to be connected to `target` itself. Raises OSError."""
    try:
        visit.admit(*authority(target.encode("utf-8", "replace"), HTTPS_PORT))
    except Blocked as blocked:
        _name(visit, blocked)
        visit.refused(blocked)
        await _refuse_direct(visit, blocked, secure=visit.port == HTTPS_PORT)
        return
    # The port as it was read: a target is the code's word, which may be spelled in more than one way.
    secure = visit.port == HTTPS_PORT
    if visit.port == HTTP_PORT:
        await _plain(visit, None)
        return
    try:
        first = await greeting(visit, b"") if secure else b""
        streams = await visit.dial()
    except Blocked as blocked:
        visit.refused(blocked)
        await _say(visit, tls_answer(blocked) if secure else b"")
        return
    visit.opened()
    await _carry(visit, streams, first, checked=secure)


async def _request(visit: Visit, first: bytes = b"") -> Asked | None:
    """Return the one request of a connection; None where none came. Raises Malformed."""
    try:
        async with visit.clock.timeout(visit.caps.head_seconds):
            head, rest = await read_head(visit.pipe, visit.caps, first)
    except TimeoutError:
        return None
    return parse(head, rest, visit.caps) if head else None


async def _tunnel(visit: Visit, streams: Streams, first: bytes) -> None:
    """Serve what follows a CONNECT that was let through."""
    await visit.pipe.write(CONNECTED)
    if visit.port == HTTP_PORT:
        await _plain(visit, streams, first)
        return
    secure = visit.port == HTTPS_PORT
    try:
        if secure:
            first = await greeting(visit, first)
    except Blocked as blocked:
        visit.refused(blocked)
        await _say(visit, tls_answer(blocked))
        return
    visit.opened()
    await _carry(visit, streams, first, checked=secure)


async def _carry(visit: Visit, streams: Streams, first: bytes, *, checked: bool) -> None:
    try:
        await carry(visit, streams, first, checked=checked)
    except* Blocked as group:
        blocked = _first(group)
        visit.refused(blocked)
        if blocked.alert == UNRECOGNIZED_NAME:
            await _say(visit, tls_answer(blocked))


async def _plain(visit: Visit, streams: Streams | None, first: bytes = b"") -> None:
    """Serve a plain request to the host itself, whose Host header must be the name that was asked for."""
    try:
        asked = await _request(visit, first)
        if asked is None:
            return
        path = _origin_path(asked.request, visit)
        if streams is None:
            streams = await visit.dial()
    except Blocked as blocked:
        visit.refused(blocked)
        await _say(visit, http_answer(blocked, visit.host, visit.port))
        return
    visit.opened()
    await _exchange(visit, asked, path, streams)


def _origin_path(request: h11.Request, visit: Visit) -> bytes:
    """Return the path of a request to the host itself. Raises Blocked."""
    named = host_header(request)
    path = request.target
    if not path.startswith(b"/"):
        host, port, path = absolute_target(request)
        named = named if (host, port) == (visit.host, visit.port) else (host, port)
    if named != (visit.host, visit.port):
        raise Blocked(f"was asked for, but the request names {named[0] if named else 'no host'}")
    return path


async def _exchange(visit: Visit, asked: Asked, path: bytes, streams: Streams) -> None:
    exchange = PlainRequest(visit, asked, path, streams)
    try:
        await exchange.run()
    except* Blocked as group:
        blocked = _first(group)
        visit.refused(blocked)
        if not exchange.answered:
            await _say(visit, http_answer(blocked, visit.host, visit.port))


async def _refuse_direct(visit: Visit, blocked: Blocked, *, secure: bool) -> None:
    """Answer in the language that the program speaks, once it has begun."""
    async with visit.clock.timeout(visit.caps.head_seconds):
        first = await visit.pipe.read()
    if first[:1] == TLS_BYTE or (secure and not first):
        await _say(visit, tls_answer(blocked))
    elif first:
        await _say(visit, http_answer(blocked, visit.host, visit.port))


async def _say(visit: Visit, data: bytes) -> None:
    """Answer and end: what follows a refusal must not be read as another request."""
    if data:
        await visit.pipe.write(data)
    await visit.pipe.finish()


def _name(visit: Visit, blocked: Blocked) -> None:
    """Name the connection by what was sent in place of a host."""
    if isinstance(blocked, Malformed) and not visit.host:
        visit.said(blocked.said)


def _first(group: BaseExceptionGroup[Blocked]) -> Blocked:
    """Return one of the failures of two directions that ended together."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, Blocked)
    return error
