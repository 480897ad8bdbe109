"""Runs with a network: until the gate is ready, a small exchange, one stream, and what these cost other loops."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import tempfile
import threading
import time
import urllib.request
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from runner.model.network import Destination
from runner.model.request import Isolation, Language, Limits, NetworkMode
from runner.network.gate import Gate
from runner.network.loop import NetworkLoop
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container import exec as processes
from runner.sandbox.container.relay import ContainerRelay
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.networked import bundle
from runner.system.tasks import spawn
from tests import container_engine as engine
from tests.bench import by_hand, raw_api
from tests.bench.row import Row, attempt, percentile
from tests.contract.web import served

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from runner.sandbox.container.session import ContainerSession
    from runner.sandbox.docker.client import EngineClient

ROUNDS = 7
EXCHANGES = 60
STREAM_BYTES = 256 << 20
GOALS = {"local": 200.0, Isolation.DOCKER: 60.0, Isolation.GVISOR: 30.0}
"""MB/s of one stream."""
LAG_SECONDS = 0.005
LIMITS = Limits(seconds=120.0, memory_mb=512, cpu_cores=2.0)
"""More than half a processor: with that, gVisor is made to wait for its next share, up to 50 ms, at one moment or
another, and a row measured where in a share it was begun and not what the gate costs."""
CODE = """
import json, os, socket, time, urllib.request
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"}))
times = []
for _ in range(EXCHANGES):
    begun = time.perf_counter()
    with opener.open("http://localhost:WEB/") as answer:
        answer.read()
    times.append((time.perf_counter() - begun) * 1e3)
with socket.create_connection(("127.0.0.1", 3128)) as one:
    one.sendall(b"CONNECT localhost:STREAM HTTP/1.1\\r\\nHost: localhost:STREAM\\r\\n\\r\\n")
    while not one.recv(4096).endswith(b"\\r\\n\\r\\n"): pass
    one.sendall(b"go")
    begun, size, room = time.perf_counter(), 0, bytearray(1 << 18)
    while more := one.recv_into(room): size += more
    seconds = time.perf_counter() - begun
