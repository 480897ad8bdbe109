"""One plain HTTP request: taken apart and written again, so that the host reads what the gate has read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

import h11

from runner.network.heads import HTTP_PORT, Malformed
from runner.network.refusals import unreachable
from runner.network.tunnel import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from runner.network.dialing import Streams
    from runner.network.heads import Asked
    from runner.network.visit import Visit


class _Headers(Protocol):
    """What h11 has of a message's headers."""

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]: ...
    def raw_items(self) -> list[tuple[bytes, bytes]]: ...


_HOP = frozenset({
    b"connection", b"expect", b"host", b"keep-alive", b"proxy-authenticate", b"proxy-authorization",
    b"proxy-connection", b"te", b"trailer", b"upgrade", b"http2-settings",
})  # fmt: skip
"""Headers for the next host alone (RFC 9110, 7.6.1), and what asks for another protocol."""


class PlainRequest:
    """The request of `asked` and its answer. Nothing that follows on the connection is read."""

    def __init__(self, visit: Visit, asked: Asked, path: bytes, streams: Streams) -> None:
        self._visit = visit
        self._inside = asked.http
        self._request = asked.request
        self._path = path
        self._reader, self._writer = streams
        self._outside = h11.Connection(h11.CLIENT, max_incomplete_event_size=visit.caps.head_bytes)
        self.answered = False
        """Whether the code has got the beginning of an answer."""

    async def run(self) -> None:
        """Carry the request out and the answer back. Raises Blocked and OSError."""
        await self._send(self._head())
        async with asyncio.TaskGroup() as group:
            body = group.create_task(self._body(), name="gate: request")
            try:
                await self._answer()
            except h11.ProtocolError as error:
                raise unreachable(f"answers something else than HTTP: {error}") from error
            # An answer may come before the end of the request; the rest of it does not matter then.
            body.cancel()
        await self._visit.pipe.finish()

    def _head(self) -> h11.Request:
        host = f"[{self._visit.host}]" if ":" in self._visit.host else self._visit.host
        shown = host if self._visit.port == HTTP_PORT else f"{host}:{self._visit.port}"
        headers = [(b"Host", shown.encode()), *_kept(self._request.headers), (b"Connection", b"close")]
        return h11.Request(method=self._request.method, target=self._path, headers=headers)

    async def _send(self, event: h11.Request | h11.Data | h11.EndOfMessage) -> None:
        if data := self._outside.send(event):
            await self._visit.sending(len(data))
            self._writer.write(data)
            await self._writer.drain()

    async def _body(self) -> None:
        try:
            while True:
                event = await _event(self._inside, self._visit.pipe.read, self._go_ahead)
                if not isinstance(event, h11.Data | h11.EndOfMessage):
                    raise Malformed("is not a complete request")
                last = isinstance(event, h11.EndOfMessage)
                try:
                    # Without the trailers: they would be more headers, which nobody here has looked at.
                    await self._send(h11.Data(data=event.data) if isinstance(event, h11.Data) else h11.EndOfMessage())
                except OSError:
                    # The host reads no more; it may have answered already.
                    return
                if last:
                    return
        except h11.ProtocolError as error:
            raise Malformed(f"has a body that cannot be read: {error}") from error

    async def _go_ahead(self) -> None:
        if self._inside.they_are_waiting_for_100_continue and not self.answered:
            data = self._inside.send(h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue"))
            await self._visit.pipe.write(data or b"")

    async def _answer(self) -> None:
        while True:
            event = await _event(self._outside, self._read_answer)
            if isinstance(event, h11.Response):
                self.answered = True
                headers = [*_kept(event.headers), (b"Connection", b"close")]
                # The answer is from the host: its length was read once, by `_outside`.
                event = h11.Response(status_code=event.status_code, reason=event.reason, headers=headers)
            elif isinstance(event, h11.InformationalResponse):
                continue
            elif not isinstance(event, h11.Data | h11.EndOfMessage):
                raise unreachable("ended the connection before its answer was complete")
            if isinstance(event, h11.EndOfMessage):
                event = h11.EndOfMessage()
            await self._visit.pipe.write(self._inside.send(event) or b"")
            if isinstance(event, h11.EndOfMessage):
                return

    async def _read_answer(self) -> bytes:
        data = await self._reader.read(PIECE_BYTES)
        await self._visit.receiving(len(data))
        return data


def _kept(headers: _Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers that travel on: no hop's own, and no length beside a transfer coding."""
    named = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")} - {
        b"content-length",
        b"transfer-encoding",
    }
    dropped = _HOP | named
    if any(name == b"transfer-encoding" for name, _ in headers):
        dropped |= {b"content-length"}
    return [(raw, value) for raw, value in headers.raw_items() if raw.lower() not in dropped]


async def _event(
    http: h11.Connection,
    read: Callable[[], Awaitable[bytes]],
    before: Callable[[], Awaitable[None]] | None = None,
) -> object:
    """Return the next event of `http`; `before` is awaited before each read. Raises h11.ProtocolError."""
    while (event := http.next_event()) is h11.NEED_DATA:
        if before is not None:
            await before()
        http.receive_data(await read())
    return event
