"""The container engine that tests run on: a real one with real gVisor, started at first use and gone at the end.

One that `packaging/engine.sh start` has started already is used as it is, and stays.
"""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import functools
import os
import subprocess
import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from runner.sandbox.container import container, run, sandbox
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import Endpoint
from runner.sandbox.docker.image_store import Store
from runner.sandbox.gvisor.engine_feeds import EngineFeeds
from runner.sandbox.images.build import Builder, ImageState
from runner.sandbox.images.recipe import recipe
from runner.sandbox.images.rootfs import RootfsSource, source
from runner.system.private_folder import make_folder
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.sandbox.docker.sdk import Api

    T = TypeVar("T")

SCRIPT = Path(__file__).resolve().parents[1] / "packaging" / "engine.sh"
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assent" / "images"
"""Where built images wait for the next time; a machine that has none builds them, which takes half a minute."""
IMAGES = ("python", "javascript", "shell")
FOLDERS = "assent-engine-of-"
"""How the folders of such engines are named; the id of the process that they are of follows, and a random part."""


def address() -> str:
    """Where it answers. Where there is none, the test is skipped, or fails where everything is required."""
    found, why = _running()
    if found:
        return found
    if os.environ.get("ASSENT_REQUIRE_ALL"):
        pytest.fail(f"container engine: {why}")
    pytest.skip(f"container engine: {why}")


class PatientClient(EngineClient):
    """One that waits as long as an engine on a busy machine takes, where the caller does not say how long."""

    async def call(self, function: Callable[[Api], T], seconds: float | None = HANGS) -> T:
        return await super().call(function, seconds)


def client_at(url: str) -> EngineClient:
    """A client of the engine at `url` to which no runtime reports what code does: tests share the runtimes for that."""
    return PatientClient(Endpoint(url), EngineFeeds(Path(os.devnull)))


def client() -> EngineClient:
    """A client of it; it has all images that tests need. To this one no runtime reports what code does."""
    fill(address())
    return client_at(address())


def reporting() -> EngineClient:
    """One that takes a runtime which reports to tests, where no other process of tests has it."""
    fill(address())
    return PatientClient(Endpoint(address()), EngineFeeds(Path(address().removeprefix("unix://")).parent / "feed"))


def have_patience(patch: pytest.MonkeyPatch) -> None:
    """Have sandboxes wait as long as well: a machine that stands still for seconds makes no engine a lost one."""
    patch.setattr(run, "STATUS_SECONDS", HANGS)
    patch.setattr(container, "LIVES_SECONDS", HANGS)
    patch.setattr(sandbox, "PING_SECONDS", HANGS)


def started(folder: Path) -> str:
    """Start one of its own in `folder` (`stopped` ends it) and say where it answers."""
    address()  # skips where there can be none
    done = _engine("start", folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def stopped(folder: Path) -> None:
    assert _engine("stop", folder).returncode == 0


def builder(at: str, keep: Path | None = KEPT) -> Builder:
    return Builder(Store(EngineClient(Endpoint(at))), root_file_systems(), keep)


@functools.cache
def root_file_systems() -> RootfsSource:
    """Where an engine could be started there is mmdebstrap: never in a container."""
    return asyncio.run(source({}))


@functools.cache
def _running() -> tuple[str, str]:
    """Where it answers, or why nowhere."""
    if (already := _engine("status")).returncode == 0:
        return already.stdout.strip(), ""
    _clear_away()
    # A folder made here and now: at a name that can be guessed somebody else's could lie already.
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDERS}{os.getpid()}-"))
    done = _engine("start", folder)
    if done.returncode:
        stopped(folder)
        return "", done.stderr.strip()
    atexit.register(stopped, folder)
    return done.stdout.strip(), ""


@functools.cache
def fill(at: str, images: tuple[str, ...] = IMAGES) -> None:
    """Give the engine there the images that it does not have."""
    build(builder(at), images)


def build(maker: Builder, images: tuple[str, ...]) -> None:
    """Build the images that are missing; what another process builds at the same time is waited for, and then kept."""

    async def one(name: str) -> None:
        wanted = recipe(name)
        if await maker.state(wanted) is ImageState.READY:
            return
        make_folder(KEPT)
        with (KEPT / f"{name}.lock").open("w") as lock:
            await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            if await maker.state(wanted) is ImageState.READY:
                return
            async with aclosing(maker.build(wanted)) as steps:
                async for _ in steps:
                    pass

    async def all_of_them() -> None:
        await asyncio.gather(*map(one, images))

    asyncio.run(all_of_them())


def _clear_away() -> None:
    """Engines of tests that were killed. A folder that is somebody else's is refused by the script, and stays."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        process = folder.name.removeprefix(FOLDERS).partition("-")[0]
        if not Path("/proc", process).exists():
            _engine("stop", folder)


def _engine(verb: str, *folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, verb, *folder], capture_output=True, text=True, check=False)
