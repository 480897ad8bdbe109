"""The relay of a networked run in a container: in warm ones too, not at all without network, refused with words."""

from __future__ import annotations

import asyncio
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Limits, NetworkMode
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container import relay
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from tests import container_engine as engine
from tests.contract.web import GOOD, outside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.result import Result, Usage
    from runner.sandbox.docker.client import EngineClient
    from tests.contract.web import Outside

pytestmark = pytest.mark.asyncio
LIMITS = Limits(cpu_cores=2.0, memory_mb=128)
FETCHES = f"curl -sS https://{GOOD}/"
WELL = "hello from outside\n"


@pytest.fixture
def client() -> EngineClient:
    return engine.client()


@pytest.fixture(params=[Isolation.DOCKER, Isolation.GVISOR])
def sandbox(request: pytest.FixtureRequest, client: EngineClient) -> ContainerSandbox:
    return ContainerSandbox(request.param, OWN_IMAGES, client)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    with outside(tmp_path) as found:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        yield found


async def fetched(sandbox: ContainerSandbox, web: Outside, code: str = FETCHES, **of_job: Any) -> Result:
    readings: list[Usage] = of_job.pop("readings", [])
    gate = web.gate(GOOD)
    wanted = {"limits": LIMITS, "network": NetworkMode.DOMAINS, "gate": gate, **of_job}
    try:
        return await (await sandbox.start(Job("test", Language.SHELL, code, **wanted), readings.append)).finished()
    finally:
        gate.close()


async def ids(client: EngineClient) -> list[str]:
    listed = await client.call(lambda api: api.containers(all=True, filters={"label": ["assent.run"]}))
    return [one["Id"] for one in listed if f"-{os.getpid()}-" in one["Labels"]["assent.run"]]


async def test_the_same_warm_containers_serve_runs_with_and_without_network(
    sandbox: ContainerSandbox, web: Outside
) -> None:
    await sandbox.warm([Language.SHELL], LIMITS, 2)
    async with asyncio.timeout(60):
        while sandbox.warmth is None or sandbox.warmth.ready < 2:
            await asyncio.sleep(0.02)
    assert (await fetched(sandbox, web)).stdout == WELL
    assert (await fetched(sandbox, web, network=NetworkMode.NONE, gate=None)).stdout == ""
    assert (sandbox.warmth.hits, sandbox.warmth.misses) == (2, 0)
    await sandbox.close()


async def test_a_run_without_network_starts_nothing_more(
    sandbox: ContainerSandbox, web: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_words: object) -> None:
        raise AssertionError("a process was started in the container")

    monkeypatch.setattr(relay, "start", refuse)
    result = await fetched(sandbox, web, "echo well", network=NetworkMode.NONE, gate=None)
    assert result.stdout == "well\n"
    assert not sandbox._network._thread.ready.is_set()
    await sandbox.close()


async def test_the_relay_is_no_process_of_the_code(client: EngineClient, web: Outside) -> None:
    docker = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, client)
    readings: list[Usage] = []
    result = await fetched(docker, web, "sleep 1", readings=readings)
    assert result.outcome is Outcome.OK and readings
    assert {one.processes for one in readings} <= {1, 2}, readings  # bash and sleep
    await docker.close()


async def test_an_image_without_python_has_no_network_and_says_so(
    sandbox: ContainerSandbox, client: EngineClient, web: Outside
) -> None:
    at = ["docker", "--host", client.endpoint.url]
    text = f"FROM {OWN_IMAGES[Language.SHELL]}\nUSER root\nRUN rm -r /usr/lib/assent\nUSER 1000:1000\n"
    build = [*at, "build", "--quiet", "--network", "none", "--force-rm", "-"]
    built = await asyncio.to_thread(subprocess.run, build, input=text, capture_output=True, text=True, check=True)
    image = built.stdout.strip()
    try:
        with pytest.raises(KnownError, match="image cannot have a network: it holds no Python"):
            await fetched(sandbox, web, image=image)
        assert await ids(client) == []
        assert (await fetched(sandbox, web, "echo well", image=image, network=NetworkMode.NONE, gate=None)).stdout
    finally:
        await sandbox.close()
        await asyncio.to_thread(subprocess.run, [*at, "image", "rm", "--force", image], check=True, capture_output=True)


async def test_a_relay_that_does_not_get_ready_is_reported_and_nothing_stays(
    sandbox: ContainerSandbox, client: EngineClient, web: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "script", lambda _name: "import sys; sys.exit('no doors today')")
    with pytest.raises(KnownError, match="could not be set up: no doors today"):
        await fetched(sandbox, web)
    monkeypatch.setattr(relay, "script", lambda _name: "import time; time.sleep(60)")
    monkeypatch.setattr(relay, "READY_SECONDS", 0.5)
    with pytest.raises(KnownError, match="it does not answer"):
        await fetched(sandbox, web)
    assert await ids(client) == []
    await sandbox.close()
