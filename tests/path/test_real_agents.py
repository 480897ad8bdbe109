"""The programs people use: real Claude Code and real Codex ask, a real click approves, and they report the output."""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from app.look.tokens import LIGHT
from runner.audit.ledger.verify import verify
from runner.gateway import address_file
from runner.gateway.snippets import configurations
from runner.identity.agents import Agents
from runner.model.decision import Decider, Verdict
from tests.path.desktop import PATIENCE, Desktop, button, until
from tests.path.mock_model import SAID, TOOL, serving
from tests.path.programs import WAYS, kill, started

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio
SHOTS = Path("build/shots")
PROMPT = "Add the two numbers."
HISTORY = "ctrl+3"


@pytest_asyncio.fixture
async def desktop(tmp_path: Path, display_for_agents: str) -> AsyncIterator[Desktop]:
    desktop = Desktop(tmp_path / "home", display_for_agents)
    await desktop.start()
    yield desktop
    desktop.end()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The agent's home and working folder."""
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder


def configuration(desktop: Desktop, way: str) -> str:
    """What the window shows for pasting, for an agent of its own."""
    opened = address_file.read(desktop.places)
    assert opened is not None
    token = Agents(desktop.places).add(way)
    bridge = f"env ASSENT_HOME={desktop.home} {sys.executable} -m app"
    offered = configurations(way, token, f"http://{opened.host}:{opened.port}/mcp", bridge)
    return next(snippet.text for snippet in offered if snippet.client == WAYS[way])


@asynccontextmanager
async def asking(desktop: Desktop, folder: Path, way: str, code: str) -> AsyncIterator[Process]:
    """The program, made to ask; its question is on the screen."""
    arguments = {"language": "python", "title": "Add two numbers", "code": code}
    with serving((TOOL, arguments)) as model:
        async with started(way, folder, model, configuration(desktop, way), PROMPT) as process:
            await until(lambda: desktop.phase() == "asked" or process.returncode is not None)
            assert process.returncode is None, await process.communicate()
            yield process


async def approve(desktop: Desktop, shot: Path) -> None:
    """Look for Approve on the screen and click on it until that counts: the guard ignores clicks for a moment."""
    async with asyncio.timeout(PATIENCE):
        while desktop.phase() == "asked":
            picture = await asyncio.to_thread(desktop.photograph, shot)
            if place := button(picture, LIGHT.accent) or button(picture, LIGHT.accent_ink):
                desktop.click(*place)


@pytest.mark.parametrize("way", WAYS)
async def test_a_real_agent_waits_for_the_click_and_reports_the_output(
    desktop: Desktop, folder: Path, way: str
) -> None:
    one, other = random.randrange(10**6), random.randrange(10**6)
    code = f"one, other = {one}, {other}\nprint('sum:', one + other)\n"
    async with asking(desktop, folder, way, code) as process:
        await approve(desktop, SHOTS / f"agent-{way}-asked.png")
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
    desktop.press(HISTORY)
    await asyncio.to_thread(desktop.photograph, SHOTS / f"agent-{way}-recorded.png")
    assert process.returncode == 0, err.decode()
    assert out.decode().startswith(SAID)
    assert f"sum: {one + other}" in out.decode()
    assert desktop.quit() == 0
    (record,) = desktop.records()
    assert (record.request.agent, record.request.code) == (way, code)
    assert record.decision is not None
    assert (record.decision.verdict, record.decision.by) == (Verdict.APPROVED, Decider.PERSON)
    assert verify(desktop.places.ledger).ok


@pytest.mark.parametrize("way", WAYS)
async def test_the_question_of_a_real_agent_that_is_killed_is_withdrawn(
    desktop: Desktop, folder: Path, way: str
) -> None:
    async with asking(desktop, folder, way, "print('never')") as process:
        kill(process)
        await until(lambda: desktop.phase() == "closed")
    assert desktop.quit() == 0
    (record,) = desktop.records()
    assert record.decision is not None
    assert record.decision.verdict is Verdict.WITHDRAWN
    assert record.result is None
