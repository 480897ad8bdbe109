"""What agents start: `assent mcp` until it answers `initialize`, and a hook, against bare Python and a bare shell."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from runner.clients.hooks import QUICK
from tests.bench.row import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 15
HOOK = (sys.executable, "-m", "app", "hook", "claude-code")
QUICK_HOOK = ("/bin/sh", str(QUICK), "tool_name", "claude-code", *HOOK)
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
    shell = ("/bin/sh", "-c", "cat >/dev/null")
    python = (sys.executable, "-c", "pass")
    hooks = [(_hook(shell, "Read"), _hook(QUICK_HOOK, "Read"), _hook(HOOK, "Read")) for _ in range(ROUNDS)]
    least, quick, whole = (statistics.median(taken) for taken in zip(*hooks, strict=True))
    cpu = min(_hook(HOOK, "Read", processor=True) for _ in range(ROUNDS))
    bare = min(_hook(python, "", processor=True) for _ in range(ROUNDS))
    return [
        Row("assent mcp answers initialize (p50)", value, "ms", floor, at_most=6.0),
        Row("a hook about a tool that nobody is asked about (p50)", quick, "ms", least, at_most=3.0),
        Row("a hook that starts Python, without the question (p50)", whole, "ms", floor, at_most=6.0),
        Row("the same, processor time (best)", cpu, "ms", bare, at_most=4.5),
    ]


def _bare() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - start) * 1e3


def _hook(words: Sequence[str], tool: str, *, processor: bool = False) -> float:
    """Return the milliseconds that a hook takes for a tool, on the clock or of the processor."""
    about = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"file_path": "/x"}, "cwd": "/"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = json.dumps(about, separators=(",", ":"))
    done = subprocess.run(words, input=said, text=True, capture_output=True, env={"PATH": "/usr/bin:/bin"}, check=True)
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert not done.stdout, done.stdout
    if processor:
        taken = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return taken * 1e3


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