print(json.dumps([sorted(times)[len(times) // 2], size, size / 1e6 / seconds]))
"""


DIRECT = """
import sys, time, urllib.request
times = []
for _ in range(EXCHANGES):
    begun = time.perf_counter()
    with urllib.request.urlopen(sys.argv[1]) as answer:
        answer.read()
    times.append((time.perf_counter() - begun) * 1e3)
print(sorted(times)[len(times) // 2])
""".replace("EXCHANGES", str(EXCHANGES))
RUNTIMES = {Isolation.DOCKER: "runc", Isolation.GVISOR: "runsc-net"}
"""With a network that needs no gate; gVisor's hands on what the container's own namespace has."""
BRIDGE = "assent-bench"


def rows() -> Iterator[Row]:
    with served(None) as web, _pouring() as stream:
        direct = _direct(web)
        yield from attempt("network, local", partial(_measured, "local", web, stream, direct))
        client = engine.client()
        for kind, runtime in RUNTIMES.items():
            inside = asyncio.run(_direct_in_container(kind, runtime, client))
            yield from attempt(f"network, {kind}", partial(_measured, kind, web, stream, inside, client))
            yield from attempt(f"network, {kind}, ready", partial(_ready, kind, client))


async def _direct_in_container(kind: Isolation, runtime: str, client: EngineClient) -> float:
    """Return the milliseconds of the same exchange from a container of `kind` that has a network, without a gate."""
    url = client.endpoint.url
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    image = (await by_hand.shape(sandbox, Language.PYTHON, LIMITS)).image
    await sandbox.close()
    network = (await raw_api.ask(url, "POST", "/networks/create", {"Name": BRIDGE, "Driver": "bridge"}))["Id"]
    try:
        host = (await raw_api.ask(url, "GET", f"/networks/{network}"))["IPAM"]["Config"][0]["Gateway"]
        with served(None, host) as web:
            made = {
                "Image": image, "Tty": True, "Entrypoint": ["python3", "-c", DIRECT], "Cmd": [f"http://{host}:{web}/"],
                "HostConfig": {"Runtime": runtime, "NetworkMode": BRIDGE},
            }  # fmt: skip
            container = (await raw_api.ask(url, "POST", "/containers/create", made))["Id"]
            try:
                stream = await raw_api.attach(url, container)
                await raw_api.ask(url, "POST", f"/containers/{container}/start")
                said = b""
                while data := await stream.read():
                    said += data
                await stream.close()
            finally:
                await raw_api.ask(url, "DELETE", f"/containers/{container}", force="1", v="1")
    finally:
        await raw_api.ask(url, "DELETE", f"/networks/{network}")
    return float(said)


def _measured(kind: str, web: int, stream: int, direct: float, client: EngineClient | None = None) -> list[Row]:
    return asyncio.run(_in_sandbox(kind, web, stream, direct, client))


async def _in_sandbox(kind: str, web: int, stream: int, direct: float, client: EngineClient | None) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        sandbox = (
            LocalSandbox(Path(folder)) if client is None else ContainerSandbox(Isolation(kind), OWN_IMAGES, client)
        )
        allowed = [Destination("localhost", web), Destination("localhost", stream)]
        gate = Gate(allowed, private=allowed)
        code = CODE
        for name, value in (("EXCHANGES", EXCHANGES), ("WEB", web), ("STREAM", stream)):
            code = code.replace(name, str(value))
        idle = await _lag(asyncio.sleep(1.0))
        job = Job("bench", Language.PYTHON, code, LIMITS, network=NetworkMode.DOMAINS, gate=gate)
        run = await sandbox.start(job, lambda _usage: None)
        busy = await _lag(run.finished())
        result = await run.finished()
        gate.close()
        await sandbox.close()
    assert result.stdout, result
    exchange, size, speed = json.loads(result.stdout)
    assert size == STREAM_BYTES, size
    where = "from here" if client is None else "from a container of this kind with a network"
    note = f"through the gate {exchange:.2f} ms, direct {direct:.2f} ms {where}"
    return [
        Row(f"{kind}, small exchange through the gate, more than direct (p50)", exchange - direct, "ms", at_most=5.0,
            note=note),
        Row(f"{kind}, one stream through the gate", speed, "MB/s", at_least=GOALS[kind]),
        Row(f"{kind}, lag of another loop meanwhile (p95)", busy, "ms", note=f"idle {idle:.2f} ms"),
    ]  # fmt: skip


def _direct(web: int) -> float:
    times = []
    for _ in range(EXCHANGES):
        begun = time.perf_counter()
        with urllib.request.urlopen(f"http://localhost:{web}/") as answer:
            answer.read()
        times.append((time.perf_counter() - begun) * 1e3)
    return median(times)


async def _lag(work: Coroutine[Any, Any, object]) -> float:
    """Milliseconds by which a timer of this loop comes late at the 95th percentile, while `work` is awaited."""
    waiting = spawn("measured work", work)
    late = []
    while not waiting.done():
        begun = time.perf_counter()
        await asyncio.sleep(LAG_SECONDS)
        late.append((time.perf_counter() - begun - LAG_SECONDS) * 1e3)
    return percentile(late, 0.95)


def _ready(kind: Isolation, client: EngineClient) -> list[Row]:
    return asyncio.run(_in_container(kind, client))


async def _in_container(kind: Isolation, client: EngineClient) -> list[Row]:
    network = NetworkLoop()
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    session = await sandbox.open(Language.PYTHON, LIMITS, "")
    execs, readies = [], []
    try:
        for _ in range(ROUNDS):
            execs.append(await _exec(client, session))
            begun = time.perf_counter()
            relay = ContainerRelay(client, session.id, Gate([]), network)
            await relay.open(bundle())
            readies.append((time.perf_counter() - begun) * 1e3)
            await relay.close()
            # While the engine still clears the relay away, the next one would be measured with that.
            await _exec(client, session)
    finally:
        await session.close()
        await sandbox.close()
        await asyncio.to_thread(network.close)
    return [
        Row(f"{kind}, gate ready, against an exec of the same interpreter", median(readies), "ms", median(execs),
            at_most=1.3)
    ]  # fmt: skip


async def _exec(client: EngineClient, session: ContainerSession) -> float:
    """Return the milliseconds from the start of an interpreter in the container to its word, once it has ended."""
    words = ["/usr/lib/assent/python3", "-I", "-S", "-c", "import os; os.write(1, b'on')"]
    begun = time.perf_counter()
    started = await processes.start(client, session.id, words)
    assert await started.attached.read()
    took = (time.perf_counter() - begun) * 1e3
    while await started.attached.read():
        pass
    started.attached.close()
    return took


@contextlib.contextmanager
def _pouring() -> Iterator[int]:
    """A host that sends so many bytes to whoever says something."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    if connection.recv(2):
                        connection.sendall(bytes(STREAM_BYTES))

        threading.Thread(target=serve, daemon=True).start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
