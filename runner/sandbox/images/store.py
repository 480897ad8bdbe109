"""The engine's own store of images: what is in it, and putting one in."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import h11

from runner.sandbox.container.client import Denied, gone, hanging

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from runner.sandbox.container.client import Client
    from runner.sandbox.container.endpoint import Line

CHUNK = 1 << 22
STALL_SECONDS = 60.0
"""Without a byte taken. An engine that waits longer counts as hanging."""
UNPACK_SECONDS = 600.0
"""From the last byte to the engine's word that it has the image: it may have to unpack 300 MB on a slow disk."""


class NotLoaded(Exception):
    """The engine did not take the image; the text is its own."""


class Store:
    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def environment(self) -> dict[str, str]:
        """Which tells Docker's own program where this engine is."""
        endpoint = self._client.endpoint
        told = {"DOCKER_HOST": endpoint.url}
        if endpoint.certificates:
            told["DOCKER_CERT_PATH"] = endpoint.certificates
            told["DOCKER_TLS_VERIFY" if endpoint.verify else "DOCKER_TLS"] = "1"
        return told

    async def found(self, tag: str) -> dict[str, Any] | None:
        """What the engine knows of an image, or None where it has none. Raises EngineGone."""
        try:
            told = await self._client.ask("GET", f"/images/{tag}/json")
        except Denied as denied:
            if denied.status == 404:
                return None
            raise
        assert isinstance(told, dict)
        return told

    async def discard(self, id: str) -> None:
        """Remove an image that has no name any more; one that is in use stays. Raises EngineGone."""
        with contextlib.suppress(Denied):
            await self._client.ask("DELETE", f"/images/{id}")

    async def load(self, archive: Path) -> AsyncGenerator[float]:
        """Put an image in; yields the part that the engine has taken. Raises EngineGone, NotLoaded and OSError."""
        size = archive.stat().st_size
        with archive.open("rb") as content:
            upload = await self._begin(size)
            try:
                sent = 0
                while chunk := await asyncio.to_thread(content.read, CHUNK):
                    await upload.send(chunk)
                    sent += len(chunk)
                    yield sent / size
                await upload.end()
            finally:
                await upload.close()

    async def _begin(self, size: int) -> _Upload:
        try:
            line = await self._client.endpoint.connect()
        except OSError as error:
            raise gone(error) from error
        upload = _Upload(line)
        await upload.begin(size)
        return upload


class _Upload:
    """One call with a long body."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._http = h11.Connection(h11.CLIENT)

    async def begin(self, size: int) -> None:
        headers = [
            ("Host", "engine"),
            ("Content-Type", "application/x-tar"),
            ("Content-Length", str(size)),
            ("Connection", "close"),
        ]
        await self._send(h11.Request(method="POST", target="/images/load?quiet=1", headers=headers))

    async def send(self, chunk: bytes) -> None:
        await self._send(h11.Data(data=chunk))

    async def end(self) -> None:
        """Wait for the engine's word."""
        await self._send(h11.EndOfMessage())
        status, told = 0, b""
        try:
            async with asyncio.timeout(UNPACK_SECONDS):
                while not isinstance(event := await self._next(), h11.EndOfMessage):
                    match event:
                        case h11.Response():
                            status = event.status_code
                        case h11.Data():
                            told += event.data
                        case h11.ConnectionClosed():
                            break
        except TimeoutError as error:
            raise hanging() from error
        except (OSError, h11.ProtocolError) as error:
            raise gone(error) from error
        if trouble := _trouble(status, told):
            raise NotLoaded(trouble)

    async def close(self) -> None:
        """What has not been sent by now is not wanted any more: an engine that hangs would never take it."""
        self._line.writer.transport.abort()
        await self._line.close()

    async def _send(self, event: Any) -> None:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                self._line.writer.write(self._http.send(event) or b"")
                await self._line.writer.drain()
        except TimeoutError as error:
            raise hanging() from error
        except OSError as error:
            raise gone(error) from error

    async def _next(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._line.reader.read(CHUNK))
        return event


def _trouble(status: int, told: bytes) -> str:
    """What went wrong, '' where nothing did: the answer is 200 before the engine has unpacked anything."""
    for line in told.decode("utf-8", "replace").splitlines():
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict) and (trouble := value.get("error") or value.get("message")):
                return str(trouble)
    return "" if status == 200 else f"it answered {status}"
