"""llm-sandbox, a library of the same purpose, on the same engine and image: its figures beside ours.

It goes into an environment of its own that is thrown away, and is no dependency of anything here.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from runner.model.request import Isolation, Language, Limits
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.container.shape import NAMES
from runner.sandbox.contract import Job
from tests import container_engine as engine
from tests.bench.row import Row, attempt, skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.docker.client import EngineClient

PEER = "llm-sandbox[docker]==0.3.46"
NAME = "llm-sandbox"
SCRIPT = Path(__file__).with_name("peer_session.py")
ROUNDS = 4
BESIDE = "the floor is ours, until removed"
JOB = Job("peer", Language.PYTHON, "print('hello')", Limits(cpu_cores=2.0))
"""The peer's containers have no limits: ours get the whole machine as well."""


def rows() -> Iterator[Row]:
    client = engine.client()
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as folder:
        python = _installed(Path(folder))
        kinds = (Isolation.DOCKER, Isolation.GVISOR)
        for kind in kinds:
            yield from attempt(f"{NAME} on {kind}", partial(_rows, kind, client, python))


def _installed(folder: Path) -> str:
    """The interpreter of an environment with the peer."""
    python = str(folder / "bin" / "python")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], capture_output=True, check=False)
    if done.returncode:
        skip(f"{NAME} cannot be installed here")
    return python


def _rows(kind: Isolation, client: EngineClient, python: str) -> list[Row]:
    words = [python, str(SCRIPT), client.endpoint.url, OWN_IMAGES[Language.PYTHON], NAMES[kind], str(ROUNDS)]
    told = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    first, again, whole = (median(each[number] * 1e3 for each in told) for number in range(3))
    cold, warm = asyncio.run(_ours(kind, client))
    return [
        Row(f"{NAME} on {kind}, cold, to its result", first, "ms", cold, note=BESIDE),
        Row(f"{NAME} on {kind}, cold, until removed", whole, "ms", cold, note=BESIDE),
        Row(f"{NAME} on {kind}, again in its session", again, "ms", warm, note=BESIDE),
    ]


async def _ours(kind: Isolation, client: EngineClient) -> tuple[float, float]:
    """Milliseconds of a run, cold and from the pool."""
    sandbox = ContainerSandbox(kind, OWN_IMAGES, client)
    cold = [await _one(sandbox) for _ in range(ROUNDS + 1)]
    warm = []
    await sandbox.warm([Language.PYTHON], JOB.limits, 1)
    for _ in range(ROUNDS):
        while sandbox.warmth is None or not sandbox.warmth.ready:
            await asyncio.sleep(0.01)
        warm.append(await _one(sandbox))
    await sandbox.close()
    return median(cold[1:]), median(warm)


async def _one(sandbox: ContainerSandbox) -> float:
    await sandbox.check()
    begun = time.perf_counter()
    result = await (await sandbox.start(JOB, lambda _usage: None)).finished()
    assert result.stdout == "hello\n", result
    return (time.perf_counter() - begun) * 1e3
