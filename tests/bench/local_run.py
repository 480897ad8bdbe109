"""A run in the local sandbox with bubblewrap, against the same interpreter started bare."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from runner.model.request import Language
from runner.sandbox.contract import Job
from runner.sandbox.local.interpreters import find
from runner.sandbox.local.sandbox import LocalSandbox
from tests.bench.row import Row, skip

ROUNDS = 40
CODE = "print('hello')\n"


def rows() -> list[Row]:
    if not shutil.which("bwrap"):
        skip("there is no bubblewrap")
    bare, boxed = asyncio.run(_measure())
    floor, value = statistics.median(bare), statistics.median(boxed)
    return [Row("local run, python, bubblewrap (p50)", value, "ms", floor, at_most=1.5)]


async def _measure() -> tuple[list[float], list[float]]:
    """Milliseconds of each round, the two kinds in turn so that both meet the same machine."""
    bare: list[float] = []
    boxed: list[float] = []
    sandbox = LocalSandbox()
    await sandbox.check()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.py"
        file.write_text(CODE)
        # The same interpreter in an empty environment: what is installed on a machine can make
        # the start of its Python several times slower, which would flatter us.
        subprocess.run([find(Language.PYTHON, "").path, "-m", "venv", "--without-pip", f"{folder}/bare"], check=True)
        python = f"{folder}/bare/bin/python"
        for number in range(ROUNDS):
            start = time.perf_counter()
            subprocess.run([python, str(file)], capture_output=True, check=True)
            bare.append((time.perf_counter() - start) * 1e3)
            start = time.perf_counter()
            run = await sandbox.start(Job(f"bench{number}", Language.PYTHON, CODE), lambda _usage: None)
            result = await run.finished()
            boxed.append((time.perf_counter() - start) * 1e3)
            assert result.stdout == "hello\n", result
    await sandbox.close()
    return bare[2:], boxed[2:]
