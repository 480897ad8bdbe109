"""What agents are told about the sandbox, however many of them ask at once."""

from __future__ import annotations

import asyncio

import pytest

from runner.engine import sandbox_choice
from runner.engine.sandbox_choice import ToldRegistries
from runner.model.network import Destination
from runner.system.tasks import spawn

pytestmark = pytest.mark.asyncio


async def test_a_hundred_who_ask_at_once_have_the_registries_looked_up_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[asyncio.Event] = []

    async def registries() -> tuple[Destination, ...]:
        looks.append(asyncio.Event())
        await looks[-1].wait()
        return (Destination(f"look{len(looks)}.example"),)

    told = ToldRegistries(registries)
    first = [spawn("asked", told.found()) for _ in range(100)]
    await asyncio.sleep(0)
    first[0].cancel()
    await asyncio.sleep(0)
    looks[0].set()
    assert set(await asyncio.gather(*first[1:])) == {(Destination("look1.example"),)}
    assert first[0].cancelled() and len(looks) == 1, "one that goes away takes nothing from the others"
    monkeypatch.setattr(sandbox_choice, "FRESH_SECONDS", 0.0)
    again = spawn("asked", told.found())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    looks[1].set()
    assert await again == (Destination("look2.example"),)
