"""`assent mcp`: carries MCP messages between a client's standard streams and the console's HTTP address.

Standard library only, and little of it: an agent starts this and waits for it. Messages are forwarded
unchanged, with the headers that HTTP needs, for both protocol eras. While the console is not running,
the bridge itself answers enough for the client to start, and tool calls are answered with that fact.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading

from runner.gateway import address_file, catalog
from runner.gateway.exchange import BrokenExchange, Exchange
from runner.gateway.messages import (
    HANDSHAKES,
    MODERN,
    OWN_ERROR,
    answers,
    asked_version,
    client_name,
    events,
    header_text,
    modern,
    modern_version,
    refusal_text,
    speaks_modern,
)
from runner.gateway.stdio import StdioClient
from runner.system import address_files

TYPE_CHECKING = False  # importing typing would take a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from runner.gateway.exchange import HttpResponse
    from runner.gateway.messages import Json
    from runner.system.places import Places

GOODBYE_SECONDS = 0.5
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
LEAST: Json = {"capabilities": {}, "clientInfo": {"name": "unknown", "version": "0"}}
"""The parameters of `initialize` besides the version."""
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods whose subject goes into the `Mcp-Name` header of the modern era."""

NOT_RUNNING = (
    "Assent is not running, so nobody can approve this and nothing was run. "
    "Start it with the command `{}`, then call again."
)
FOREIGN = (
    "Assent is not running and its port is taken by another account of this machine, so nothing was sent there "
    "and nothing was run. Start Assent; it will say what has its port."
)
NO_TOKEN = (
    "This agent has no token: the variable ASSENT_TOKEN is not set for `assent mcp`. Nothing was run. "
    "Add the agent in Assent's window and copy the configuration it shows."
)
LOST = (
    "The connection to Assent broke before the answer came. It is not known here whether the code ran: "
    "look at the history in Assent before you call again."
)


def not_running() -> str:
    """Return the words for no console: a checkout's `assent` is not on the PATH, so it is named in full."""
    from runner.gateway.own_command import own_command  # its modules would delay every start

    return NOT_RUNNING.format(own_command())


class Unreachable(Exception):
    """The console cannot be reached; the text is for the agent."""


class NotRunning(Unreachable):
    """No console is there. What the text takes to be made is not needed for most answers without one."""

    def __str__(self) -> str:
        return not_running()


def _nothing() -> None:
    """Nobody counts what is under way."""


