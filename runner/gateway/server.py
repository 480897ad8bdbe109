"""The MCP server on 127.0.0.1: opens the port, serves both protocol eras, and answers every call before it closes.

Imports the SDK (half a second, some 60 MB), so it is imported in the engine's thread once the window is there.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import os
import resource
import socket
import time
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ImageContent, ListToolsResult, TextContent, Tool

from runner.gateway import address_file, catalog, origin, sessions
from runner.gateway.acceptor import Acceptor
from runner.gateway.connection import IDLE_SECONDS
from runner.gateway.guard import ARGUMENTS, CALLER, Doorway, Guard
from runner.gateway.limits import CallLimits, Terms
from runner.gateway.tools import Tools, UnknownTool
from runner.gateway.waiting import Waiting
from runner.model.errors import KnownError
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams, ContentBlock, Implementation, PaginatedRequestParams

    from runner.gateway.replies import Reply
    from runner.gateway.tools import Counter
    from runner.gateway.waiting import Caller
    from runner.identity.agents import Agents
    from runner.system.offload import Aside
    from runner.system.places import Places

DETAILS = "assent/request"
"""Key in `_meta` of a result under which a program finds more of the request than the model gets."""
ESCAPES_ERRORS = ("gemini-cli-mcp-client", "qwen-cli-mcp-client")
"""How the names of clients begin that hand their model a whole result with `isError`, as escaped JSON."""
HOST = "127.0.0.1"
PATH = "/mcp"
MOST_CONNECTIONS = 512
"""Open connections of all agents, or half of the files that this process may open: the rest is for everything else."""
ANSWER_SECONDS = 0.5
"""Time for waiting calls to get their last answer; the whole shutdown has 2 s."""
STOP_SECONDS = 1.0
GRACE_SECONDS = 1
"""Whole seconds that uvicorn leaves its tasks."""


class GatewayTerms(Terms, Protocol):
    """The settings the gateway reads."""

    @property
    def port(self) -> int:
        """0 takes any free port."""
        ...

    @property
    def hold_seconds(self) -> float: ...
    @property
    def max_output_kb(self) -> int: ...


class Gateway:
    """The gateway, opened and closed once, on the engine's loop."""

    def __init__(
        self,
        counter: Counter,
        agents: Agents,
        settings: GatewayTerms,
        places: Places,
        aside: Aside,
        languages: Callable[[], Sequence[str]] = lambda: catalog.LANGUAGES,
    ) -> None:
        """`languages` returns those that may run at present."""
        self._languages = languages
        self._counter = counter
        self._agents = agents
        self._settings = settings
        self._places = places
        self._waiting = Waiting()
        self._limits = CallLimits(settings, counter.waiting, agents.allowance)
        self._aside = aside
        self._tools = Tools(counter, self._limits, self._waiting, self._aside, settings.max_output_kb)
        self._guard: Guard | None = None
        self._acceptor: Acceptor | None = None
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.address = ""
        """URL of the MCP endpoint; empty while closed."""
        self.moved = ""
        """Why the port is another than the settings say, in a sentence; empty where it is that one."""

    async def open(self) -> str:
        """Open the port, serve, and return the address. Parts that are open already stay so.

        Raises KnownError where the port cannot be opened, or where the address cannot be written for the stdio
        bridge: then agents with HTTP are served all the same, and another attempt only writes.
        """
        if not self.address:
            self.address = f"http://{HOST}:{await self._serve()}{PATH}"
        self._announce()
        return self.address

    async def _serve(self) -> int:
        """Serve, and return the port. `close` ends it, also where this was cancelled half-way."""
        listener = self._listen()
        try:
            return await self._serve_on(listener)
        except BaseException:
            if self._acceptor is None:  # which closes it otherwise
                listener.close()
            raise

    async def _serve_on(self, listener: socket.socket) -> int:
        port = int(listener.getsockname()[1])
        self._guard = Guard(self._application(), self._doorway(port))
        self._server = _Server(_config(self._guard))
        self._serving = spawn("gateway", self._server.serve(sockets=[]))
        while not self._server.started:
            if self._serving.done():
                self._server = None
                await self._serving
                raise AssertionError("the server ended before it started")
            await asyncio.sleep(0.005)
        self._acceptor = Acceptor(listener, self._server, _most_connections())
        self._acceptor.start()
        return port

    def _listen(self) -> socket.socket:
        """Return a listener at the usual port, else at any that is free. Raises KnownError."""
        port = self._settings.port
        try:
            return _bound(port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                what = f"Assent cannot listen on {HOST}:{port}: {error.strerror}."
                raise KnownError(what, "Choose another port in Settings, then start Assent again.") from error
        # Kept until the end, also where the usual one becomes free: agents that are connected stay so.
        who = _holder(port, self._places)
        listener = _bound(0)
        self.moved = f"Port {port} is taken by {who}, so agents reach Assent at port {listener.getsockname()[1]}."
        return listener

    def _announce(self) -> None:
        port = int(self.address.removesuffix(PATH).rpartition(":")[2])
        try:
            address_file.write(self._places, address_file.ConsoleAddress(HOST, port, os.getpid(), time.time()))
        except OSError as error:
            what = f"The address could not be written to {self._places.door}: {error.strerror}."
            fix = "Agents with the stdio bridge cannot find Assent. Make that possible, then start Assent again."
            raise KnownError(what, fix) from error

    async def close(self, why: str) -> None:
        """Answer every waiting call, then stop; within about a second and a half, usually far less."""
        if self._server is None or self._guard is None or self._serving is None:
            return
        server, self._server = self._server, None
        self.address = ""
        address_file.remove(self._places, os.getpid())
        self._waiting.close(why)
        await self._guard.idle(ANSWER_SECONDS)
        self._guard.hang_up()
        if self._acceptor is not None:
            self._acceptor.stop()
        server.end()
        done, _ = await asyncio.wait({self._serving}, timeout=STOP_SECONDS)
        if not done:
            server.force_exit = True
            if self._acceptor is not None:
                self._acceptor.connections.abort()
            await asyncio.wait({self._serving}, timeout=STOP_SECONDS)

    async def _list_tools(
        self, context: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        info = _introduced(context)
        at_work = context.request is not None and context.request.scope[CALLER].door is not None
        tools = catalog.offered("" if info is None else info.name, at_work=at_work, languages=self._languages())
        return ListToolsResult(tools=[Tool.model_validate(tool) for tool in tools])

    def _doorway(self, port: int) -> Doorway:
        return Doorway(
            hosts=frozenset({f"{HOST}:{port}".encode(), f"localhost:{port}".encode()}),
            agents=self._agents,
            limits=self._limits,
            refused=self._counter.refused,
            aside=self._aside,
            hold=self._settings.hold_seconds,
        )

    def _application(self) -> Any:
        # The low-level server, not MCPServer: it hands over the arguments as they came, so that unknown
        # ones and wrong types can be refused; MCPServer drops the former and converts the latter.
        server: Server[Any] = Server(
            catalog.SERVER_NAME,
            version=_version(),
            title=catalog.SERVER_TITLE,
            instructions=catalog.INSTRUCTIONS,
            # Spares the SDK a walk through tools/list before every call.
            get_tool_input_schema=catalog.SCHEMAS.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call,
        )
        return server.streamable_http_app(
            streamable_http_path=PATH,
            # Not JSON: in that mode a disconnect of the caller goes unnoticed.
            json_response=False,
            max_request_body_size=1 << 40,
            max_sessions=sessions.MOST,
            # The guard is stricter; the SDK's own check would let pages of localhost in.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    async def _call(self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        assert context.request is not None
        info = _introduced(context)
        caller: Caller = replace(context.request.scope[CALLER], program=origin.program(info))
        given = context.request.scope[ARGUMENTS]

        async def report(waited: float, most: float, message: str) -> None:
            # The stream may have been closed by a caller that went away in this very moment.
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await context.session.report_progress(round(waited, 1), round(most, 1), message)

        try:
            reply = await self._tools.call(params.name, params.arguments if given is None else given, caller, report)
        except UnknownTool as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        return _result(reply, text_alone=info is not None and info.name.startswith(ESCAPES_ERRORS))


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, as the console has its own shutdown, and asleep while nothing happens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._end = asyncio.Event()

    def end(self) -> None:
        self.should_exit = True
        self._end.set()

    async def main_loop(self) -> None:
        """Wait for the end: uvicorn would wake up ten times a second, to renew a date header that is not sent."""
        await self.on_tick(0)
        await self._end.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def _introduced(context: ServerRequestContext[Any, Any]) -> Implementation | None:
    """Return what a client says that it is."""
    introduced = context.session.client_params
    return None if introduced is None else introduced.client_info


def _result(reply: Reply, *, text_alone: bool = False) -> CallToolResult:
    """Return a reply in the protocol's form: both text and data, as Gemini reads the one and Claude Code the other.

    With `text_alone` an error has nothing but its text: the client hands its model the whole of it.
    """
    text_alone = text_alone and reply.is_error
    content: list[ContentBlock] = [TextContent(type="text", text=reply.text)]
    for picture in reply.pictures:
        data = base64.b64encode(picture.data).decode("ascii")
        content.append(ImageContent(type="image", data=data, mime_type=picture.kind))
    result = CallToolResult(
        content=content,
        # Clients that show the model the data do not show it the pictures beside them.
        structured_content=None if reply.pictures or text_alone else reply.data or None,
        is_error=reply.is_error,
    )
    if reply.details and not text_alone:
        result.meta = {DETAILS: reply.details}
    return result


def _most_connections() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, files // 2)


def _config(app: Guard) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def _bound(port: int) -> socket.socket:
    """Return a socket that listens on `port`, on any free one for 0. Raises OSError."""
    # IPPROTO_TCP: asyncio only turns Nagle's algorithm off where the socket says so itself; with 0 a call takes 45 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(1024)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _holder(port: int, places: Places) -> str:
    """Return who has a port, in words. Raises KnownError where it is an Assent with these very folders."""
    known = address_file.running(places)
    if known is not None and known.port == port:
        raise KnownError(
            f"Port {port} is taken by another Assent (process {known.pid}).",
            "Use that window, or quit it and start Assent again.",
        )
    return address_file.named(port)


def _version() -> str:
    try:
        return metadata.version("assent")
    except metadata.PackageNotFoundError:
        return "0"
