"""The seam to the container engine: calls of the SDK on threads, and its attached sockets on the loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.errors import KnownError
from runner.sandbox.container.failures import Denied, EngineGone
from runner.sandbox.container.threads import Threads
from runner.sandbox.docker import client as client_module
from runner.sandbox.docker.attached import AttachedStream
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import Endpoint
from runner.system.tasks import spawn
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

VERSION = "1.41"


class StandIn:
    """An engine that answers as the test wants and remembers what it was asked."""

    def __init__(self) -> None:
        self.version = VERSION
        self.asked: list[str] = []
        self.answers: dict[str, Answer] = {}
        self.heard = asyncio.Event()
        """Something with an answer of its own was asked."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            target = head.split()[1].partition("?")[0]
            self.asked.append(target)
            own = next((answer for end, answer in self.answers.items() if target.endswith(end)), None)
            if own is not None:
                self.heard.set()
                await own(reader, writer)
            else:
                writer.write(body(200, {"ApiVersion": self.version, "target": target}))
            await writer.drain()
        writer.close()


def body(status: int, value: object) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return b"HTTP/1.1 %d x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(data)) + data


@contextlib.asynccontextmanager
async def stand_in(path: Path) -> AsyncIterator[tuple[StandIn, EngineClient]]:
    """An engine and a client of it, none of whose threads is left at the end."""
    there = StandIn()
    server = await asyncio.start_unix_server(there.serve, path)
    client = EngineClient(Endpoint(f"unix://{path}"))
    try:
        yield there, client
    finally:
        await client.close()
        server.close()
    assert not engine_threads()


@pytest.fixture(autouse=True)
def before() -> None:
    """Note the threads of engines that other tests keep for the whole session."""
    OTHERS.clear()
    OTHERS.update(threading.enumerate())


OTHERS: set[threading.Thread] = set()


def engine_threads() -> list[str]:
    found = set(threading.enumerate()) - OTHERS
    return [thread.name for thread in found if thread.name.startswith("container ")]


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Take the call and never answer it; goes on when the caller hangs up."""
    while await reader.read(65536):
        continue


@pytest.mark.asyncio
async def test_calls_run_on_named_daemon_threads_with_the_engines_own_version(tmp_path: Path) -> None:
    async with stand_in(tmp_path / "s") as (_there, client):
        names = await asyncio.gather(*(client.call(lambda _api: threading.current_thread().name) for _ in range(4)))
        assert {name.rpartition(" ")[0] for name in names} == {"container engine"}
        assert await client.call(lambda _api: threading.current_thread().daemon)
        assert (await client.call(lambda api: api.info()))["target"] == f"/v{VERSION}/info"


@pytest.mark.asyncio
async def test_an_engine_that_comes_back_with_another_version_is_asked_again(tmp_path: Path) -> None:
    async with stand_in(tmp_path / "s") as (there, client):
        await client.call(lambda api: api.info())
        there.answers["/info"] = hang_up
        with pytest.raises(EngineGone):
            await client.call(lambda api: api.info())
        del there.answers["/info"]
        there.version = "1.40"
        assert (await client.call(lambda api: api.info()))["target"] == "/v1.40/info"


async def hang_up(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Answer nothing and close."""


