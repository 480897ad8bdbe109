"""Every kind of sandbox, and one call to run something in it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.request import ALL_LIMITS, Isolation, Language, Limits
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Collect, Job
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.remote.sandbox import E2BSandbox
from runner.sandbox.remote.service import DOMAIN, Service
from tests import container_engine as engine
from tests import direct_gvisor
from tests.e2b_server.server import KEY, Loopback
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.model.result import Result, Usage
    from runner.sandbox.contract import Run, Sandbox

KINDS = ("local", "docker", "gvisor", "gvisor-direct", "e2b", "e2b-live")
ALIKE = ("local", "docker", "gvisor-direct", "e2b", "e2b-live")
"""One kind of each family: on bubblewrap, on a container engine, in gVisor's kernel, behind E2B's API."""
alike = pytest.mark.parametrize("lab", ALIKE, indirect=True, scope="session")
"""For what is decided above the kind of sandbox: how languages start, what goes in and comes out, files and packages.

gVisor on an engine is the engine of "docker" and the kernel of "gvisor-direct". What isolates, limits, stops and
clears up is tested on it as well, and a run of each language.
"""
KNOWN_DIFFERENCES = {
    ("gvisor", "tells processes"): "its kernel's own threads are in the group as well",
    ("gvisor", "tells disk"): "its memory is one file: what of it are files cannot be seen from outside",
    ("local", "a share of the processor"): "only containers can bind it",
    ("docker", "asks every process to end"): "the engine asks the first one, which asks its child",
    ("gvisor", "asks every process to end"): "the engine asks the first one, which asks its child",
    ("e2b", "a share of the processor"): "it is the template's",
    ("e2b", "asks every process to end"): "the first one is asked, which asks its child",
    ("gvisor-direct", "tells processes"): "they are its kernel's own affair, which cannot be seen from outside",
    ("gvisor-direct", "tells disk"): "its memory is one file: what of it are files cannot be seen from outside",
    ("gvisor-direct", "asks every process to end"): "the first one is asked, which asks its child",
}
"""What is known to differ, and why. A test asks `lab.has(...)`; whatever is not named here must be alike."""


class Lab:
    """Runs jobs on one sandbox, each on the loop of its test."""

    def __init__(self, kind: str, sandbox: Sandbox, folder: Path) -> None:
        """What runs create is collected in `folder`, as in a console."""
        self.folder = folder
        self.kind = kind
        self.sandbox = sandbox
        self.readings: list[Usage] = []
        self.built: set[Language] = set()
        """Languages whose images were made sure of since the sandbox was examined at first."""

    def lacks(self, what: str) -> bool:
        """Whether this is one of the known differences."""
        assert any(known == what for _, known in KNOWN_DIFFERENCES), f"{what} is no known difference"
        return (self.kind, what) in KNOWN_DIFFERENCES

    @property
    def limits_cpu(self) -> bool:
        """Whether the sandbox says that it limits the processor: without an engine a control group has to be had."""
        ready = asyncio.run(self.sandbox.check())
        return not self.sandbox.isolation.is_container or ALL_LIMITS in ready.protections

    def containers(self) -> list[str]:
        """The runs of this process that still have a container; none of a sandbox without containers."""
        if not isinstance(self.sandbox, ContainerSandbox):
            return []
        listed = asyncio.run(self.sandbox._client().call(lambda api: api.containers(all=True)))
        names = [str((one["Labels"] or {}).get("assent.run", "")) for one in listed]
        return [name for name in names if f"-{os.getpid()}-" in name]

    def run(self, code: str, language: Language = Language.PYTHON, **changes: Any) -> Result:
        async def body() -> Result:
            self.readings.clear()
            wanted = job(code, language, **{"collect": Collect(self.folder), **changes})
            return await (await self.sandbox.start(wanted, self.readings.append)).finished()

        return asyncio.run(body())

    def during(
        self, code: str, act: Callable[[Run], Any], language: Language = Language.PYTHON, **changes: Any
    ) -> Result:
        """Run `code` and call `act` with the run once it has written something."""

        async def body() -> Result:
            wanted = job(code, language, **{"collect": Collect(self.folder), **changes})
            run = await self.sandbox.start(wanted, self.readings.append)
            while not run.transcript.total:
                await asyncio.sleep(0.005)
            act(run)
            return await run.finished()

        return asyncio.run(body())


def job(code: str, language: Language = Language.PYTHON, **changes: Any) -> Job:
    """A job with limits that suit a test; `changes` are fields of `Limits` or of `Job`."""
    limits: dict[str, Any] = {"seconds": HANGS, "memory_mb": 256, "disk_mb": 64, "processes": 64, "cpu_cores": 2.0}
    limits |= {name: changes.pop(name) for name in list(changes) if name in Limits.__slots__}
    return Job("test", language, code, Limits(**limits), **changes)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine of these tests counts as lost because the machine stood still."""
    engine.have_patience(monkeypatch)


@pytest.fixture(scope="session", params=KINDS)
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    with (
        tempfile.TemporaryDirectory(prefix="assent-test-") as root,
        tempfile.TemporaryDirectory() as folder,
        _service(request.param) as service,
    ):
        sandbox = _sandbox(request.param, Path(root), service)
        with pytest.MonkeyPatch.context() as patch:
            engine.have_patience(patch)
            ready = asyncio.run(sandbox.check())
        assert ready.ready, ready
        yield Lab(request.param.removesuffix("-live"), sandbox, Path(folder))
        asyncio.run(sandbox.close())


@contextlib.contextmanager
def _service(kind: str) -> Iterator[Service]:
    """What speaks E2B's API: a server on loopback, or the service of the key in the environment."""
    if kind == "e2b-live":
        if not (key := os.environ.get("E2B_API_KEY", "")):
            pytest.skip("E2B_API_KEY is not set: nothing is tried against a cloud")
        yield Service(
            os.environ.get("E2B_DOMAIN", DOMAIN), template=os.environ.get("ASSENT_E2B_TEMPLATE", "base"), key=key
        )
        return
    if kind != "e2b":
        yield Service()
        return
    if os.geteuid():
        pytest.skip("the server on loopback has accounts only as root")
    with Loopback() as server:
        yield Service(api_url=server.url, sandbox_url=server.url, key=KEY)


def _sandbox(kind: str, root: Path, service: Service) -> Sandbox:
    if kind == "local":
        return LocalSandbox(root)
    if kind == "gvisor-direct":
        return direct_gvisor.sandbox(root)
    if kind in ("e2b", "e2b-live"):
        return E2BSandbox(service)
    return ContainerSandbox(Isolation(kind), OWN_IMAGES, engine.client())
