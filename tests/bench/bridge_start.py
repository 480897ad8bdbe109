"""`assent mcp` from start to the answer of `initialize`, against the start of bare Python."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time

from tests.bench.row import Row

ROUNDS = 15
INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    }
)


def rows() -> list[Row]:
    # In turn, so that both meet the same machine.
    rounds = [(_bare(), _bridge()) for _ in range(ROUNDS)]
    floor, value = (statistics.median(taken) for taken in zip(*rounds, strict=True))
    return [Row("assent mcp answers initialize (p50)", value, "ms", floor, at_most=6.0)]


def _bare() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - start) * 1e3


def _bridge() -> float:
    with tempfile.TemporaryDirectory() as home:
        environment = {"ASSENT_HOME": home, "ASSENT_TOKEN": "none", "PATH": "/usr/bin:/bin"}
        start = time.perf_counter()
        bridge = subprocess.Popen(
            [sys.executable, "-m", "app", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        assert bridge.stdin is not None
        assert bridge.stdout is not None
        bridge.stdin.write(INITIALIZE.encode() + b"\n")
        bridge.stdin.flush()
        answer = bridge.stdout.readline()
        took = (time.perf_counter() - start) * 1e3
        bridge.stdin.close()
        bridge.wait()
        bridge.stdout.close()
        assert b'"result"' in answer, answer
        return took
