"""One agent that floods the gateway from a process of its own: what the person and another agent notice.

The floors are the same engine without it.
"""

from __future__ import annotations

import base64
import gc
import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from app.start.console import SWITCH_SECONDS
from runner.assembly import build
from runner.engine.thread import EngineThread
from runner.settings.loading import load
from runner.system.places import Places
from tests.bench import flood
from tests.bench.row import Row
from tests.doubles import HeldSandbox
from tests.gateway.stage import PRINT, Address, call, introduction, posted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.engine.engine import Engine

TIMES = 10
PAUSE = 0.3
WARM_UP = 2.0
"""Seconds until all connections of the flood are there."""


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as home:
        places, before = Places.under(Path(home)), sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        host = EngineThread(lambda: build(places, load(places, {"ASSENT_PORT": "0"}), (HeldSandbox(),)))
        host.start()
        try:
            return _measured(host)
        finally:
            host.close("the bench is over", 10)
            sys.setswitchinterval(before)
            gc.unfreeze()


def _measured(host: EngineThread) -> list[Row]:
    while not host.engine.parts.address:
        time.sleep(0.05)
    url = host.engine.parts.address
    calm, hostile = (_added(host, name) for name in ("calm", "hostile"))
    with httpx2.Client(timeout=60) as http:
        _series(host, http, calm_at := Address(url, calm))
        # As the console does once everything is loaded.
        gc.collect()
        gc.freeze()
        idle = _series(host, http, calm_at)
        with _flooding(Address(url, hostile)) as process:
            time.sleep(WARM_UP)
            busy = _series(host, http, calm_at)
            assert process.poll() is None, "the flood ended"
    names = ("Lockdown", "Stop all", "another agent's call, until it is answered")
    goals = (200, 200, 1000)
    return [
        Row(f"{name}, one agent floods (worst)", max(now), "ms", at_most=goal, note=f"idle {max(then):.1f} ms")
        for name, now, then, goal in zip(names, busy, idle, goals, strict=True)
    ]


def _added(host: EngineThread, name: str) -> str:
    return host.call(lambda engine: engine.membership.add(name)).result(30)


def command(to: Address) -> list[str]:
    """Return the command that floods `to`; `messages` are its input."""
    return [sys.executable, flood.__file__, str(to.port)]


def messages(to: Address) -> bytes:
    """One agent's worst messages: large calls, calls without end, fetches, new sessions, a wrong token, garbage."""
    many = json.dumps({"x": [[]] * 24_000})
    heavy = call({**PRINT, "context": {}}).replace(b'"context": {}', f'"context": {many}'.encode())
    long = call({**PRINT, "code": "x = 1\n" * 170_000})
    fetch = call({"id": "0" * 32, "wait": 60}, "code_result")
    sent = [
        posted(to.headers(Host=to.host), heavy),
        posted(to.headers(Host=to.host), long),
        posted(to.headers(Host=to.host), call(PRINT)),
        posted(to.headers(Host=to.host, Mcp_Name="code_result"), fetch),
        posted(to.headers(Host=to.host, MCP_Protocol_Version=None), json.dumps(introduction()).encode()),
        posted(to.headers(Host=to.host, Authorization="Bearer assent_guess"), call(PRINT)),
        b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000,
    ]
    return b"".join(base64.b64encode(message) + b"\n" for message in sent)


@contextmanager
def _flooding(to: Address) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command(to), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write(messages(to))
    process.stdin.close()
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _series(host: EngineThread, http: httpx2.Client, calm: Address) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds until Lockdown is in force, Stop all is done, and a call of another agent is answered."""
    locked, stopped, answered = [], [], []
    for _ in range(TIMES):
        locked.append(_timed(host, lambda engine: engine.modes.lock()))
        host.call(lambda engine: engine.modes.guard()).result(60)
        stopped.append(_timed(host, _stop_all))
        begun = time.perf_counter()
        content = call({}, "code_sandbox_info")
        response = http.post(calm.url, content=content, headers=calm.headers(Mcp_Name="code_sandbox_info"))
        assert response.status_code == 200, response.text
        answered.append((time.perf_counter() - begun) * 1e3)
        time.sleep(PAUSE)
    return locked, stopped, answered


def _timed(host: EngineThread, work: Any) -> float:
    begun = time.perf_counter()
    host.call(work).result(60)
    return (time.perf_counter() - begun) * 1e3


async def _stop_all(engine: Engine) -> None:
    engine.stop_all()
