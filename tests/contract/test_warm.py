"""The warm pool (spec X6): used once, refilled, never in the way, nothing left."""

from __future__ import annotations

import asyncio
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.assembly import build
from runner.model.decision import Verdict
from runner.model.request import Isolation, Language, Limits, Tool
from runner.model.result import Outcome
from runner.model.submission import Submission
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.container import Container
from runner.sandbox.container.failures import EngineGone
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from runner.settings.loading import load
from runner.system.places import Places
from tests import container_engine as engine
from tests import direct_gvisor
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.result import Result
    from runner.sandbox.container.engine import Calls, ContainerEngine

pytestmark = pytest.mark.asyncio
LIMITS = Limits(cpu_cores=2.0, memory_mb=128)


alike = pytest.mark.parametrize("sandbox", [Isolation.DOCKER, Isolation.GVISOR_DIRECT], indirect=True)
"""For what the pool does by itself: gVisor on an engine is the engine of the one and the kernel of the other."""


@pytest.fixture(params=[Isolation.DOCKER, Isolation.GVISOR, Isolation.GVISOR_DIRECT])
def sandbox(request: pytest.FixtureRequest) -> Iterator[ContainerSandbox]:
    if request.param is not Isolation.GVISOR_DIRECT:
        yield ContainerSandbox(request.param, OWN_IMAGES, engine.client())
        return
    with tempfile.TemporaryDirectory(prefix="assent-test-") as folder:
        yield direct_gvisor.sandbox(Path(folder))


@pytest.fixture
def client(sandbox: ContainerSandbox) -> ContainerEngine:
    return sandbox._client()


async def filled(sandbox: ContainerSandbox, count: int) -> None:
    async with asyncio.timeout(HANGS):
        while sandbox.warmth is None or sandbox.warmth.ready < count:
            await asyncio.sleep(0.02)


async def run(sandbox: ContainerSandbox, code: str, language: Language = Language.PYTHON, **limits: Any) -> Result:
    wanted = Limits(**{"cpu_cores": 2.0, "memory_mb": 128, **limits})
    return await (await sandbox.start(Job("test", language, code, wanted), lambda _usage: None)).finished()


async def containers(client: ContainerEngine) -> list[Any]:
    """Those of this process."""
    listed = await client.call(lambda api: api.containers(all=True, filters={"label": ["assent.run"]}))
    return [one for one in listed if f"-{os.getpid()}-" in one["Labels"]["assent.run"]]


async def emptied(client: ContainerEngine) -> None:
    """Wait until none is left: closing does not wait for one that is just being started and removed again."""
    async with asyncio.timeout(HANGS):
        while await containers(client):
            await asyncio.sleep(0.02)


async def test_each_is_used_once_and_replaced(sandbox: ContainerSandbox, client: ContainerEngine) -> None:
    await sandbox.warm([Language.PYTHON, Language.SHELL], LIMITS, 1)
    await filled(sandbox, 2)
    first = await run(sandbox, "open('left', 'w').close(); open('/tmp/left', 'w').close(); print('a')", seconds=7.0)
    await filled(sandbox, 2)
    second = await run(sandbox, "import os; print(os.listdir('.'), os.listdir('/tmp'))")
    assert (first.stdout, second.stdout) == ("a\n", "['main.py'] []\n")
    assert (await run(sandbox, "cat", Language.SHELL)).outcome is Outcome.OK
    assert (await run(sandbox, "print('other limits')", memory_mb=96)).stdout == "other limits\n"
    warmth = sandbox.warmth
    assert warmth is not None and (warmth.wanted, warmth.hits, warmth.misses) == (2, 3, 1)
    await sandbox.close()
    await emptied(client)


@alike
async def test_what_an_engine_made_without_answering_is_removed(
    sandbox: ContainerSandbox, client: ContainerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Container.open

    async def unanswered(container: Container) -> None:
        await opened(container)
        container.let_go()
        raise EngineGone("It does not answer.", "Restart it.")

    await sandbox.check()
    with monkeypatch.context() as patch:
        patch.setattr(Container, "open", unanswered)
        with pytest.raises(EngineGone):
            await sandbox.start(Job("test", Language.PYTHON, "1"), lambda _usage: None)
    assert len(await containers(client)) == 1
    assert (await run(sandbox, "print('on')")).stdout == "on\n"
    await emptied(client)
    await sandbox.close()


def _kill(container: str, api: Calls) -> None:
    api.kill(container)


@alike
async def test_what_died_while_waiting_is_not_used(sandbox: ContainerSandbox, client: ContainerEngine) -> None:
    await sandbox.warm([Language.PYTHON], LIMITS, 1)
    await filled(sandbox, 1)
    for one in await containers(client):
        await client.call(partial(_kill, one["Id"]))
    async with asyncio.timeout(HANGS):
        while sandbox.warmth is None or sandbox.warmth.ready:
            await asyncio.sleep(0.02)
    assert (await run(sandbox, "print('cold')")).stdout == "cold\n"
    await sandbox.close()
    await emptied(client)


@alike
async def test_more_runs_at_once_than_are_waiting(sandbox: ContainerSandbox, client: ContainerEngine) -> None:
    await sandbox.warm([Language.PYTHON], LIMITS, 2)
    await filled(sandbox, 2)
    results = await asyncio.gather(*(run(sandbox, f"print({number})") for number in range(5)))
    assert [result.stdout for result in results] == [f"{number}\n" for number in range(5)]
    await sandbox.warm([Language.PYTHON], LIMITS, 0)
    assert sandbox.warmth is not None and sandbox.warmth.wanted == 0
    await emptied(client)
    await sandbox.close()


async def test_the_console_keeps_some_and_says_so(tmp_path: Path) -> None:
    client = engine.client()
    sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, client)
    places = Places.under(tmp_path)
    console = build(places, load(places, {"ASSENT_WARM_LANGUAGES": "python,bash"}), (sandbox,))
    await console.start(gateway=False)
    await console.parts.sandboxes.known()
    await filled(sandbox, 2)
    facts = await console.parts.sandboxes.facts()
    warm = facts["warm"]
    assert isinstance(warm, dict) and (warm["ready"], warm["wanted"]) == (2, 2)
    assert facts["chosen"] == "Strongest available here."

    ticket = await console.submit(Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "print('through')"))
    request = ticket.case.request
    assert (request.isolation, request.image) == (Isolation.DOCKER, (await sandbox.check()).images[Language.PYTHON])
    async with asyncio.timeout(HANGS):
        while not console.desk.position(request.id):
            await asyncio.sleep(0.01)
    assert console.answer(request.id, request.digest, Verdict.APPROVED, "") == ""
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None
    assert (answer.result.stdout, answer.result.meta.image) == ("through\n", request.image)
    assert sandbox.warmth is not None and sandbox.warmth.hits == 1
    await console.close("over")
    await emptied(client)
