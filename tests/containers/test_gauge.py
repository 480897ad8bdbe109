"""Readings of a container: what they say of limits is of this run, not of one before it in the same container."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.request import Isolation, Language, Limits
from runner.sandbox.container import gauge
from runner.sandbox.container.gauge import ContainerGauge
from runner.sandbox.container.readings import ContainerReading
from runner.sandbox.container.shape import Shape
from tests.patience import HANGS

if TYPE_CHECKING:
    from runner.model.result import Usage


def reading(refused: int, killed: int, memory: int = 1 << 20) -> ContainerReading:
    return ContainerReading(0.0, memory, 0, 3, refused, killed)


async def followed(
    monkeypatch: pytest.MonkeyPatch, isolation: Isolation, *readings: ContainerReading
) -> ContainerGauge:
    """A gauge that has been told these."""

    async def pid() -> int:
        return 1

    left: list[ContainerReading | None] = [*readings, None]
    monkeypatch.setattr(gauge, "EVERY_SECONDS", 0.0)
    shape = Shape(isolation, "any", "image", Language.PYTHON, Limits())
    container: Any = SimpleNamespace(shape=shape, id="one", pid=pid)
    client: Any = SimpleNamespace(readings=lambda _pid, _id: SimpleNamespace(read=lambda: left.pop(0)))
    told: list[Usage] = []
    found, sent = ContainerGauge(client, container, told.append), asyncio.Event()
    sent.set()
    await found.follow(sent)
    assert len(told) == sum(one.memory > 0 for one in readings)
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("isolation", "readings", "full", "killed"),
    [
        (Isolation.DOCKER, [reading(0, 0), reading(2, 0)], True, False),
        (Isolation.DOCKER, [reading(7, 1), reading(7, 1)], False, False),
        (Isolation.DOCKER, [reading(0, 0), reading(0, 1, memory=0)], False, True),
        (Isolation.GVISOR, [reading(0, 0), reading(2, 0)], False, False),
    ],
)
async def test_limits_that_were_met(
    monkeypatch: pytest.MonkeyPatch, isolation: Isolation, readings: list[ContainerReading], full: bool, killed: bool
) -> None:
    found = await followed(monkeypatch, isolation, *readings)
    assert (found.processes_full, found.killed) == (full, killed)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("workspace", "together", "shown", "full"),
    [(100, 500, 100, False), (1023, 1023, 1023, True), (None, 1100, 1100, False), (None, 1152, 1152, True)],
)
async def test_a_full_tmp_is_no_full_workspace(
    monkeypatch: pytest.MonkeyPatch, workspace: int | None, together: int, shown: int, full: bool
) -> None:
    """In MB, of a workspace of 1024; /tmp and /dev/shm hold 64 each."""
    monkeypatch.setattr(gauge, "workspace_of", lambda _pid, _path: None if workspace is None else workspace << 20)
    told = ContainerReading(0.0, 1 << 20, together << 20, 3, 0, 0)
    found = await followed(monkeypatch, Isolation.DOCKER, told)
    assert [one.disk_bytes for one in found.curve.thinned] == [shown << 20] and found.disk_is_full is full


@pytest.mark.asyncio
async def test_the_engine_is_asked_while_the_interpreter_starts_and_not_at_the_end_of_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    sent, known = asyncio.Event(), asyncio.Event()

    async def pid() -> int:
        asked.append("after the code was sent" if sent.is_set() else "before")
        known.set()
        return 1

    left = [reading(0, 0), reading(0, 0), None]
    monkeypatch.setattr(gauge, "EVERY_SECONDS", 0.0)
    shape = Shape(Isolation.DOCKER, "any", "image", Language.PYTHON, Limits())
    container: Any = SimpleNamespace(shape=shape, id="one", pid=pid)
    client: Any = SimpleNamespace(readings=lambda _pid, _id: SimpleNamespace(read=lambda: left.pop(0)))
    told: list[Usage] = []
    following = asyncio.gather(ContainerGauge(client, container, told.append).follow(sent))
    async with asyncio.timeout(HANGS):
        await known.wait()
        assert not told
        sent.set()
        await following
    assert (asked, len(told)) == (["before"], 2)


def test_what_hands_out_the_files_is_not_the_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what comes after the end of the code only a kill for want of memory counts, which may be seen late."""
    monkeypatch.setattr(gauge, "workspace_of", lambda _pid, _path: None)
    shape = Shape(Isolation.DOCKER, "any", "image", Language.PYTHON, Limits())
    container: Any = SimpleNamespace(shape=shape, id="one")
    told: list[Usage] = []
    found = ContainerGauge(SimpleNamespace(), container, told.append)  # type: ignore[arg-type]
    found._take(reading(0, 0))
    found.code_ended = True
    found._take(reading(0, 1, memory=9 << 20))
    assert [one.memory_bytes for one in told] == [1 << 20] == [one.memory_bytes for one in found.curve.thinned]
    assert (found.peak_memory, found.killed) == (1 << 20, True)
