"""The outermost layer: authentication, limits on messages, and whether the caller is still connected (spec K3)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from runner.gateway.waiting import LONGEST_HOLD, Caller
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from runner.gateway.limits import CallLimits
    from runner.identity.agents import Agents

CALLER = "assent.caller"
"""Key of the `Caller` in the scope of a request."""
HOLD_HEADER = b"assent-hold"
"""Header with the seconds a client can wait: written into its configuration beside the timeout there."""
BODY_SECONDS = 10.0
"""Time for a whole body to arrive."""
BEARER = "bearer "
REFUSED = -32000
"""JSON-RPC's code for errors of a server's own."""


class Rejected(Exception):
    """The message is refused by the guard. `agent` is empty where it is not known."""

    def __init__(self, status: int, text: str, agent: str = "", header: tuple[bytes, bytes] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.agent = agent
        self.header = header


@dataclass(frozen=True, slots=True)
class Doorway:
    """The terms that every message is checked against. `body_limit` is in bytes."""

    hosts: frozenset[bytes]
    """Exact values of `Host`, with port: protects against DNS rebinding by a web page."""
    agents: Agents
    limits: CallLimits
    refused: Callable[[str, str], None]
    body_limit: int
    hold: float
    """Seconds to hold a call of clients that do not send `HOLD_HEADER`."""


class Guard:
    """The guard around the MCP application. `hang_up` ends the streams that only the client would end."""

    def __init__(self, app: ASGIApp, doorway: Doorway) -> None:
        self._app = app
        self._door = doorway
        self._hung_up = asyncio.Event()
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = _Headers(scope)
            agent = self._admit(headers)
            body = await _body(agent, headers, receive, self._door.body_limit)
        except Rejected as rejected:
            self._door.refused(rejected.agent, rejected.text)
            await _answer(send, rejected)
            return
        if body is None:
            return
        caller = Caller(agent, self._hold(headers))
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=agent, scopes=[]))
        scope[CALLER] = caller
        await self._pass_on(scope, _Line(body, receive, send, caller.gone, self._hung_up))

    async def idle(self, seconds: float) -> bool:
        """Wait at most `seconds` until no call is being answered; return whether that is so."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def hang_up(self) -> None:
        """Refuse further messages and end open streams."""
        self._hung_up.set()

    def _admit(self, headers: _Headers) -> str:
        """Return the agent's name. Raises Rejected."""
        if self._hung_up.is_set():
            raise Rejected(503, "The console is closing. Call again when Assent is running.")
        if headers.only(b"host") not in self._door.hosts:
            raise Rejected(421, "Wrong Host header: use the exact address that Assent shows.")
        if headers.has(b"origin"):
            raise Rejected(403, "Calls with an Origin header are refused: Assent does not answer web pages.")
        agent = self._door.agents.recognize(_bearer(headers.only(b"authorization")))
        if agent is None:
            text = "Missing, wrong or revoked token. Add this agent in Assent's window and use the token it shows."
            raise Rejected(401, text, header=(b"www-authenticate", b"Bearer"))
        if seconds := self._door.limits.message(agent.name):
            text = f"Too many messages at once. Call again in {max(1, round(seconds))} s."
            raise Rejected(429, text, agent.name, (b"retry-after", b"1"))
        return agent.name

    def _hold(self, headers: _Headers) -> float:
        try:
            asked = float(headers.only(HOLD_HEADER) or b"")
        except ValueError:
            return self._door.hold
        return min(asked, LONGEST_HOLD) if asked > 0 else self._door.hold

    async def _pass_on(self, scope: Scope, line: _Line) -> None:
        counted = scope["method"] == "POST"
        if counted:
            self._calls += 1
            self._idle.clear()
        try:
            await self._app(scope, line.receive if counted else line.receive_or_hang_up, line.send)
            await line.finish()
        finally:
            if counted:
                self._calls -= 1
                if not self._calls:
                    self._idle.set()


class _Headers:
    """The headers of one message; a repeated header is treated as missing."""

    def __init__(self, scope: Scope) -> None:
        self._values: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            self._values.setdefault(name, []).append(value)

    def has(self, name: bytes) -> bool:
        return name in self._values

    def only(self, name: bytes) -> bytes | None:
        values = self._values.get(name, ())
        return values[0] if len(values) == 1 else None


class _Line:
    """One HTTP exchange: passes the body on, notices a disconnect, and can end a stream itself."""

    def __init__(self, body: bytes, receive: Receive, send: Send, gone: asyncio.Event, hung_up: asyncio.Event) -> None:
        self._body: bytes | None = body
        self._receive = receive
        self._send = send
        self._gone = gone
        self._hung_up = hung_up
        self._started = False
        self._ended = False

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        message = await self._receive()
        # The SDK never informs a handler of the handshake era that its client has died.
        if message["type"] == "http.disconnect" and not self._ended:
            self._gone.set()
        return message

    async def receive_or_hang_up(self) -> Message:
        """Receive for endless streams: after `hang_up` the application gets a disconnect of the client."""
        if self._body is not None:
            return await self.receive()
        message = spawn("stream", self._received())
        hung_up = spawn("stream hung up", self._hung_up.wait())
        try:
            await asyncio.wait({message, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else {"type": "http.disconnect"}
        finally:
            message.cancel()
            hung_up.cancel()

    async def _received(self) -> Message:
        return await self._receive()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
        elif message["type"] == "http.response.body" and not message.get("more_body"):
            self._ended = True
        await self._send(message)

    async def finish(self) -> None:
        """Complete a response that `hang_up` has cut."""
        if self._hung_up.is_set() and self._started and not self._ended:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


async def _body(agent: str, headers: _Headers, receive: Receive, limit: int) -> bytes | None:
    """Return the whole body; None where the caller disconnects. Raises Rejected when it is too large or too slow."""
    declared = headers.only(b"content-length") or b"0"
    if not declared.isdigit() or len(declared) > 15 or int(declared) > limit:
        raise _too_large(agent, limit)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > limit:
                    raise _too_large(agent, limit)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise Rejected(408, f"The message did not arrive within {BODY_SECONDS:.0f} s.", agent) from None


def _too_large(agent: str, limit: int) -> Rejected:
    return Rejected(413, f"The message is larger than the {limit // 1024:,} KiB that are taken. Send less code.", agent)


def _bearer(value: bytes | None) -> str:
    text = (value or b"").decode("latin-1")
    return text[len(BEARER) :].strip() if text[: len(BEARER)].lower() == BEARER else ""


async def _answer(send: Send, rejected: Rejected) -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": REFUSED, "message": rejected.text}}
    body = json.dumps(error).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if rejected.header is not None:
        headers.append(rejected.header)
    await send({"type": "http.response.start", "status": rejected.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
