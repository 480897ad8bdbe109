"""Processes in a sandbox of E2B: started, fed and followed by Connect with JSON, a stream of messages in HTTP.

A message is a byte of flags, its length in four bytes, and JSON. The one with flag 2 is the last, and says what went
wrong. Output comes in base64: {"event": {"data": {"stdout": "aGkK"}}}.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
import signal
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.remote.answers import PLAIN, awaited, parsed
from runner.sandbox.remote.client import decoded, trusted
from runner.sandbox.remote.failures import GONE, rubbish, unreachable
from runner.sandbox.remote.service import PORT
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import httpx2

START, INPUT = "/process.Process/Start", "/process.Process/SendInput"
HEAD = 5
LAST = 2
MOST_MESSAGE = 1 << 20
"""Bytes of one message; what E2B runs in a sandbox sends some 64 kB each."""
HELD_BYTES = 4 << 20
"""Of output that nobody has read yet; above it nothing more is read from the sandbox."""
PIECE = 256 << 10
"""Bytes of input that one call carries."""
CONNECT_SECONDS = 20.0
INPUT_SECONDS = 30.0
HEALTH_SECONDS = 3.0
PING_SECONDS = 20
"""Between two signs of life that a stream is asked for."""
SILENT_SECONDS = 75.0
"""Without any of them, a stream counts as cut."""
ROOT = {"Authorization": "Basic " + base64.b64encode(b"root:").decode()}
CUT = "the connection to the sandbox broke off"
SIGNALLED = re.compile(r"signal: ([a-z 0-9]{1,40})")
NAMES = {"killed": signal.SIGKILL, "terminated": signal.SIGTERM, "aborted": signal.SIGABRT}


@dataclass(frozen=True, slots=True)
class SandboxAddress:
    """Where the processes of one sandbox are started."""

    host: str
    """Of the service, in a sentence."""
    url: str
    id: str
    token: str = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        named = {"E2b-Sandbox-Id": self.id, "E2b-Sandbox-Port": str(PORT), "Connect-Protocol-Version": "1"}
        return {**named, "X-Access-Token": self.token} if self.token else named


class ProcessEnd:
    """How a process ended; may be asked on any thread."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.code: int | None = None
        self.failure: EngineGone | Denied | None = None
        """What went wrong, where nobody knows how it ended."""

    def settle(self, code: int | None, failure: EngineGone | Denied | None = None) -> None:
        """Note the end; the first one counts."""
        if not self.over.is_set():
            self.code, self.failure = code, failure
            self.over.set()


