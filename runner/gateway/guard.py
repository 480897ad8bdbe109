"""The outermost layer: authentication, limits on messages, and whether the caller is still connected (spec K3)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from uvicorn.protocols.http.flow_control import CLOSE_HEADER

from runner.gateway import body, connection, origin, rejection
from runner.gateway.exchange import PATH
from runner.gateway.rejection import Rejected, too_much
from runner.gateway.revival import LONGEST, SESSION_HEADER, VERSION_HEADER, Revival, renamed
from runner.gateway.sessions import Sessions
from runner.gateway.waiting import LONGEST_HOLD, Caller
from runner.model.errors import KnownError
from runner.model.submission import SessionDoor
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from runner.gateway.body import Body
    from runner.gateway.limits import CallLimits
    from runner.identity.agents import Agent, Agents
    from runner.system.offload import Aside

CALLER = "assent.caller"
"""Key of the `Caller` in the scope of a request."""
ARGUMENTS = "assent.arguments"
"""Key of the arguments of a tool call in the scope of its request; None where the message holds them still."""
HOLD_HEADER = b"assent-hold"
"""Header with the seconds a client can wait: written into its configuration beside the timeout there."""
WORK_HEADER = b"assent-work"
"""Header by which the bridge of a program at work says whose its calls are."""
OUTPUT_HEADER = b"assent-output"
"""Header of a program that prints the output itself, such as `assent run`: `as-it-is`."""
REPLAY_HEADER = b"last-event-id"
BEARER = "bearer "
DISCOVERY = "/.well-known/"
"""Where clients look for a way to log in (RFC 8414, 9728)."""
BAD_REQUEST, NOT_FOUND = 400, 404


@dataclass(frozen=True, slots=True)
class Doorway:
    """The terms that every message is checked against."""

    hosts: frozenset[bytes]
    """Exact values of `Host`, with port: protects against DNS rebinding by a web page."""
    agents: Agents
    limits: CallLimits
    refused: Callable[[str, str], None]
    aside: Aside
    hold: float
    """Seconds to hold a call of clients that do not send `HOLD_HEADER`."""


class Guard:
    """The guard around the MCP application. `hang_up` ends the streams that only the client would end."""

    def __init__(self, app: ASGIApp, doorway: Doorway) -> None:
        self._app = app
        self._door = doorway
        self._sessions = Sessions()
        self._revival = Revival(app)
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
            agent = self._recognize(scope, headers)
            connection.recognize(scope, agent.name)
            self._admit(agent.name)
            try:
                await self._take(agent, scope, headers, receive, send)
            finally:
                self._door.limits.end(agent.name)
        except Rejected as rejected:
            if rejected.early:
                rejected.request_id = await body.id_at_hand(receive)
            if rejected.status != NOT_FOUND:
                self._door.refused(rejected.agent, rejected.text)
            await rejection.answer(send, rejected)

    async def _take(self, known: Agent, scope: Scope, headers: _Headers, receive: Receive, send: Send) -> None:
        """Read one message of `known` and have it answered. Raises Rejected."""
        agent = known.name
        scope["user"] = _user(known)
        raw = await body.read(agent, headers.only(b"content-length"), receive, self._door.limits)
        if raw is None:
            return
        named = (headers.only(SESSION_HEADER) or b"").decode("latin-1")
        session = self._revival.current(agent, named)
        opens = scope["method"] == "POST" and not session and _of_handshakes(headers)
        with self._sessions.at_work(agent, session, opens=opens):
            try:
                message = await self._split(agent, raw)
                if opens:
                    await self._make_room(agent, scope)
                if not self._door.agents.still_holds(known):  # revoked since its head was read
                    raise _unknown()
            except Rejected as rejected:
                rejected.agent = agent
                rejected.request_id = rejected.request_id or rejection.id_of(raw)
                raise
            as_it_is = headers.only(OUTPUT_HEADER) == b"as-it-is"
            caller = Caller(
                agent, self._hold(headers), len(raw), as_it_is, headers.session or named, door=_session_door(headers)
            )
            scope[CALLER], scope[ARGUMENTS] = caller, message.arguments
            line = _Line(message.around, receive, send, caller.gone, self._hung_up)
            line.named, line.request_id = named, message.request_id
            line.may_revive = (
                _may_revive(scope, headers, named)
                and self._revival.may(agent, named)
                and not self._sessions.of_another(agent, named)
            )
            try:
                await self._pass_on(scope if session == named else renamed(scope, session), line)
            finally:
                self._note_session(agent, scope["method"], session, line)
        if line.withheld:
            version = (headers.only(VERSION_HEADER) or b"").decode("latin-1")
            try:
                await self._revive(agent, scope, session, line.again(message.around), version)
            except Rejected as rejected:
                rejected.request_id = rejection.id_of(raw)
                raise

    async def _revive(self, agent: str, scope: Scope, dead: str, line: _Line, version: str) -> None:
        """Pass a message on in a new session in place of one that ended with an earlier console. Raises Rejected."""
        async with self._revival.turn(agent):
            new = self._revival.current(agent, line.named)
            if new in (dead, line.named):
                with self._sessions.at_work(agent, "", opens=True):
                    await self._make_room(agent, scope)
                    new = await self._revival.open(agent, line.named, scope, version)
                    self._sessions.opened(agent, new)
        with self._sessions.at_work(agent, new, opens=False):
            await self._pass_on(renamed(scope, new), line)

    async def _split(self, agent: str, raw: bytes) -> Body:
        """Take the arguments out of a message, in a thread where that may take long. Raises Rejected."""
        try:
            return await self._door.aside.do(agent, len(raw), lambda: body.split(raw))
        except KnownError as closing:
            raise Rejected(503, str(closing), header=CLOSE_HEADER) from None

    async def _make_room(self, agent: str, scope: Scope) -> None:
        """End the session of `agent` that is unused for longest where it has too many. Raises Rejected."""
        if seconds := self._door.limits.session(agent):
            raise too_much(agent, "Too many new sessions.", seconds)
        if old := self._sessions.superfluous(agent):
            self._sessions.ended(agent, old)
            self._revival.ended(agent, old)
            headers = [(SESSION_HEADER, old.encode("latin-1"))]
            await self._app({**scope, "method": "DELETE", "headers": headers}, _nothing, _ignore)

    def _note_session(self, agent: str, method: str, session: str, line: _Line) -> None:
        """Remember a session that was opened, forget one that ended."""
        if not session and line.session and line.status < BAD_REQUEST:
            self._sessions.opened(agent, line.session)
        elif session and (method == "DELETE" or line.status == NOT_FOUND):
            self._sessions.ended(agent, session)
            self._revival.ended(agent, session)
            if line.status < BAD_REQUEST:
                for ended in {session, line.named}:
                    self._revival.end(agent, ended)

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

    def _recognize(self, scope: Scope, headers: _Headers) -> Agent:
        """Return the agent. Raises Rejected."""
        if headers.only(b"host") not in self._door.hosts:
            raise Rejected(421, "Wrong Host header: use the exact address that Assent shows.")
        if scope["path"].startswith(DISCOVERY):
            # Else clients take the 401 below for a server that wants them to log in by a browser.
            raise Rejected(404, "There is nothing to discover: the token is in the client's configuration.")
        if headers.has(b"origin"):
            raise Rejected(403, "Calls with an Origin header are refused: Assent does not answer web pages.")
        agent = self._door.agents.recognize(_bearer(headers.only(b"authorization")))
        if agent is None:
            raise _unknown()
        return agent

    def _admit(self, agent: str) -> None:
        """Count a message of `agent`, which `CallLimits.end` ends. Raises Rejected above a limit."""
        if self._hung_up.is_set():
            text = "The console is closing. Call again when Assent is running."
            raise Rejected(503, text, agent, header=CLOSE_HEADER, early=True)
        if seconds := self._door.limits.message(agent):
            raise too_much(agent, "Too many messages at once.", seconds, early=True)
        if not self._door.limits.begin(agent):
            raise too_much(agent, "Too many of your calls are being answered already.", 1, early=True)

    def _hold(self, headers: _Headers) -> float:
        try:
            asked = float(headers.only(HOLD_HEADER) or b"")
        except ValueError:
            return self._door.hold
        return min(asked, LONGEST_HOLD) if asked > 0 else self._door.hold

    async def _pass_on(self, scope: Scope, line: _Line) -> None:
        """Have the protocol's library answer a message. Raises Rejected."""
        counted = scope["method"] == "POST"
        with self._sessions.answering(scope[CALLER].agent, line.named, line.request_id, line.ended):
            await self._answered(scope, line, counted)

    async def _answered(self, scope: Scope, line: _Line, counted: bool) -> None:
        if counted:
            self._calls += 1
            self._idle.clear()
        try:
            await self._app(_without_replay(scope), line.receive if counted else line.receive_or_hang_up, line.send)
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

    @property
    def session(self) -> str:
        """The session as the stdio bridge names it."""
        return (self.only(origin.SESSION_HEADER) or b"")[: origin.LONGEST_SESSION].decode("latin-1")


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
        self.status = 0
        self.session = ""
        """The session that the response names."""
        self.named = ""
        """The session that the message names."""
        self.request_id: str | int | None = None
        """The id of the message where it wants an answer."""
        self.may_revive = False
        """Whether a response that the session is unknown is withheld, to try again in a new one."""
        self.withheld = False

    def ended(self) -> bool:
        """Return whether the whole response was sent."""
        return self._ended

    def again(self, body: bytes) -> _Line:
        """Return the same exchange from its beginning, after its response was withheld."""
        line = _Line(body, self._receive, self._send, self._gone, self._hung_up)
        line.named, line.request_id = self.named, self.request_id
        return line

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
            self.status = message["status"]
            self.withheld = self.may_revive and self.status == NOT_FOUND
            headers = dict(message.get("headers", ()))
            self.session = headers.get(SESSION_HEADER, b"").decode("latin-1")
            if self.named and self.session not in ("", self.named):
                headers[SESSION_HEADER] = self.named.encode("latin-1")
                message = {**message, "headers": list(headers.items())}
            self._started = not self.withheld
        elif message["type"] == "http.response.body" and not message.get("more_body"):
            self._ended = not self.withheld
        if not self.withheld:
            await self._send(message)

    async def finish(self) -> None:
        """Complete a response that was cut: by `hang_up`, or by the end of its session."""
        if self._started and not self._ended:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})


