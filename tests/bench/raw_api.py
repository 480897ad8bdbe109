"""The engine's raw API over its local socket, with nothing of ours: the floor of the benches of containers."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

import h11

CHUNK = 1 << 18
BUFFER = 1 << 20


class Stream:
    """A connection that has become a plain stream both ways."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes) -> None:
        self._reader = reader
        self._writer = writer
        self._first = first

    async def read(self) -> bytes:
        """Return some bytes, b'' at the end."""
        if self._first:
            data, self._first = self._first, b""
            return data
        return await self._reader.read(CHUNK)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


async def ask(url: str, method: str, path: str, body: object = None, **query: str) -> Any:
    """Return the answer to a call, from JSON."""
    status, stream, http = await _sent(url, method, path, body, query, "close")
    data = b""
    while isinstance(event := await _next(stream, http), h11.Data):
        data += event.data
    await stream.close()
    assert status < 400, data
    return json.loads(data) if data else None


async def attach(url: str, container: str) -> Stream:
    """Return the three streams of a container."""
    query = {"stream": "1", "stdin": "1", "stdout": "1", "stderr": "1"}
    status, stream, http = await _sent(url, "POST", f"/containers/{container}/attach", None, query, "Upgrade")
    assert status == 101, status
    return Stream(stream._reader, stream._writer, http.trailing_data[0])


async def _sent(
    url: str, method: str, path: str, body: object, query: dict[str, str], connection: str
) -> tuple[int, Stream, h11.Connection]:
    reader, writer = await asyncio.open_unix_connection(url.removeprefix("unix://"), limit=BUFFER)
    stream, http = Stream(reader, writer, b""), h11.Connection(h11.CLIENT)
    data = b"" if body is None else json.dumps(body).encode()
    headers = [("Host", "engine"), ("Content-Type", "application/json"), ("Content-Length", str(len(data)))]
    headers += [("Connection", connection), *([("Upgrade", "tcp")] if connection == "Upgrade" else [])]
    request = h11.Request(method=method, target=f"{path}?{urlencode(query)}", headers=headers)
    sent = [http.send(request), http.send(h11.Data(data=data)) if data else b"", http.send(h11.EndOfMessage())]
    await stream.write(b"".join(part or b"" for part in sent))
    event: Any = await _next(stream, http)
    return event.status_code, stream, http


async def _next(stream: Stream, http: h11.Connection) -> object:
    while (event := http.next_event()) is h11.NEED_DATA:
        http.receive_data(await stream.read())
    return event
