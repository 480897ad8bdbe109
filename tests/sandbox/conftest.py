"""A sandbox of each kind, and one call to run something in it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.request import Language, Limits
from runner.sandbox.contract import ImportRule, Job
from runner.sandbox.local.sandbox import LocalSandbox
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.model.result import Result, Usage
    from runner.sandbox.local.run import LocalRun


class Lab:
    """Runs jobs on one sandbox, each on the loop of its test."""

    def __init__(self, root: Path, bubblewrap: bool) -> None:
        self.root = root
        self.bubblewrap = bubblewrap
        self.sandbox = LocalSandbox(root, python=self._python(), bubblewrap=bubblewrap)
        self.readings: list[Usage] = []

    def _python(self) -> str:
        """Root without bubblewrap only runs what every user can reach."""
        reachable = all(place.stat().st_mode & 1 for place in Path(sys.base_prefix, "bin").parents)
        return "" if self.bubblewrap or reachable or os.geteuid() != 0 else "/usr/bin/python3"

    def run(self, code: str, language: Language = Language.PYTHON, **changes: Any) -> Result:
        return asyncio.run(self._run(job(code, language, **changes)))

    async def _run(self, wanted: Job) -> Result:
        self.readings.clear()
        return await (await self.sandbox.start(wanted, self.readings.append)).finished()

    def during(
        self, code: str, act: Callable[[LocalRun], Any], language: Language = Language.PYTHON, **changes: Any
    ) -> Result:
        """Run `code` and call `act` with the run once it has written something."""

        async def body() -> Result:
            run = await self.sandbox.start(job(code, language, **changes), self.readings.append)
            while not run.transcript.total:
                await asyncio.sleep(0.005)
            act(run)
            return await run.finished()

        return asyncio.run(body())


def job(code: str, language: Language = Language.PYTHON, **changes: Any) -> Job:
    """A job with limits that suit a test; `changes` are fields of `Limits` or of `Job`."""
    limits: dict[str, Any] = {"seconds": HANGS, "memory_mb": 512, "disk_mb": 64, "processes": 64}
    limits |= {name: changes.pop(name) for name in list(changes) if name in Limits.__slots__}
    return Job("test", language, code, Limits(**limits), **changes)


def only(*allowed: str) -> ImportRule:
    return ImportRule(allowed)


def wait_until(true: Callable[[], bool], seconds: float = HANGS) -> bool:
    """For what the kernel finishes in its own time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(scope="session", params=["bwrap", "plain"])
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Both ways to run, one after the other."""
    yield from _lab(request.param == "bwrap")


@pytest.fixture(scope="session")
def bwrap() -> Iterator[Lab]:
    yield from _lab(True)


@pytest.fixture(scope="session")
def plain() -> Iterator[Lab]:
    yield from _lab(False)


def _lab(bubblewrap: bool) -> Iterator[Lab]:
    if bubblewrap and shutil.which("bwrap") is None:
        pytest.fail("bubblewrap is needed for these tests: install the package `bubblewrap`")
    # Not below pytest's own folder: other users must be able to pass through to what is theirs.
    with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
        lab = Lab(Path(root), bubblewrap)
        ready = asyncio.run(lab.sandbox.check())
        assert ready.ready, ready
        assert ("bubblewrap" in ready.versions) is bubblewrap
        yield lab
        asyncio.run(lab.sandbox.close())
        assert list(lab.root.iterdir()) == [], "a run left its folder behind"
