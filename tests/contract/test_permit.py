"""A run whose approval ends while its sandbox is being made ready never runs its code, and leaves nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Isolation, Language, Limits
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Collect, Lasting, NotPermitted
from tests import container_engine as engine
from tests.contract.conftest import job

if TYPE_CHECKING:
    from runner.sandbox.contract import Job, Sandbox, Session
    from tests.contract.conftest import Lab

REASON = "Lockdown is on."
CODES = {
    Language.PYTHON: "open('ran', 'w').write('x'); print('ran')",
    Language.JAVASCRIPT: "require('fs').writeFileSync('ran', 'x'); console.log('ran')",
    Language.SHELL: "echo x > ran; echo ran",
}


class Standing:
    """An approval that counts no more once the sandbox asks for the last time."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def permit(self) -> None:
        self.threads.append(threading.current_thread())
        raise NotPermitted(REASON, "Nothing was run.")


async def refused(place: Sandbox | Session, wanted: Job) -> None:
    """Start `wanted` in `place`: its start is refused, or the run ends as stopped with the words."""
    run = None
    with contextlib.suppress(NotPermitted):
        run = await place.start(wanted, lambda _usage: None)
    if run is None:
        return
    result = await run.finished()
    assert (result.outcome, result.error) == (Outcome.KILLED, REASON), result
    assert (result.stdout, result.duration, result.files) == ("", 0.0, ()), result


@pytest.mark.parametrize("language", list(CODES))
def test_code_that_is_permitted_no_more_never_runs(lab: Lab, language: Language) -> None:
    standing = Standing()
    before = sorted(os.listdir(lab.folder))
    wanted = job(CODES[language], language, collect=Collect(lab.folder), permit=standing.permit)
    asyncio.run(refused(lab.sandbox, wanted))
    assert standing.threads == [threading.main_thread()], "on the loop, once"
    assert sorted(os.listdir(lab.folder)) == before
    assert not lab.containers()
    assert lab.run("print('on')").stdout == "on\n"


def test_code_that_is_permitted_no_more_never_runs_in_a_sandbox_that_stays(lab: Lab) -> None:
    async def body() -> None:
        assert isinstance(lab.sandbox, Lasting)
        session = await lab.sandbox.open(Language.PYTHON, Limits(memory_mb=256, disk_mb=8, cpu_cores=2.0), "")
        try:
            for language in (Language.PYTHON, Language.SHELL):
                await refused(session, job(CODES[language], language, permit=Standing().permit))
                assert (await session.files(".")).entries == ()
            run = await session.start(job(CODES[Language.PYTHON]), lambda _usage: None)
            assert (await run.finished()).stdout == "ran\n"
            assert [one.name for one in (await session.files(".")).entries] == ["ran"]
        finally:
            await session.close()

    asyncio.run(body())


def test_a_run_that_is_permitted_asks_once_before_it_begins(lab: Lab) -> None:
    asked: list[str] = []
    assert lab.run("print('on')", permit=lambda: asked.append("asked")).stdout == "on\n"
    assert asked == ["asked"]


@pytest.mark.parametrize("kind", [Isolation.DOCKER, Isolation.GVISOR])
def test_a_waiting_container_is_not_given_code_that_is_permitted_no_more(kind: Isolation) -> None:
    async def body() -> None:
        sandbox = ContainerSandbox(kind, OWN_IMAGES, engine.client())
        limits = job("").limits
        await sandbox.warm([Language.PYTHON], limits, 1)
        async with asyncio.timeout(60):
            while sandbox.warmth is None or not sandbox.warmth.ready:
                await asyncio.sleep(0.02)
        await refused(sandbox, job(CODES[Language.PYTHON], permit=Standing().permit))
        assert sandbox.warmth.hits == 1
        await sandbox.close()

    asyncio.run(body())


@pytest.mark.parametrize("kind", [Isolation.DOCKER, Isolation.GVISOR])
def test_a_run_that_is_stopped_before_it_begins_is_not_sent_its_code(kind: Isolation) -> None:
    asked: list[str] = []

    async def body() -> None:
        sandbox = ContainerSandbox(kind, OWN_IMAGES, engine.client())
        wanted = job(CODES[Language.PYTHON], permit=lambda: asked.append("asked"))
        await sandbox.check()
        run = await sandbox.start(wanted, lambda _usage: None)
        run.stop("enough")
        result = await run.finished()
        assert (result.outcome, result.error, result.stdout) == (Outcome.KILLED, "enough", ""), result
        await sandbox.close()

    asyncio.run(body())
    assert asked == []
