"""Sessions that clients use on although the console was restarted: each gets a new one that answers to its old id.

The protocol wants a client to begin a new session on 404; most do not, and fail until they are started again. Nothing
lives in a session but its version, which is in the header of each message, too.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from typing import TYPE_CHECKING

from runner.gateway.origin import UNKNOWN
from runner.gateway.rejection import Rejected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Scope

SESSION_HEADER = b"mcp-session-id"
VERSION_HEADER = b"mcp-protocol-version"
USUAL_VERSION = "2025-03-26"
"""What a message without the header speaks (protocol, *Protocol Version Header*)."""
MOST_ENDED = 200
"""Ids of one agent that are remembered as ended by the client itself."""
LONGEST = 128
"""Characters of an id that is kept; ids of Assent have 32."""
BAD_REQUEST = 400


class Revival:
    """The new sessions by agent and old id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._new: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._ended: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """The oldest first."""
        self._turn: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Held while a session of that agent is opened: of several calls that come at once, the first opens it."""

    def may(self, agent: str, session: str) -> bool:
        """Return whether a new session may stand in for an unknown one: not where the client has ended it itself."""
        return session not in self._ended[agent]

    def end(self, agent: str, session: str) -> None:
        """Remember that the client has ended a session: from then on it is answered 404 (protocol, *Sessions*)."""
        mine = self._ended[agent]
        mine[session] = None
        if len(mine) > MOST_ENDED:
            del mine[next(iter(mine))]

    def current(self, agent: str, session: str) -> str:
        """Return the id under which the protocol's library knows a session."""
        return self._new[agent].get(session, session)

    def ended(self, agent: str, session: str) -> None:
        """Forget the old ids of a session that ended."""
        mine = self._new[agent]
        for old in [old for old, new in mine.items() if new == session]:
            del mine[old]

    def turn(self, agent: str) -> asyncio.Lock:
        return self._turn[agent]

    async def open(self, agent: str, session: str, scope: Scope, version: str) -> str:
        """Open a session for `agent` that answers to the id `session`, too; return its own. Raises Rejected."""
        first = {
            "jsonrpc": "2.0",
            "id": "revived",
            "method": "initialize",
            "params": {
                "protocolVersion": version or USUAL_VERSION,
                "capabilities": {},
                "clientInfo": {"name": UNKNOWN, "version": "0"},
            },
        }
        status, new = await self._post(scope, first, "")
        if status >= BAD_REQUEST or not new:
            raise Rejected(404, "This session is not known. Connect again.", agent)
        await self._post(scope, {"jsonrpc": "2.0", "method": "notifications/initialized"}, new)
        self._new[agent][session] = new
        return new

    async def _post(self, scope: Scope, message: Mapping[str, object], session: str) -> tuple[int, str]:
        """Return the status and the session of the answer to a message of Assent's own."""
        headers = [(b"content-type", b"application/json"), (b"accept", b"application/json, text/event-stream")]
        if session:
            headers.append((SESSION_HEADER, session.encode("latin-1")))
        body: list[Message] = [{"type": "http.request", "body": json.dumps(message).encode(), "more_body": False}]
        status, opened = 500, ""

        async def receive() -> Message:
            if not body:
                await asyncio.Event().wait()
            return body.pop()

        async def send(part: Message) -> None:
            nonlocal status, opened
            if part["type"] == "http.response.start":
                status = part["status"]
                opened = dict(part.get("headers", ())).get(SESSION_HEADER, b"").decode("latin-1")

        await self._app({**scope, "method": "POST", "headers": headers}, receive, send)
        return status, opened


def renamed(scope: Scope, session: str) -> Scope:
    """Return `scope` with another session in its headers."""
    others = [(name, value) for name, value in scope["headers"] if name != SESSION_HEADER]
    return {**scope, "headers": [*others, (SESSION_HEADER, session.encode("latin-1"))]}
