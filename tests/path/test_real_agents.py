"""The programs people use: real Claude Code and real Codex ask, a real click approves, and they report the output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from app.demo.screen import virtual_screen
from app.look.tokens import LIGHT
from runner.audit.verify import verify
from runner.gateway import door
from runner.gateway.snippets import configurations
from runner.identity.agents import Agents
from runner.model.decision import Decider, Verdict
from tests.components import AGENTS, require
from tests.path.desktop import PATIENCE, Desktop, button, until
from tests.path.mock_model import SAID, serving

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Iterator

    from tests.path.mock_model import Model

pytestmark = pytest.mark.asyncio
SHOTS = Path("build/shots")
PROMPT = "Add the two numbers."
HISTORY = "ctrl+3"
WAYS = {
    "claude-bridge": "Claude Code",
    "claude-http": "Claude Code by HTTP",
    "codex-bridge": "Codex",
    "codex-http": "Codex by HTTP",
}
"""Program and way -> the configuration that Assent hands out for it."""


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    for component in ("agents", "screen", "bubblewrap"):
        require(component)
    with virtual_screen() as name:
        yield name


@pytest_asyncio.fixture
async def desktop(tmp_path: Path, display: str) -> AsyncIterator[Desktop]:
    desktop = Desktop(tmp_path / "home", display)
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
    opened = door.read(desktop.places)
    assert opened is not None
    token = Agents(desktop.places).add(way)
    bridge = f"env ASSENT_HOME={desktop.home} {sys.executable} -m app"
    offered = configurations(way, token, f"http://{opened.host}:{opened.port}/mcp", bridge)
    return next(snippet.text for snippet in offered if snippet.client == WAYS[way])


def claude(folder: Path, model: Model, configured: str) -> tuple[list[str], dict[str, str]]:
    """Command and environment of Claude Code, which knows nothing but its configuration."""
    file = folder / "mcp.json"
    file.write_text(configured)
    words = ["-p", PROMPT, "--mcp-config", str(file), "--strict-mcp-config"]
    command = [str(AGENTS / "claude"), *words, "--allowedTools", "mcp__assent__code_execute"]
    return command, {
        "CLAUDE_CONFIG_DIR": str(folder),
        "ANTHROPIC_BASE_URL": model.address,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def codex(folder: Path, model: Model, configured: str) -> tuple[list[str], dict[str, str]]:
    """The same for Codex."""
    provider = (
        'model = "mock"\nmodel_provider = "mock"\n\n[model_providers.mock]\nname = "mock"\n'
        f'base_url = "{model.address}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n\n'
    )
    (folder / "config.toml").write_text(provider + configured)
    command = [str(AGENTS / "codex"), "exec", "--skip-git-repo-check", PROMPT]
    return command, {"CODEX_HOME": str(folder), "MOCK_KEY": "none"}


@asynccontextmanager
async def asking(desktop: Desktop, folder: Path, way: str, code: str) -> AsyncIterator[Process]:
    """The program, made to ask; its question is on the screen."""
    arguments = {"language": "python", "title": "Add two numbers", "code": code}
    with serving(arguments) as model:
        program = claude if way.startswith("claude") else codex
        command, environment = program(folder, model, configuration(desktop, way))
        process = await asyncio.create_subprocess_exec(
            *command,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            await until(lambda: desktop.phase() == "asked" or process.returncode is not None)
            assert process.returncode is None, await process.communicate()
            yield process
        finally:
            kill(process)
            await process.wait()


def kill(process: Process) -> None:
    """kill -9 of the program and of all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


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
