"""The answer to a message that the gateway does not take: a status, a text, and the id of the request if known."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from runner.gateway.messages import OWN_ERROR

if TYPE_CHECKING:
    from starlette.types import Send

MOST_PARSED = 16 << 10
"""Bytes of a refused message that are parsed for its id; of larger ones only the beginning is searched."""
LONGEST_ID = 200
"""Characters of an id that is repeated. Clients count, or send a UUID."""
_FIRST_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*[,}]')
"""The id where it comes first, so that it is certainly the message's own."""


class Rejected(Exception):
    """The message is refused. `agent` is empty where it is not known.

    `early` means that nothing of its body has been read: its id may still be found there.
    """

    def __init__(
        self,
        status: int,
        text: str,
        agent: str = "",
        *,
        header: tuple[bytes, bytes] | None = None,
        request_id: str | int | None = None,
        early: bool = False,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.agent = agent
        self.header = header
        self.request_id = request_id
        self.early = early


def too_much(agent: str, what: str, seconds: float, *, early: bool = False) -> Rejected:
    """Return the rejection of a message above a limit on speed, with the time to wait."""
    wait = max(1, round(seconds))
    header = (b"retry-after", str(wait).encode())
    return Rejected(429, f"{what} Call again in {wait} s.", agent, header=header, early=early)


def id_of(message: bytes) -> str | int | None:
    """Return the id of a message of which at least the beginning arrived; None where it is not easily found.

    Clients that get an answer without the id wait for one with it until their time limit.
    """
    if len(message) <= MOST_PARSED:
        try:
            parsed = json.loads(message)
        except (ValueError, RecursionError):
            return None
        return usable_id(parsed.get("id")) if isinstance(parsed, dict) else None
    found = _FIRST_ID.match(message)
    return None if found is None else usable_id(json.loads(found[1]))


def usable_id(value: object) -> str | int | None:
    """Return `value` where it can be the id of a request and is short enough to be repeated."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_ID else None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None


async def answer(send: Send, rejected: Rejected) -> None:
    """Answer with a JSON-RPC error for the request, or as text where its id is not known.

    Clients take JSON for an answer to some other request, and wait on for their own (Codex: 200 s).
    """
    kind, body = b"text/plain; charset=utf-8", rejected.text.encode()
    if rejected.request_id is not None:
        error = {"jsonrpc": "2.0", "id": rejected.request_id, "error": {"code": OWN_ERROR, "message": rejected.text}}
        kind, body = b"application/json", json.dumps(error).encode()
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    if rejected.header is not None:
        headers.append(rejected.header)
    await send({"type": "http.response.start", "status": rejected.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
