"""Claude Code and Codex, each pointed at a model on loopback and at Assent alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.components import AGENTS

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.path.mock_model import Model

WAYS = {
    "claude-bridge": "Claude Code",
    "claude-http": "Claude Code by HTTP",
    "codex-bridge": "Codex",
    "codex-http": "Codex by HTTP",
}
"""Program and way -> the configuration that Assent hands out for it."""


def claude(folder: Path, model: Model, configured: str, prompt: str) -> tuple[list[str], dict[str, str]]:
    """Command and environment of Claude Code, which knows nothing but its configuration."""
    file = folder / "mcp.json"
    file.write_text(configured)
    words = ["-p", prompt, "--mcp-config", str(file), "--strict-mcp-config"]
    command = [str(AGENTS / "claude"), *words, "--allowedTools", "mcp__assent"]
    return command, {
        "CLAUDE_CONFIG_DIR": str(folder),
        "ANTHROPIC_BASE_URL": model.address,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def codex(folder: Path, model: Model, configured: str, prompt: str) -> tuple[list[str], dict[str, str]]:
    """The same for Codex."""
    provider = (
        'model = "mock"\nmodel_provider = "mock"\n\n[model_providers.mock]\nname = "mock"\n'
        f'base_url = "{model.address}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n\n'
    )
    (folder / "config.toml").write_text(provider + configured)
    command = [str(AGENTS / "codex"), "exec", "--skip-git-repo-check", prompt]
    return command, {"CODEX_HOME": str(folder), "MOCK_KEY": "none"}


@asynccontextmanager
async def started(way: str, folder: Path, model: Model, configured: str, prompt: str) -> AsyncIterator[Process]:
    """The program of `way`, with `folder` for its home; it and all that it started end with the context."""
    program = claude if way.startswith("claude") else codex
    command, environment = program(folder, model, configured, prompt)
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
        yield process
    finally:
        kill(process)
        await process.wait()


def kill(process: Process) -> None:
    """kill -9 of the program and of all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
