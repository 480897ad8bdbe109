"""Answers of a service that may lie: read within bounds of bytes and time, and parsed whatever they hold."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from runner.sandbox.remote.failures import rubbish, silent

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 4 << 20
"""Of one answer."""
ENDLESS = "its answer is endless"
PLAIN = {"Accept-Encoding": "identity"}
"""For every request: what is packed is larger than it says."""


def whole(host: str, answer: httpx2.Response, seconds: float) -> bytes:
    """Return all of an answer. Blocks for `seconds`, and once more for the last piece. Raises EngineGone, HTTPError."""
    raw, until = bytearray(), time.monotonic() + seconds
    for piece in answer.iter_raw():
        raw += piece
        if len(raw) > MOST_BYTES:
            raise rubbish(host, ENDLESS)
        if time.monotonic() > until:
            raise silent(host)
    return bytes(raw)


async def awaited(host: str, answer: httpx2.Response, seconds: float) -> bytes:
    """Return all of an answer, which takes at most `seconds`. Raises EngineGone, HTTPError."""
    raw = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in answer.aiter_raw():
                raw += piece
                if len(raw) > MOST_BYTES:
                    raise rubbish(host, ENDLESS)
    except TimeoutError as error:
        raise silent(host) from error
    return bytes(raw)


def parsed(raw: bytes | bytearray) -> Any:
    """Return the value that is written there as JSON. Raises ValueError."""
    try:
        return json.loads(raw)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