def _user(agent: Agent) -> AuthenticatedUser:
    """Return `agent` as the protocol's library names whom a session belongs to: it stays its own when renamed."""
    return AuthenticatedUser(AccessToken(token="", client_id=agent.token_sha256, scopes=[]))


def _of_handshakes(headers: _Headers) -> bool:
    """Return whether the protocol's library serves the message by the rules of the handshake era."""
    version = headers.only(VERSION_HEADER)
    return version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS


def _may_revive(scope: Scope, headers: _Headers, session: str) -> bool:
    """Return whether a message is passed on in a new session where the one that it names is unknown."""
    usual = scope["method"] == "POST" and scope["path"] == PATH and _of_handshakes(headers)
    return usual and 0 < len(session) <= LONGEST


def _without_replay(scope: Scope) -> Scope:
    """Return `scope` without the wish for earlier events: none are stored, and the library would not answer at all."""
    return {**scope, "headers": [header for header in scope["headers"] if header[0] != REPLAY_HEADER]}


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(_message: Message) -> None:
    pass


def _unknown() -> Rejected:
    text = "Missing, wrong or revoked token. Add this agent in Assent's window and use the token it shows."
    return Rejected(401, text, header=(b"www-authenticate", b"Bearer"))


def _session_door(headers: _Headers) -> SessionDoor | None:
    """Return by which program at work a message came; None for any other. Raises Rejected where that is not said."""
    if not headers.has(WORK_HEADER):
        return None
    name, _, key = (headers.only(WORK_HEADER) or b"").decode("latin-1").partition(" ")
    if not (name and key):
        raise Rejected(400, "The working copy that this comes from is not named as Assent does.")
    return SessionDoor(name, key)


def _bearer(value: bytes | None) -> str:
    text = (value or b"").decode("latin-1")
    return text[len(BEARER) :].strip() if text[: len(BEARER)].lower() == BEARER else ""