class StdioBridge:
    """The bridge between two streams and one address. `wait` is the client's time limit in seconds, as text.

    `further` are headers to be sent with every message.
    """

    def __init__(
        self, places: Places | None, token: str, wait: str, client: StdioClient, further: dict[str, str] | None = None
    ) -> None:
        """`places` is None for the standard ones, whose class is then not loaded to find the console."""
        self._places = places
        self._files = address_files.standard() if places is None else places.known_doors
        self._token = token
        self._wait = wait
        self._client = client
        self._further = further or {}
        self._lines: dict[str, Exchange] = {}
        self._lock = threading.Lock()
        self._session = ""
        self._version = ""
        self._introduction: Json | None = None
        """The client's own `initialize`, to be repeated to a console that started later."""
        self._session_lock = threading.Lock()

    # ---- from the client ----

    def run(self, lines: BinaryIO) -> None:
        """Forward messages until the client closes its stream."""
        for line in lines:
            if line.strip():
                self._take(line)
        self.leave()

    def leave(self) -> None:
        """Tell the console that the client has disconnected, so that its requests are withdrawn."""
        with self._lock:
            lines = list(self._lines.values())
        for line in lines:
            line.cut()
        if self._session:
            try:
                host, port = self._address()
                with contextlib.closing(Exchange(host, port)) as goodbye:
                    goodbye.open("DELETE", b"", self._headers({}), GOODBYE_SECONDS)
            except (OSError, Unreachable):
                pass

    def _take(self, line: bytes, done: Callable[[], object] = _nothing) -> None:
        """Forward a message. `done` is called when it needs no memory any more."""
        with contextlib.ExitStack() as at_end:
            at_end.callback(done)
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                self._client.error(None, PARSE_ERROR, "This line is not JSON.")
                return
            self._forward(message, at_end)

    def _forward(self, message: object, at_end: contextlib.ExitStack) -> None:
        if not isinstance(message, dict):
            self._client.error(None, INVALID_REQUEST, "Send one JSON object a line; batches are not taken.")
        elif not message.keys() & {"method", "result", "error"}:
            self._client.error(message.get("id"), INVALID_REQUEST, "This message has no method.")
        elif message.get("method") == "notifications/cancelled":
            self._cancel(message)
        elif message.get("method") == "initialize" or "id" not in message:
            # In order, since nothing may overtake the handshake.
            self.carry(message)
        else:
            later = at_end.pop_all()
            try:
                threading.Thread(target=self._carry_apart, args=(message, later), daemon=True).start()
            except RuntimeError:  # this account has no room for one more
                self._carry_apart(message, later)

    def _carry_apart(self, message: Json, at_end: contextlib.ExitStack) -> None:
        with at_end:
            self.carry(message)

    def _cancel(self, message: Json) -> None:
        params = message.get("params")
        key = json.dumps(params.get("requestId") if isinstance(params, dict) else None)
        with self._lock:
            line = self._lines.get(key)
        if line is not None:
            line.cut_off = True
        if self._session:
            self.carry(message)
        if line is not None:
            # In the modern era closing the stream is how one cancels.
            line.cut()

    # ---- to the console ----

    def carry(self, message: Json) -> None:
        try:
            if message.get("method") == "initialize":
                self._introduction = message
                self._session = ""
            elif not speaks_modern(message) and self._introduction is not None and not self._session:
                self._introduce()
            self._exchange(message, again=True)
        except Unreachable as why:
            self._answer_alone(message, why)
        except OSError:
            self._client.fail(message, LOST)
        except Exception as error:
            # A bug, in a thread that no one awaits: the client must not wait for ever.
            sys.stderr.write(f"assent mcp: {error!r}\n")
            self._client.fail(message, LOST)

    def _exchange(self, message: Json, *, again: bool) -> None:
        """Send one message and forward its responses. Raises Unreachable before, OSError after it was sent."""
        host, port = self._address()
        line, key = Exchange(host, port), json.dumps(message.get("id"))
        if "id" in message:
            with self._lock:
                self._lines[key] = line
        try:
            response = self._opened(line, message)
            if response.status == 404 and again and not speaks_modern(message) and self._introduction is not None:
                # The console was restarted since and does not know this session.
                self._session = ""
                self._introduce()
                self._exchange(message, again=False)
                return
            self._hand_back(message, response)
        except (OSError, ValueError):
            # A connection that the bridge closed fails in various ways; no one waits for its answer.
            if not line.cut_off:
                raise
        finally:
            with self._lock:
                if self._lines.get(key) is line:
                    del self._lines[key]
            line.close()

    def _opened(self, line: Exchange, message: Json) -> HttpResponse:
        try:
            return line.open("POST", json.dumps(message).encode(), self._headers(message))
        except ConnectionRefusedError:
            raise NotRunning from None

    def _hand_back(self, message: Json, response: HttpResponse) -> None:
        if session := response.getheader("mcp-session-id"):
            self._session = session
        kind = response.getheader("content-type").split(";")[0]
        if kind == "text/event-stream":
            answered = False
            for data in events(response):
                answered = answers(data, message) or answered
                self._note(message, data)
                self._client.send(data)
            if not answered:
                raise BrokenExchange("there was no answer")
            return
        text = response.read().decode("utf-8", "replace")
        if response.status == 200 and kind == "application/json":
            if not answers(text, message):
                raise BrokenExchange("there was no answer")
            self._note(message, text)
            self._client.send(text)
        elif response.status != 202:
            self._refused(message, text)

    def _refused(self, message: Json, text: str) -> None:
        """Answer the client with the text of an HTTP error of the console."""
        try:
            body = json.loads(text)
            error = body["error"]
            if body.get("id") is not None and error["code"] != OWN_ERROR:
                self._client.send(json.dumps(body))
                return
        except (ValueError, KeyError, TypeError):
            pass
        self._client.fail(message, refusal_text(text))

    def _introduce(self) -> None:
        """Open a session of the handshake era on the client's behalf. Raises Unreachable, OSError."""
        with self._session_lock:
            if self._session or self._introduction is None:
                return
            host, port = self._address()
            # What the client left out was answered by `_greet`, or the console refused it.
            version = asked_version(self._introduction) or self._version or HANDSHAKES[-1]
            params = self._introduction.get("params")
            complete = {**LEAST, **(params if isinstance(params, dict) else {}), "protocolVersion": version}
            for message in (
                {**self._introduction, "id": "assent-bridge", "params": complete},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
            ):
                line = Exchange(host, port)
                try:
                    response = self._opened(line, message)
                    text = response.read().decode("utf-8", "replace")
                    if response.status not in (200, 202):
                        raise Unreachable(refusal_text(text))
                    self._session = response.getheader("mcp-session-id") or self._session
                finally:
                    line.close()
            self._version = self._version or version

    def _address(self) -> tuple[str, int]:
        """Return host and port of the console. Raises Unreachable with a text for the agent."""
        known = address_file.first(self._files)
        if known is None:
            raise NotRunning
        if address_file.foreign(known.port):
            raise Unreachable(FOREIGN)
        if not self._token:
            raise Unreachable(NO_TOKEN)
        return known.host, known.port

    def _headers(self, message: Json) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self._token}",
            **self._further,
        }
        if self._wait:
            headers["Assent-Hold"] = self._wait
        method = str(message.get("method", ""))
        if version := modern_version(message):
            headers["MCP-Protocol-Version"] = version
            headers["Mcp-Method"] = header_text(method)
            if (named := NAMED.get(method)) and named in message["params"]:
                headers["Mcp-Name"] = header_text(str(message["params"][named]))
        elif method != "initialize":
            if self._version:
                headers["MCP-Protocol-Version"] = self._version
            if self._session:
                headers["Mcp-Session-Id"] = self._session
        return headers

    def _note(self, message: Json, text: str) -> None:
        """Remember the version the console chose in the handshake."""
        if message.get("method") == "initialize":
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._version = str(json.loads(text)["result"]["protocolVersion"])

    # ---- while no console is running ----

    def _answer_alone(self, message: Json, why: Unreachable) -> None:
        """Answer what a client needs to start; answer everything else with an error that says why."""
        alone: dict[str, Callable[[Json], Json]] = {
            "initialize": self._greet,
            "ping": lambda _request: {},
            "tools/list": self._listed,
            "server/discover": lambda _request: {
                "supportedVersions": [MODERN],
                "capabilities": {"tools": {}},
                "instructions": catalog.INSTRUCTIONS,
            },
        }
        if "id" in message and (answer := alone.get(str(message.get("method")))) is not None:
            self._client.result(message, {**answer(message), **modern(message)})
        else:
            self._client.fail(message, str(why))

    def _listed(self, request: Json) -> Json:
        name = client_name(request if speaks_modern(request) else self._introduction)
        return {"tools": catalog.offered(name, languages=self._languages())}

    def _languages(self) -> tuple[str, ...]:
        """Return those that the settings have; the console says the same once it is open."""
        from runner.settings.loading import load
        from runner.settings.package_languages import with_languages
        from runner.system.places import Places

        return with_languages(load(self._places or Places.standard(), os.environ)).settings.languages

    def _greet(self, request: Json) -> Json:
        asked = asked_version(request)
        self._version = asked if asked in HANDSHAKES else HANDSHAKES[-1]
        return {
            "protocolVersion": self._version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": catalog.SERVER_NAME, "title": catalog.SERVER_TITLE, "version": "0"},
            "instructions": catalog.INSTRUCTIONS,
        }


def main(argv: list[str]) -> int:
    """Run until standard input ends. Takes no arguments; reads ASSENT_TOKEN and ASSENT_HOLD."""
    if argv:
        sys.stderr.write("assent mcp takes no arguments. An MCP client starts it and speaks to it on stdin.\n")
        return 0 if argv in (["-h"], ["--help"]) else 2
    environment = os.environ
    client = StdioClient(sys.stdout.buffer)
    token, wait = environment.get("ASSENT_TOKEN", ""), environment.get("ASSENT_HOLD", "")
    # Tells this client from others with the same token, also in the era without sessions. A hook, which is started
    # for each question, sends none: it would count as many.
    bridge = StdioBridge(None, token, wait, client, {"Assent-Session": os.urandom(8).hex()})
    try:
        bridge.run(sys.stdin.buffer)
    except (BrokenPipeError, KeyboardInterrupt):
        bridge.leave()
    # Not sys.exit: threads that still wait for an answer must not keep the process alive.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
