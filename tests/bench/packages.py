"""Packages: a plan against `pip install --dry-run`, and installing in a warm sandbox against unpacking by hand."""

from __future__ import annotations

import asyncio
import io
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.plan import Registry
from runner.model.request import Language, Limits
from runner.network.registries import of_this_machine
from runner.packages.cache import FileCache
from runner.packages.client import Access
from runner.packages.failures import NoPlan
from runner.packages.installing import PackageSet
from runner.packages.limits import PlanLimits
from runner.packages.planner import PackageQuestion, Planner
from runner.packages.target import PROBE, PythonTarget
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox
from tests.bench.row import Row, skip

if TYPE_CHECKING:
    from runner.packages.installing import Prepared
    from runner.sandbox.contract import Session

ROUNDS = 5
NAME = "requests"
NOTHING = PackageSet(Registry.PYPI)


def rows() -> list[Row]:
    if not of_this_machine().pypi:
        skip("pip is not configured here")
    try:
        plans, pips, installs, hands = asyncio.run(_measure())
    except NoPlan as error:
        skip(f"the registry is not reached: {error}")
    return [
        Row("plan of requests, empty cache (p50)", _middle(plans), "ms", _middle(pips), at_most=0.5),
        Row("requests installed in a kept sandbox (p50)", _middle(installs), "ms", _middle(hands), at_most=1.5),
    ]


def _middle(found: list[float]) -> float:
    return statistics.median(found)


async def _measure() -> tuple[list[float], list[float], list[float], list[float]]:
    """Milliseconds of each round, each kind in turn with what it is held against."""
    plans: list[float] = []
    pips: list[float] = []
    installs: list[float] = []
    hands: list[float] = []
    sandbox = LocalSandbox()
    await sandbox.check()
    probe = await (await sandbox.start(Job("probe", Language.PYTHON, PROBE), lambda _usage: None)).finished()
    target = PythonTarget.read(probe.stdout)
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            planner = Planner(FileCache(Path(folder) / "cache", 1 << 30), _access, PlanLimits)
            start = time.perf_counter()
            plan = await planner.plan("bench", PackageQuestion(Registry.PYPI, (NAME,), target, NOTHING))
            plans.append((time.perf_counter() - start) * 1e3)
            pips.append(await asyncio.to_thread(_pip, folder))
            prepared = await planner.prepare("bench", plan, NOTHING)
            session = await sandbox.open(Language.PYTHON, Limits(), "")
            await _installed(session, prepared)  # the first one starts everything
            installs.append(await _installed(session, prepared))
            await session.close()
            hands.append(await asyncio.to_thread(_by_hand, prepared, f"{folder}/site"))
    await sandbox.close()
    return plans, pips, installs, hands


def _access(_registry: Registry) -> Access:
    found = of_this_machine()
    url, trusted = found.pypi[0].rstrip("/") + "/", found.pypi_authorities
    return Access(url, frozenset(found.destinations), found.authorization, trusted)


def _pip(folder: str) -> float:
    start = time.perf_counter()
    words = ["install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--cache-dir", f"{folder}/pip", NAME], capture_output=True, check=True
    )
    return (time.perf_counter() - start) * 1e3


async def _installed(session: Session, prepared: Prepared) -> float:
    start = time.perf_counter()
    job = Job("bench", Language.PYTHON, "pass", bundle=prepared.bundle, own_modules=False)
    result = await (await session.start(job, lambda _usage: None)).finished()
    assert not result.exit_code, result
    return (time.perf_counter() - start) * 1e3


def _by_hand(prepared: Prepared, folder: str) -> float:
    """A Python that unpacks the same wheels."""
    code = "import sys, zipfile\nfor name in sys.argv[2:]:\n    zipfile.ZipFile(name).extractall(sys.argv[1])\n"
    names = []
    for number, archive in enumerate(prepared.bundle.archives):
        assert zipfile.is_zipfile(io.BytesIO(archive.data))
        names.append(f"{folder}-{number}.whl")
        Path(names[-1]).write_bytes(archive.data)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-S", "-c", code, folder, *names], check=True)
    return (time.perf_counter() - start) * 1e3
