"""The body of one message: read within its limits, counted before it is parsed, its arguments taken out."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.gateway.rejection import Rejected, id_of, too_much, usable_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Receive

    from runner.gateway.limits import CallLimits

BODY_SECONDS = 10.0
"""Time for a whole body to arrive."""
FIRST_PIECE_SECONDS = 0.2
"""Time for the first piece of a refused message: clients on this machine send it with the head."""
MOST_VALUES = 50_000
"""Most values in a message, 1 MB of short ones. Parsing 1.6 million took 0.5 s in which nothing else could run."""
MOST_AROUND = 64 << 10
MOST_VALUES_AROUND = 2_000
"""Bytes and values of a message besides the arguments of its tool call; honest clients send about 1 KB, 30 values.

The protocol's library reads these on the engine's loop, several times.
"""


MUCH = "Too much data in a short time."


@dataclass(frozen=True, slots=True)
class Body:
    """A message for the protocol's library, without the arguments of its tool call, and these arguments."""

    around: bytes
    arguments: Mapping[str, object] | None = None
    request_id: str | int | None = None
    """None also where the message wants no answer."""


async def read(agent: str, declared: bytes | None, receive: Receive, limits: CallLimits) -> bytes | None:
    """Return the whole body; None where the caller disconnects.

    Raises Rejected when it is too large, too slow, or more than `agent` may send in this minute.
    """
    body, paid = bytearray(), 0
    if declared is not None:
        if not declared.isdigit() or len(declared) > 15 or int(declared) > limits.largest_message:
            raise _too_large(agent, limits, early=True)
        paid = int(declared)
        if seconds := limits.received(agent, paid):
            raise too_much(agent, MUCH, seconds, early=True)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > limits.largest_message:
                    raise _too_large(agent, limits)
                if len(body) > paid and (seconds := limits.received(agent, len(body) - paid)):
                    raise too_much(agent, MUCH, seconds)
                paid = max(paid, len(body))
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        text = f"The message did not arrive within {BODY_SECONDS:.0f} s. Send it again."
        raise Rejected(408, text, agent, request_id=id_of(bytes(body))) from None
    except Rejected as rejected:
        rejected.request_id = id_of(bytes(body))
        raise


async def id_at_hand(receive: Receive) -> str | int | None:
    """Return the id of a message of which only the first piece is read."""
    try:
        async with asyncio.timeout(FIRST_PIECE_SECONDS):
            message = await receive()
    except TimeoutError:
        return None
    return id_of(message.get("body", b""))


def split(raw: bytes) -> Body:
    """Take the arguments out of a tool call. Raises Rejected, without the agent, for what must not be parsed.

    What is no message is passed on as it is, where it is small: the protocol's library says what is wrong.
    """
    try:
        text = raw.decode("utf-8")
        _count(raw, MOST_VALUES, "The message")
        message = json.loads(text)
        if not isinstance(message, dict):
            return _unreadable(raw)
        request_id = _checked_id(message)
        arguments = _take_arguments(message)
        # Encoded again, so that the library cannot read it in another way than it was read here.
        around = json.dumps(message).encode()
    except (ValueError, RecursionError):
        return _unreadable(raw)
    if len(around) > MOST_AROUND:
        text = f"The message has {len(around) // 1024:,} KiB besides the arguments of a tool call"
        raise Rejected(413, f"{text}; at most {MOST_AROUND // 1024} are taken.", request_id=request_id)
    _count(around, MOST_VALUES_AROUND, "The message, besides the arguments of a tool call,", request_id)
    return Body(around, arguments, request_id if "method" in message else None)


def _unreadable(raw: bytes) -> Body:
    if len(raw) > MOST_AROUND:
        raise Rejected(400, "The message is not a JSON object in UTF-8, or is nested too deeply.")
    _count(raw, MOST_VALUES_AROUND, "The message")
    return Body(raw)


def _checked_id(message: dict[str, object]) -> str | int | None:
    """Return the id of a message. Raises Rejected for one that no answer could have.

    The protocol's library takes a request with such an id for a message that wants no answer.
    """
    given = message.get("id")
    request_id = usable_id(given)
    if request_id is None and isinstance(given, str | int) and not isinstance(given, bool):
        raise Rejected(400, "The id of this message is too long. Count, or use a UUID.")
    if request_id is None and "id" in message and "method" in message:
        raise Rejected(400, "The id of this message is neither text nor a whole number. Count, or use a UUID.")
    return request_id


def _take_arguments(message: dict[str, object]) -> dict[str, object] | None:
    """Remove and return the arguments of a tool call; other methods have none."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return None
    arguments = params.get("arguments")
    if not isinstance(arguments, dict):
        return None
    params["arguments"] = {}
    return arguments


def _count(raw: bytes, most: int, what: str, request_id: str | int | None = None) -> None:
    """Raise Rejected where there are more than `most` values in a JSON text, without parsing it.

    Escapes are removed first: the quotes that remain are the ends of strings, and what is outside them is structure.
    """
    if len(raw) <= most:
        return
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    values = plain.count(b'"') // 2
    if values <= 2 * most:
        outside = b"".join(plain.split(b'"')[::2])
        values = sum(map(outside.count, (b",", b"[", b"{")))
    if values > most:
        text = f"{what} has more than {most:,} values. Send large data as one text, in stdin or in a file."
        raise Rejected(413, text, request_id=request_id)


def _too_large(agent: str, limits: CallLimits, *, early: bool = False) -> Rejected:
    text = f"The message is larger than the {limits.largest_message // 1024:,} KiB that are taken. Send less code."
    return Rejected(413, text, agent, early=early)