class Messages:
    """Takes a stream of messages apart, which may be cut anywhere."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, dict[str, Any]]]:
        """Return the messages that are complete, each with its flags. Raises ValueError for what is none."""
        self._data += data
        found: list[tuple[int, dict[str, Any]]] = []
        while len(self._data) >= HEAD:
            size = int.from_bytes(self._data[1:HEAD], "big")
            if size > MOST_MESSAGE:
                raise ValueError("a message is too long")
            if len(self._data) < HEAD + size:
                break
            message = parsed(self._data[HEAD : HEAD + size])
            if not isinstance(message, dict):
                raise ValueError("a message is no object")
            found.append((self._data[0], message))
            del self._data[: HEAD + size]
        return found


def enveloped(message: Mapping[str, Any]) -> bytes:
    raw = json.dumps(message).encode()
    return bytes((0,)) + len(raw).to_bytes(4, "big") + raw


class ProcessStreams:
    """The three streams of one process. Used by one task, on the loop on which they were made."""

    def __init__(
        self, ended: ProcessEnd, abandon: Callable[[SandboxAddress, int], None], *, errors: bool = True
    ) -> None:
        """Nothing is started before `start`; without `errors` what the process writes there is dropped.

        `abandon` is called with a process that nobody listens to any more, and is to end it.
        """
        self.ended_as = ended
        self.pid = 0
        self._abandon = abandon
        self._errors = errors
        self._loop = asyncio.get_running_loop()
        self._http: httpx2.AsyncClient | None = None
        self._address: SandboxAddress | None = None
        self._pieces: list[bytes] = []
        self._held = 0
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._known = asyncio.Event()
        """Set once the process has started, or never will."""
        self._writing = asyncio.Lock()
        self._over = False
        self._closed = False
        self._work: asyncio.Task[None] | None = None

    def start(self, address: SandboxAddress, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the process, as root; may be called on any thread. What fails is found when the streams are read."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._begin, address, words, environment)

    def start_now(self, address: SandboxAddress, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """The same, on the loop."""
        self._begin(address, words, environment)

    def _begin(self, address: SandboxAddress, words: Sequence[str], environment: Mapping[str, str]) -> None:
        if self._closed or self._work is not None:
            return
        self._address = address
        wanted = {"cmd": words[0], "args": list(words[1:]), "envs": dict(environment), "cwd": "/"}
        self._work = spawn("process in a sandbox", self._follow(address, {"process": wanted, "stdin": True}))

    async def read(self) -> bytes:
        """Return one frame of output, b'' at the end of both streams."""
        while not self._pieces and not self._over and not self._closed:
            self._changed.clear()
            await self._changed.wait()
        if not self._pieces:
            return b""
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        self._room.set()
        await asyncio.sleep(0)  # a stream that is always ready must let other tasks of the loop run
        return data

    async def write(self, data: bytes) -> None:
        """Send `data` to its standard input. Raises OSError."""
        async with self._writing:
            await self._known.wait()
            for at in range(0, len(data), PIECE):
                if self._closed or self._over or not self.pid:
                    raise BrokenPipeError
                text = base64.b64encode(data[at : at + PIECE]).decode()
                await self._say(INPUT, {"input": {"stdin": text}}, INPUT_SECONDS)

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more and nothing is left to read."""
        return not self._pieces and (self._over or self._closed)

    def close(self) -> None:
        """Close them and have the process ended; may be called on any thread."""
        if self._closed or self._loop.is_closed():
            return
        if _running() is self._loop:
            self._let_go()
        else:
            self._loop.call_soon_threadsafe(self._let_go)

    def _let_go(self) -> None:
        if self._closed:
            return
        self._closed = True
        for event in (self._changed, self._room, self._known):
            event.set()
        if self._work is not None:
            self._work.cancel()
            if self._address is not None and self.pid and not self.ended_as.over.is_set():
                self._abandon(self._address, self.pid)
        else:
            self.ended_as.settle(None, EngineGone("It was not started.", ""))

    async def _follow(self, address: SandboxAddress, wanted: Mapping[str, Any]) -> None:
        import httpx2

        failure: EngineGone | Denied | None = None
        times = httpx2.Timeout(CONNECT_SECONDS, read=SILENT_SECONDS)
        try:
            async with httpx2.AsyncClient(verify=trusted(), timeout=times, follow_redirects=False) as self._http:
                try:
                    await self._stream(address, wanted)
                except httpx2.HTTPError as error:
                    failure = await self._cut(address, str(error))
                except (ValueError, KeyError, TypeError, AttributeError, OverflowError, binascii.Error) as error:
                    failure = rubbish(address.host, f"the output of a process is not what it should be, {error}")
                except (EngineGone, Denied) as error:
                    failure = error
                self._ends(failure or unreachable(address.host, CUT))
                async with self._writing:
                    pass  # what ends at once may have ended before it is said that its input has arrived
        finally:
            self._ends(failure or unreachable(address.host, CUT))

    def _ends(self, failure: EngineGone | Denied) -> None:
        """Note that nothing more comes; `failure` counts where nobody has said how it ended."""
        self.ended_as.settle(None, failure)
        self._over = True
        self._changed.set()
        self._known.set()

    async def _stream(self, address: SandboxAddress, wanted: Mapping[str, Any]) -> None:
        """Raises EngineGone, Denied, HTTPError and ValueError."""
        assert self._http is not None
        messages = Messages()
        headers = {
            **address.headers,
            **ROOT,
            **PLAIN,
            "Content-Type": "application/connect+json",
            "Keepalive-Ping-Interval": str(PING_SECONDS),
        }
        async with self._http.stream("POST", address.url + START, headers=headers, content=enveloped(wanted)) as answer:
            if answer.status_code != HTTPStatus.OK:
                raw = await awaited(address.host, answer, CONNECT_SECONDS)
                raise _failed(address, answer.status_code, raw, answer.headers)
            async for data in answer.aiter_raw():
                for flags, message in messages.feed(data):
                    if flags & LAST:
                        if error := message.get("error"):
                            raise Denied(HTTPStatus.INTERNAL_SERVER_ERROR, str(error.get("message", "it failed")))
                    else:
                        await self._take(message["event"])
        if not self.ended_as.over.is_set():
            raise await self._cut(address, "")

    async def _cut(self, address: SandboxAddress, why: str) -> EngineGone:
        """Return what to say of a stream that has ended before its process: the sandbox may be gone, or the network."""
        import httpx2

        assert self._http is not None
        try:
            headers = {**address.headers, **PLAIN}
            url = f"{address.url}/health"
            # Its status says all.
            async with self._http.stream("GET", url, headers=headers, timeout=HEALTH_SECONDS) as answer:
                pass
        except httpx2.HTTPError as error:
            return unreachable(address.host, str(error) or why or CUT)
        if answer.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.BAD_GATEWAY):
            return EngineGone(f"{GONE.format(address.host)}.", "Ask again: it gets a new one.")
        return unreachable(address.host, why or CUT)

    async def _take(self, event: Mapping[str, Any]) -> None:
        if "start" in event:
            self.pid = int(event["start"]["pid"])
            self._known.set()
        elif "data" in event:
            data = event["data"]
            for number, name in ((1, "stdout"), (2, "stderr")):
                if name in data and (number == 1 or self._errors):
                    self._add(number, base64.b64decode(data[name], validate=True))
            while self._held > HELD_BYTES and not self._closed:
                self._room.clear()
                await self._room.wait()
        elif "end" in event:
            self.ended_as.settle(status(event["end"]))

    def _add(self, number: int, data: bytes) -> None:
        if data:
            self._pieces.append(bytes((number, 0, 0, 0)) + len(data).to_bytes(4, "big") + data)
            self._held += len(data)
            self._changed.set()

    async def _say(self, call: str, message: Mapping[str, Any], seconds: float) -> None:
        """Raises OSError."""
        import httpx2

        assert self._http is not None
        assert self._address is not None
        address = self._address
        headers = {**address.headers, **PLAIN, "Content-Type": "application/json"}
        content = json.dumps({"process": {"pid": self.pid}, **message}).encode()
        try:
            url = address.url + call
            async with self._http.stream("POST", url, headers=headers, content=content, timeout=seconds) as answer:
                raw = await awaited(address.host, answer, seconds)
        except (httpx2.HTTPError, EngineGone, RuntimeError) as error:  # RuntimeError: it was closed meanwhile
            raise ConnectionResetError(str(error)) from error
        if answer.status_code != HTTPStatus.OK or not raw.lstrip().startswith(b"{"):
            raise BrokenPipeError


def status(end: Mapping[str, Any]) -> int:
    """Return the exit status as a shell has it: 128 and the number of the signal where one has ended the process."""
    if end.get("exited"):
        return int(end.get("exitCode", 0)) & 0xFF
    if (found := SIGNALLED.match(str(end.get("status", "")))) and found[1] in NAMES:
        return 128 + NAMES[found[1]]
    return int(end.get("exitCode", 0)) & 0xFF or 128


def _failed(address: SandboxAddress, code: int, raw: bytes, headers: Mapping[str, str]) -> EngineGone | Denied:
    if code == HTTPStatus.BAD_GATEWAY:
        return EngineGone(f"{GONE.format(address.host)}.", "Ask again: it gets a new one.")
    try:
        decoded(address.host, code, raw, headers)
    except (EngineGone, Denied) as error:
        return error
    return rubbish(address.host, f"it answers {code} to the start of a process")


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
