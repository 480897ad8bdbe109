"""What agents are told about the sandbox, however many of them ask at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.engine.foundation import sandbox_choice
from runner.engine.foundation.sandbox_choice import ToldRegistries
from runner.model.network import Destination
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.doubles import HeldSandbox

if TYPE_CHECKING:
    from pathlib import Path

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


async def test_agents_are_told_of_the_languages_that_the_settings_allow(home: Path) -> None:
    places = Places.under(home)
    engine = build(places, load(places, {"SANDBOX_SUPPORTED_LANGUAGES": "shell,python"}), (HeldSandbox(),))
    await engine.start(gateway=False)
    facts = await engine.parts.sandboxes.facts()
    await engine.close("the test is over")
    assert sorted(facts["languages"]) == ["python", "shell"]  # type: ignore[call-overload]
