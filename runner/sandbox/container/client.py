"""Speaks the Docker Engine API over any endpoint: calls with JSON, and connections turned into plain streams.

Of the libraries there are, the official one blocks a thread for every call and every stream, and the
asynchronous one brings a whole web client along and knows no ssh. What is needed here is a page of h11.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import h11

from runner.model.errors import KnownError
from runner.sandbox.container import absent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from runner.sandbox.container.endpoint import Endpoint, Line

CALL_SECONDS = 10.0
"""For an answer to an ordinary call. An engine that takes longer counts as hanging."""
CHUNK = 1 << 18
REMEDY = "Set SANDBOX_TYPE=local or start the Docker daemon."
FAR_REMEDY = "Look at DOCKER_HOST and the Docker context, or set SANDBOX_TYPE=local."


class EngineGone(KnownError):
    """The engine cannot be reached, does not answer, or went away."""


class Denied(Exception):
    """The engine's answer to a call it does not carry out."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Client:
    """One engine. Every call has a connection of its own, so none waits for another and no loop is bound."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    async def ask(
        self, method: str, path: str, body: object = None, seconds: float | None = CALL_SECONDS, **query: str
    ) -> Any:
        """The answer to a call, from JSON; None where it has none. Raises EngineGone and Denied."""
        try:
            async with asyncio.timeout(seconds):
                exchange = await self._open(method, path, query, body)
                try:
                    data = b"".join([piece async for piece in exchange.body()])
                finally:
                    await exchange.line.close()
        except TimeoutError as error:
            raise hanging() from error
        except (OSError, EOFError, h11.ProtocolError) as error:
            raise gone(error, self.endpoint.url) from error
        _refuse(exchange.status, data)
        return json.loads(data) if data else None

    async def follow(self, path: str, **query: str) -> AsyncGenerator[Any, None]:
        """The values of an answer that goes on, as they come. Raises EngineGone and Denied."""
        try:
            async with asyncio.timeout(CALL_SECONDS):
                exchange = await self._open("GET", path, query, None)
        except TimeoutError as error:
            raise hanging() from error
        except (OSError, EOFError, h11.ProtocolError) as error:
            raise gone(error, self.endpoint.url) from error
        rest = b""
        try:
            async for piece in exchange.body():
                *lines, rest = (rest + piece).split(b"\n")
                _refuse(exchange.status, b"".join(lines))
                for line in filter(None, lines):
                    yield json.loads(line)
        except (OSError, EOFError, h11.ProtocolError) as error:
            raise gone(error, self.endpoint.url) from error
        finally:
            await exchange.line.close()

    async def plug_in(self, path: str, body: object = None, **query: str) -> Plug:
        """A call whose connection becomes a plain stream both ways. Raises EngineGone and Denied."""
        try:
            async with asyncio.timeout(CALL_SECONDS):
                exchange = await self._open("POST", path, query, body, upgrade=True)
                if exchange.status != 101:
                    data = b"".join([piece async for piece in exchange.body()])
                    await exchange.line.close()
                    _refuse(exchange.status if exchange.status >= 400 else 500, data)
                return Plug(exchange.line, exchange.beyond)
        except TimeoutError as error:
            raise hanging() from error
        except (OSError, EOFError, h11.ProtocolError) as error:
            raise gone(error, self.endpoint.url) from error

    async def _open(
        self, method: str, path: str, query: dict[str, str], body: object, *, upgrade: bool = False
    ) -> Exchange:
        """Send a call and read the head of its answer."""
        line = await self.endpoint.connect()
        try:
            exchange = Exchange(line)
            data = b"" if body is None else json.dumps(body).encode()
            target = f"{path}?{urlencode(query)}" if query else path
            await exchange.send(method, target, data, upgrade)
        except (OSError, EOFError) as error:
            said = await line.last_words()
            await line.close()
            if said:
                raise EOFError(said) from error
            raise
        except BaseException:
            line.writer.close()
            raise
        return exchange


class Plug:
    """A connection turned into a stream. Used by one task."""

    def __init__(self, line: Line, first: bytes) -> None:
        self._line = line
        self._first = first

    async def read(self) -> bytes:
        """Some bytes, b'' at the end. Raises OSError."""
        if self._first:
            data, self._first = self._first, b""
            return data
        return await self._line.reader.read(CHUNK)

    async def write(self, data: bytes) -> None:
        """Send `data`. Raises OSError."""
        self._line.writer.write(data)
        await self._line.writer.drain()

    @property
    def ended(self) -> bool:
        """Whether the other side has ended it and nothing is left to read."""
        return not self._first and self._line.reader.at_eof()

    async def close(self) -> None:
        await self._line.close()

    def drop(self) -> None:
        """Close at once, whatever may still be on its way."""
        if not self._line.writer.is_closing():
            self._line.writer.transport.abort()


class Exchange:
    """One call on a connection and its answer."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.status = 0
        self._http = h11.Connection(h11.CLIENT)

    async def send(self, method: str, target: str, data: bytes, upgrade: bool) -> None:
        """Send the call and read the answer up to its body. Raises OSError, EOFError, h11.ProtocolError."""
        headers = [("Host", "engine"), ("Content-Type", "application/json"), ("Content-Length", str(len(data)))]
        headers += [("Connection", "Upgrade"), ("Upgrade", "tcp")] if upgrade else [("Connection", "close")]
        sent = [
            self._http.send(h11.Request(method=method, target=target, headers=headers)),
            self._http.send(h11.Data(data=data)) if data else b"",
            self._http.send(h11.EndOfMessage()),
        ]
        self.line.writer.write(b"".join(part or b"" for part in sent))
        await self.line.writer.drain()
        event = await self._answer()
        while isinstance(event, h11.InformationalResponse) and event.status_code != 101:
            event = await self._answer()
        if not isinstance(event, (h11.Response, h11.InformationalResponse)):
            raise EOFError
        self.status = event.status_code

    async def body(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)

    @property
    def beyond(self) -> bytes:
        """What came after the head of an answer that turned the connection into a stream."""
        return self._http.trailing_data[0]

    async def _answer(self) -> object:
        try:
            return await self._next()
        except h11.RemoteProtocolError as error:  # a connection that ends before the answer, or speaks something else
            raise EOFError from error

    async def _next(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self.line.reader.read(CHUNK))
        return event


def gone(error: BaseException, url: str = "") -> EngineGone:
    """What to say of an engine that cannot be reached (source document 1, scenario 7); `url` '' is this machine's."""
    if isinstance(error, PermissionError):
        return EngineGone(
            "The Docker daemon does not let you in.", "Add yourself to the group docker, or set SANDBOX_TYPE=local."
        )
    if url and not url.startswith("unix://"):
        return EngineGone(f"Docker daemon not available at {url}: {absent.why(error)}.", FAR_REMEDY)
    return EngineGone("Docker daemon not available.", REMEDY)


def hanging() -> EngineGone:
    return EngineGone("The Docker daemon does not answer.", "Restart the Docker daemon, or set SANDBOX_TYPE=local.")


def _refuse(status: int, data: bytes) -> None:
    if status < 400:
        return
    try:
        message = str(json.loads(data)["message"])
    except (ValueError, KeyError, TypeError):
        message = data.decode("utf-8", "replace") or f"status {status}"
    raise Denied(status, message.strip())
