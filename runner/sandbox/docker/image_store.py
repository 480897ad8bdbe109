"""The engine's own store of images: what is in it, and putting one in."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from runner.sandbox.container.failures import Denied
from runner.sandbox.images.store import NotLoaded
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator
    from pathlib import Path

    from runner.sandbox.docker.client import EngineClient
    from runner.sandbox.docker.sdk import Api

CHUNK = 1 << 22
STALL_SECONDS = 60.0
"""Without a byte taken. An engine that waits longer counts as hanging."""
UNPACK_SECONDS = 600.0
"""From the last byte to the engine's word that it has the image: it may have to unpack 300 MB on a slow disk."""


class Store:
    """The images of a container engine."""

    def __init__(self, client: EngineClient) -> None:
        self.client = client

    @property
    def environment(self) -> dict[str, str]:
        """Which tells Docker's own program where this engine is."""
        endpoint = self.client.endpoint
        answer = {"DOCKER_HOST": endpoint.url}
        if endpoint.certificates:
            answer["DOCKER_CERT_PATH"] = endpoint.certificates
            answer["DOCKER_TLS_VERIFY" if endpoint.verify else "DOCKER_TLS"] = "1"
        return answer

    async def found(self, tag: str) -> dict[str, Any] | None:
        """Return what the engine knows of an image, or None where it has none. Raises EngineGone."""
        try:
            answer: dict[str, Any] = await self.client.call(lambda api: api.inspect_image(tag))
        except Denied as denied:
            if denied.status == 404:
                return None
            raise
        return answer

    async def discard(self, id: str) -> None:
        """Remove an image that has no name any more; one that is in use stays. Raises EngineGone."""
        with contextlib.suppress(Denied):
            await self.client.call(lambda api: api.remove_image(id))

    async def load(self, archive: Path) -> AsyncGenerator[float]:
        """Put an image in; yields the part that the engine has taken. Raises EngineGone, NotLoaded and OSError."""
        size = archive.stat().st_size
        loop, parts = asyncio.get_running_loop(), asyncio.Queue[float | None]()

        def report(sent: int) -> None:
            with contextlib.suppress(RuntimeError):  # the loop may be gone
                loop.call_soon_threadsafe(parts.put_nowait, sent / size)

        with archive.open("rb") as content:
            loading = spawn("load an image", self.client.call(partial(_load, _Upload(content, size, report)), None))
            loading.add_done_callback(lambda _: parts.put_nowait(None))
            try:
                while (part := await parts.get()) is not None:
                    yield part
                if trouble := await loading:
                    raise NotLoaded(trouble)
            except Denied as denied:
                raise NotLoaded(denied.message) from denied
            finally:
                loading.cancel()
                await asyncio.gather(loading, return_exceptions=True)


class _Upload:
    """An open file as the body of a call, which says how much of it has been sent."""

    def __init__(self, content: BinaryIO, size: int, report: Callable[[int], None]) -> None:
        self._content = content
        self._size = size
        self._report = report
        self._sent = self._reported = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        return iter(partial(self.read, CHUNK), b"")

    def read(self, most: int = -1) -> bytes:
        if self._sent - self._reported >= CHUNK or self._sent == self._size:
            self._reported = self._sent
            self._report(self._sent)
        data = self._content.read(most)
        self._sent += len(data)
        return data


def _load(upload: _Upload, api: Api) -> str:
    """Give the engine an image; what went wrong, '' where nothing did: it answers 200 before it has unpacked it."""
    api.timeout = STALL_SECONDS, UNPACK_SECONDS  # type: ignore[assignment]
    trouble = ""
    for answer in api.load_image(upload, quiet=True):
        if isinstance(answer, dict):
            trouble = trouble or str(answer.get("error") or answer.get("message") or "")
    return trouble
