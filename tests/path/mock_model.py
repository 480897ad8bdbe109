"""A model on loopback that agent programs can be pointed at: it makes the calls that a test wants.

`serving` is given all calls beforehand; what it makes an agent say in the end is the output of the last, so a test can
look for it there. `conversing` makes each call when the test asks for it, and gives back what the agent brought.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol

from tests.path.dialects import RUN, SEARCH, Asked, Brought, Made, Turn, dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]
Call = tuple[str, Json]
"""The end of a tool's name, and what goes to it."""

TOOL = "code_execute"
SAID = "The tool said: "
NO_TOOL = "There is no tool to run code with."
NOTHING = "Fine."
"""The reply to what agents ask besides: it offers no tools."""
OVER = "The test is over."


class Answering(Protocol):
    address: str
    """Root of all interfaces, without `/v1`."""

    def answer(self, asked: Asked) -> Turn:
        """Return the model's next turn. Called on a thread."""
        ...


@dataclass
class Model:
    """`calls` are made in turn."""

    calls: Sequence[Call]
    address: str = ""
    offered: set[str] = field(default_factory=set)
    """Names of all tools that an agent has offered."""
    answers: list[str] = field(default_factory=list)
    """What the agent has brought back from the calls, as the model read it."""

    def answer(self, asked: Asked) -> Turn:
        self.offered.update(asked.offered)
        ids = [f"{RUN}_{number}" for number in range(len(self.calls))]
        self.answers = [asked.results[id].text for id in ids if id in asked.results]
        made = len(self.answers)
        if made == len(self.calls):
            return SAID + self.answers[-1]
        return _made(asked, made, self.calls[made : made + 1]) or NO_TOOL


class Conversation:
    """Calls that a test makes one after the other, or some at once, while the agent's program runs."""

    def __init__(self) -> None:
        self.address = ""
        self.offered: set[str] = set()
        self._loop = asyncio.get_running_loop()
        self._turns: queue.SimpleQueue[Sequence[Call] | str] = queue.SimpleQueue()
        self._present: Sequence[Call] | None = None
        """Calls that wait until the agent has found their tool."""
        self._given = 0
        self._made = 0
        self._results: dict[str, asyncio.Future[Brought]] = {}

    async def call(self, tool: str, arguments: Json | None = None) -> Brought:
        """Have the agent call a tool; return what it brings back."""
        (brought,) = await self.calls((tool, arguments or {}))
        return brought

    async def calls(self, *calls: Call) -> list[Brought]:
        """The same for several at once."""
        waiting = []
        for _ in calls:
            future = self._results[f"{RUN}_{self._given}"] = self._loop.create_future()
            waiting.append(future)
            self._given += 1
        self._turns.put(calls)
        return list(await asyncio.gather(*waiting))

    def end(self, text: str = "Done.") -> None:
        """Have the agent say something, which ends its work."""
        self._turns.put(text)

    def answer(self, asked: Asked) -> Turn:
        if not asked.offered:
            return NOTHING
        self.offered.update(asked.offered)
        for id, brought in asked.results.items():
            if id in self._results:
                self._loop.call_soon_threadsafe(_settle, self._results[id], brought)
        if self._present is None:
            turn = self._turns.get()
            if isinstance(turn, str):
                if turn == OVER:
                    self._turns.put(turn)  # for whoever else asks
                return turn
            self._present = turn
        made = _made(asked, self._made, self._present)
        if made and made[0].id.startswith(SEARCH):
            return made
        calls, self._present = self._present, None
        if not made:
            for number in range(self._made, self._made + len(calls)):
                self._loop.call_soon_threadsafe(_settle, self._results[f"{RUN}_{number}"], Brought(NO_TOOL))
            return NO_TOOL
        self._made += len(calls)
        return made


def _settle(future: asyncio.Future[Brought], brought: Brought) -> None:
    if not future.done():
        future.set_result(brought)


def _made(asked: Asked, first: int, calls: Sequence[Call]) -> list[Made]:
    """Return `calls`, numbered from `first`, or a search for a tool of theirs; nothing where it cannot be had."""
    made = []
    for number, (wanted, arguments) in enumerate(calls, first):
        # A whole name first: some have `write` and `todowrite`.
        if tool := next((name for name in sorted(asked.offered, key=len) if name.endswith(wanted)), ""):
            made.append(Made(f"{RUN}_{number}", tool, arguments))
            continue
        search = f"{SEARCH}_{number}"
        if "ToolSearch" in asked.offered and search not in asked.results:
            # Claude Code shows most tools of MCP servers only to a model that looks for them.
            return [Made(search, "ToolSearch", {"query": f"+assent {wanted}", "max_results": 1})]
        return []
    return made


@contextmanager
def serving(*calls: Call) -> Iterator[Model]:
    """A model that answers for as long as the context lasts."""
    model = Model(calls)
    with _served(model):
        yield model


@contextmanager
def conversing() -> Iterator[Conversation]:
    """A model whose calls a test makes."""
    model = Conversation()
    with _served(model):
        try:
            yield model
        finally:
            model.end(OVER)


@contextmanager
def _served(model: Answering) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            spoken = dialect(self.path.split("?")[0])
            if spoken is None:
                self.send_error(404)
                return
            asked = spoken.read(message)
            body = spoken.write(model.answer(asked), asked).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(404)

        def do_HEAD(self) -> None:
            self.send_error(404)

        def log_message(self, *_words: object) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            # A program that was killed has left its request.
            if not isinstance(sys.exc_info()[1], ConnectionError):
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    model.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name="mock model")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
