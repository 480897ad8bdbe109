"""Looking closer on the real console: a person's own version runs, and what was missed runs when the agent is back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from app.look.tokens import LIGHT
from runner.model.decision import Decider, Verdict
from tests.path.desktop import button, until
from tests.path.test_console import GUARD_SECONDS, QUIET_SECONDS, approve, ask, rested, text
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.path.desktop import Desktop

pytestmark = pytest.mark.asyncio
QUICK = "rules:\n  - {name: quick, conditions: [{param: code, equals: echo late}], window: 1}\n"


@pytest.fixture(scope="module", autouse=True)
def rule(shared: Desktop) -> None:
    """Have what is called late wait for a second only."""
    (shared.places.config / "rules.yaml").write_text(QUICK)


async def press_until(desktop: Desktop, key: str, kind: str) -> None:
    """Press until the ledger has an entry that only this key can have caused."""
    async with asyncio.timeout(HANGS):
        while kind not in desktop.kinds():
            desktop.press(key)
            await rested(lambda: kind in desktop.kinds())


@pytest.mark.usefixtures("unused")
async def test_a_click_on_nothing_in_particular_pauses_the_countdown(desktop: Desktop) -> None:
    async with desktop.client() as client:
        call = ask(client, "echo one")
        await until(lambda: desktop.phase() == "asked")
        async with asyncio.timeout(HANGS):
            while "paused" not in desktop.kinds():
                desktop.click(600, 300)
                await asyncio.sleep(GUARD_SECONDS / 3)
        assert desktop.phase() == "asked"
        await approve(desktop)
        assert text(await call) == "one"


async def test_a_persons_version_runs_and_the_agent_gets_the_difference(desktop: Desktop) -> None:
    async with desktop.client() as client:
        call = ask(client, "echo first")
        await until(lambda: desktop.phase() == "asked")
        await press_until(desktop, "e", "paused")
        # Whatever is typed too early or too late ends up in a comment.
        desktop.press("ctrl+a")
        for key in ("e", "c", "h", "o", "space", "2", "space", "numbersign"):
            desktop.press(key)
        async with asyncio.timeout(HANGS):
            while desktop.phase() == "asked":
                desktop.press("ctrl+Return")
                await asyncio.sleep(QUIET_SECONDS * 1.2)
                desktop.press("a")
                await rested(lambda: desktop.phase() != "asked")
        told = text(await call)
    assert told.startswith("2\n")
    assert "-echo first" in told and "+echo 2 #" in told
    record = desktop.record()
    body = next(step.body for step in record.steps if step.entry.kind == "edited")
    assert record.decision is not None and record.decision.digest == body["digest"] != body["from"]
    assert record.request.code == "echo first"


async def test_what_expired_runs_once_when_the_agent_asks_again(desktop: Desktop, tmp_path: Path) -> None:
    async with desktop.client() as client:
        told = text(await ask(client, "echo late"))
        assert told.startswith("Expired")
        desktop.press("a")  # no key stands for it
        async with asyncio.timeout(HANGS):
            while "armed" not in desktop.kinds():
                picture = await asyncio.to_thread(desktop.photograph, tmp_path / "missed.png")
                if place := button(picture, LIGHT.accent) or button(picture, LIGHT.accent_ink):
                    desktop.click(*place)
        assert desktop.record().result is None
        told = text(await ask(client, "echo late"))
        assert told == "late"
    decision = desktop.record().decision
    assert decision is not None
    assert (decision.verdict, decision.by) == (Verdict.APPROVED, Decider.PERSON)