@pytest.mark.asyncio
async def test_a_caller_who_is_cancelled_breaks_the_call_off(tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent(reader, writer)
        gone.set()

    async with stand_in(tmp_path / "s") as (there, client):
        there.answers["/info"] = answer
        calling = spawn("call", client.call(lambda api: api.info(), 100.0))
        await there.heard.wait()
        calling.cancel()
        async with asyncio.timeout(HANGS):
            await gone.wait()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert (await client.call(lambda api: api.version()))["ApiVersion"] == VERSION


@pytest.mark.asyncio
@pytest.mark.parametrize("target", ["/info", "/attach"])
async def test_close_ends_calls_that_hang(tmp_path: Path, target: str) -> None:
    async with stand_in(tmp_path / "s") as (there, client):
        there.answers[target] = silent
        coroutine: Any = client.attach("one") if target == "/attach" else client.call(lambda api: api.info(), 100.0)
        calling = spawn("call", coroutine)
        await there.heard.wait()
        await client.close()
        assert not engine_threads()
        with pytest.raises(EngineGone):
            await calling


@pytest.mark.asyncio
@pytest.mark.parametrize("target", ["/info", "/attach"])
async def test_an_engine_that_does_not_answer_in_time_is_reported(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "CALL_SECONDS", 0.3)
    async with stand_in(tmp_path / "s") as (there, client):
        there.answers[target] = silent
        call: Any = client.attach("one") if target == "/attach" else client.call(lambda api: api.info(), 0.3)
        with pytest.raises(EngineGone, match="does not answer"):
            await call


@pytest.mark.asyncio
async def test_an_answer_in_time_counts_although_the_loop_stood_still(tmp_path: Path) -> None:
    """Seen with imports on the loop: an engine that answers in 40 ms was taken for one that hangs."""
    async with stand_in(tmp_path / "s") as (_there, client):
        await client.call(lambda api: api.info())
        calling = spawn("call", client.call(lambda _api: "here", 0.05))
        await asyncio.sleep(0)
        time.sleep(0.2)  # noqa: ASYNC251 - it is the loop that is to stand still
        assert await calling == "here"


@pytest.mark.asyncio
async def test_what_comes_with_the_head_of_the_answer_is_not_lost(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly")
        writer.write((await reader.readexactly(4))[::-1])

    async with stand_in(tmp_path / "s") as (there, client):
        there.answers["/attach"] = answer
        stream = await client.attach("one")
        assert await stream.read() == b"early"
        await stream.write(b"abcd")
        assert await stream.read() == b"dcba"
        assert await stream.read() == b""
        assert stream.ended
        stream.close()


@pytest.mark.asyncio
async def test_a_stream_that_is_opened_too_late_is_closed(tmp_path: Path) -> None:
    """The caller is cancelled while the engine's answer is on its way back from the thread."""
    gone = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        await silent(reader, writer)
        gone.set()

    async with stand_in(tmp_path / "s") as (there, client):
        there.answers["/attach"] = answer
        opened, release = threading.Event(), threading.Event()
        held = []  # or it would be closed when nothing holds it any more

        def attached(api: Any) -> Any:
            found = api.attach_socket("one", {"stream": 1})
            held.append(found)
            opened.set()
            release.wait(HANGS)
            return found

        calling = spawn("call", client.call(attached))
        await asyncio.to_thread(opened.wait, HANGS)
        (pending,) = client._calls
        release.set()
        concurrent.futures.wait([pending.result])  # the thread is done, and the loop has not heard of it
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        async with asyncio.timeout(HANGS):
            await gone.wait()
        assert held[0].connection.fileno() == -1


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("told", "message"),
    [({"message": "No such thing "}, "No such thing"), (b"<html>", "<html>"), (b"[]", "[]"), (b"", "status 404")],
)
async def test_a_refusal_is_reported_in_the_engines_words(tmp_path: Path, told: object, message: str) -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(body(404, told))

    async with stand_in(tmp_path / "s") as (there, client):
        there.answers = {"/info": answer, "/attach": answer}
        for call in (client.call(lambda api: api.info()), client.attach("one")):
            with pytest.raises(Denied) as error:
                await call
            assert (error.value.status, error.value.message) == (404, message)


@pytest.mark.asyncio
@pytest.mark.parametrize("said", [b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nnone!", b""])
async def test_what_is_no_engine_is_reported(tmp_path: Path, said: bytes) -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)

    async with stand_in(tmp_path / "s") as (there, client):
        there.answers["/info"] = answer
        with pytest.raises(EngineGone, match="not available"):
            await client.call(lambda api: api.info())


@pytest.mark.asyncio
async def test_proxies_of_the_environment_are_for_the_web(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    there = StandIn()
    server = await asyncio.start_server(there.serve, "127.0.0.1", 0)
    client = EngineClient(Endpoint(f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    assert (await client.call(lambda api: api.info()))["target"] == f"/v{VERSION}/info"
    await client.close()
    server.close()


@pytest.mark.asyncio
async def test_an_address_that_is_none() -> None:
    for url in ("ssh://", "ssh://-oProxyCommand=x", "nonsense", "tcp://far:many", "npipe:////./pipe/x"):
        client = EngineClient(Endpoint(url))
        with pytest.raises(KnownError, match=r"names no host|is no address"):
            await client.call(lambda api: api.info())
        await client.close()


# ---- attached streams ----


@contextlib.asynccontextmanager
async def pair(first: bytes = b"") -> AsyncIterator[tuple[AttachedStream, socket.socket]]:
    ours, theirs = socket.socketpair()
    stream = AttachedStream(ours, first, ours.close)
    theirs.setblocking(False)
    try:
        yield stream, theirs
    finally:
        stream.close()
        theirs.close()


@pytest.mark.asyncio
async def test_a_flood_leaves_the_loop_to_others() -> None:
    async with pair() as (stream, theirs):
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        task = spawn("other", other())
        for _ in range(50):  # always something there
            theirs.send(b"x")
            await stream.read()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert turns >= 40


@pytest.mark.asyncio
async def test_more_is_written_than_fits_at_once() -> None:
    async with pair() as (stream, theirs):
        data = os.urandom(4 << 20)
        writing = spawn("write", stream.write(data))
        got = b""
        loop = asyncio.get_running_loop()
        while len(got) < len(data):
            got += await loop.sock_recv(theirs, 1 << 20)
        await writing
        assert got == data


@pytest.mark.asyncio
async def test_closing_wakes_who_reads_and_who_writes() -> None:
    async with pair() as (stream, _theirs):
        reading = spawn("read", stream.read())
        writing = spawn("write", stream.write(bytes(4 << 20)))
        await asyncio.sleep(0)
        stream.close()
        assert await reading == b""
        with pytest.raises(ConnectionResetError):
            await writing
        assert stream.ended


@pytest.mark.asyncio
async def test_the_end_is_noticed_without_reading_and_nothing_is_lost_by_looking() -> None:
    async with pair(b"early") as (stream, theirs):
        assert not stream.ended
        assert await stream.read() == b"early"
        assert not stream.ended
        theirs.send(b"late")
        assert not stream.ended
        theirs.close()
        assert not stream.ended
        assert await stream.read() == b"late"
        assert stream.ended
        assert await stream.read() == b""


# ---- threads ----


def test_threads_are_bounded_and_end() -> None:
    threads = Threads("container test", 2)
    release, running, most = threading.Semaphore(0), [], []

    def work() -> None:
        running.append(1)
        most.append(len(running))
        release.acquire()
        running.pop()

    for _ in range(6):
        threads.submit(work)
    for _ in range(6):
        release.release()
    threads.close()
    for thread in [one for one in threading.enumerate() if one.name.startswith("container test")]:
        thread.join(HANGS)
    assert len(most) == 6 and max(most) <= 2
    assert threads.alive == 0
    done = threading.Event()
    threads.submit(done.set)  # may be used again
    assert done.wait(HANGS)
    threads.close()


def test_a_thread_that_is_stuck_does_not_hold_the_process() -> None:
    code = (
        "import threading\n"
        "from runner.sandbox.container.threads import Threads\n"
        "threads, begun = Threads('stuck', 1), threading.Event()\n"
        "threads.submit(lambda: (begun.set(), threading.Event().wait()))\n"
        "begun.wait()\n"
        "threads.close()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_where_there_is_no_engine_the_sdk_is_not_loaded(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from runner.sandbox.container.failures import EngineGone\n"
        "from runner.sandbox.docker.client import EngineClient\n"
        "from runner.sandbox.docker.endpoint import Endpoint\n"
        "client, told = EngineClient(Endpoint('unix://' + sys.argv[1])), []\n"
        "client.listeners.add(lambda: told.append(1))\n"
        "async def ask():\n"
        "    try:\n"
        "        await client.call(lambda api: api.version())\n"
        "    except EngineGone as gone:\n"
        "        print(gone.what, len(told), 'docker' in sys.modules)\n"
        "    await client.close()\n"
        "asyncio.run(ask())\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "docker.sock")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANGS, check=True)
    assert done.stdout == "Docker daemon not available. 1 False\n"
