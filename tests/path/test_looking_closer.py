"""Looking closer on the real console: a person's own version runs, and what was missed runs when the agent is back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from app.look.tokens import LIGHT
from runner.model.decision import Decider, Verdict
from tests.path.desktop import button, until
from tests.path.test_console import GUARD_SECONDS, QUIET_SECONDS, approve, ask, desktop, rested, text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.path.desktop import Desktop

__all__ = ["desktop"]
pytestmark = pytest.mark.asyncio


def kinds(desktop: Desktop) -> list[str]:
    """Entries of the newest request."""
    return [step.entry.kind for step in desktop.records()[0].steps]


async def press_until(desktop: Desktop, key: str, kind: str) -> None:
    """Press until the ledger has an entry that only this key can have caused."""
    async with asyncio.timeout(20):
        while kind not in kinds(desktop):
            desktop.press(key)
            await rested(lambda: kind in kinds(desktop))


async def test_a_persons_version_runs_and_the_agent_gets_the_difference(desktop: Desktop) -> None:
    async with desktop.client() as client:
        call = ask(client, "echo first")
        await until(lambda: desktop.phase() == "asked")
        await press_until(desktop, "e", "paused")
        # Whatever is typed too early or too late ends up in a comment.
        desktop.press("ctrl+a")
        for key in ("e", "c", "h", "o", "space", "2", "space", "numbersign"):
            desktop.press(key)
        async with asyncio.timeout(20):
            while desktop.phase() == "asked":
                desktop.press("ctrl+Return")
                await asyncio.sleep(QUIET_SECONDS * 1.2)
                desktop.press("a")
                await rested(lambda: desktop.phase() != "asked")
        told = text(await call)
    assert told.startswith("2\n")
    assert "-echo first" in told and "+echo 2 #" in told
    record = desktop.records()[0]
    body = next(step.body for step in record.steps if step.entry.kind == "edited")
    assert record.decision is not None and record.decision.digest == body["digest"] != body["from"]
    assert record.request.code == "echo first"


async def test_what_expired_runs_once_when_the_agent_asks_again(desktop: Desktop, tmp_path: Path) -> None:
    (desktop.places.config / "rules.yaml").write_text("rules:\n  - {name: quick, tools: [code_execute], window: 1}\n")
    desktop.end()
    await desktop.start()
    async with desktop.client() as client:
        told = text(await ask(client, "echo late"))
        assert told.startswith("Expired")
        desktop.press("a")  # no key stands for it
        async with asyncio.timeout(20):
            while "armed" not in kinds(desktop):
                picture = await asyncio.to_thread(desktop.photograph, tmp_path / "missed.png")
                if place := button(picture, LIGHT.accent) or button(picture, LIGHT.accent_ink):
                    desktop.click(*place)
        assert desktop.records()[0].result is None
        told = text(await ask(client, "echo late"))
        assert told == "late"
    decision = desktop.records()[0].decision
    assert decision is not None
    assert (decision.verdict, decision.by) == (Verdict.APPROVED, Decider.PERSON)


async def test_a_click_on_nothing_in_particular_pauses_the_countdown(desktop: Desktop) -> None:
    async with desktop.client() as client:
        call = ask(client, "echo one")
        await until(lambda: desktop.phase() == "asked")
        async with asyncio.timeout(20):
            while "paused" not in kinds(desktop):
                desktop.click(600, 300)
                await asyncio.sleep(GUARD_SECONDS / 3)
        assert desktop.phase() == "asked"
        await approve(desktop)
        assert text(await call) == "one"
