"""Rehearsals on the real console: seen on the screen, handed over by key and by mouse, killed in the middle."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from app.look.tokens import LIGHT
from runner.identity.agents import Agents
from runner.identity.allowance import Allowance
from runner.model.answer import REHEARSED
from runner.model.decision import Decider, Verdict
from tests.path.desktop import AGENT, button, processes, until
from tests.path.test_console import approve, ask, rested, text
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.path.desktop import Desktop

pytestmark = pytest.mark.asyncio
SECRET = "nobody-gets-this-unasked"


@pytest.fixture(scope="module", autouse=True)
def allowed(shared: Desktop) -> None:
    """Switch rehearsals on for the agent, as a person has."""
    Agents(shared.places).allow(AGENT, Allowance(rehearse="any"))


@pytest.mark.usefixtures("unused")
async def test_the_mouse_hands_it_over(desktop: Desktop, tmp_path: Path) -> None:
    async with desktop.client() as client:
        call = ask(client, "echo by mouse")
        await until(lambda: desktop.phase() == "asked" and "rehearsed" in desktop.kinds())
        async with asyncio.timeout(HANGS):
            while desktop.phase() == "asked":
                picture = await asyncio.to_thread(desktop.photograph, tmp_path / "rehearsed.png")
                if place := button(picture, LIGHT.accent):
                    desktop.click(*place)
                    await rested(lambda: desktop.phase() != "asked")
        assert text(await call) == f"by mouse\n{REHEARSED}"
    assert "released" in desktop.kinds()


async def test_a_key_hands_over_what_the_rehearsal_showed(desktop: Desktop) -> None:
    async with desktop.client() as client:
        call = ask(client, "cat /proc/sys/kernel/random/uuid")
        await until(lambda: desktop.phase() == "asked" and "rehearsed" in desktop.kinds())
        shown = next(step.body for step in desktop.record().steps if step.entry.kind == "rehearsed")
        await approve(desktop)
        told = text(await call)
    assert told == f"{str(shown['stdout']).strip()}\n{REHEARSED}"
    assert "running" not in desktop.kinds()
    decision = desktop.record().decision
    assert decision is not None
    assert (decision.verdict, decision.by) == (Verdict.APPROVED, Decider.PERSON)


async def test_killed_in_the_middle_hands_nothing_over_and_leaves_nothing(desktop: Desktop) -> None:
    async with desktop.doomed_client() as client:
        call = ask(client, f"echo {SECRET}; exec -a {SECRET} sleep 25")
        await until(
            lambda: desktop.phase() == "asked" and "rehearsing" in desktop.kinds() and processes(f"{SECRET} 25")
        )
        desktop.kill()
        await until(lambda: not processes(f"{SECRET} 25"))
        assert await call is None
    await desktop.start()
    await until(lambda: desktop.phase() == "closed")
    record = desktop.record()
    assert record.decision is not None and record.decision.verdict is Verdict.DENIED and record.result is None
    assert not {"rehearsed", "released"} & {*desktop.kinds()}
