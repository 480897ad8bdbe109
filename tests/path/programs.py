"""Real agent programs, each pointed at a model on loopback and at Assent alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients import known
from tests.components import AGENTS

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

    from tests.path.mock_model import Answering

WAYS = {
    "claude-bridge": "Claude Code",
    "claude-http": "Claude Code by HTTP",
    "codex-bridge": "Codex",
    "codex-http": "Codex by HTTP",
}
"""Program and way -> the configuration that Assent hands out for it."""


PROVIDER = (
    'model = "mock"\nmodel_provider = "mock"\n\n[model_providers.mock]\nname = "mock"\n'
    'base_url = "{}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n\n'
)
"""How Codex finds a model, by the root of its interface."""


def variables(client: str, model: Answering) -> dict[str, str]:
    """Return what a client needs to reach `model` and nothing else."""
    match client:
        case known.CLAUDE:
            return {
                "ANTHROPIC_BASE_URL": model.address,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "IS_SANDBOX": "1",
            }
        case known.CODEX:
            return {"MOCK_KEY": "none"}
        case _:
            return {
                "GOOGLE_GEMINI_BASE_URL": model.address,
                "GEMINI_API_KEY": "none",
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                "GEMINI_CLI_NO_RELAUNCH": "true",
            }


def claude(folder: Path, model: Answering, configured: str, prompt: str) -> tuple[list[str], dict[str, str]]:
    """Command and environment of Claude Code, which knows nothing but its configuration."""
    file = folder / "mcp.json"
    file.write_text(configured)
    words = ["-p", prompt, "--mcp-config", str(file), "--strict-mcp-config"]
    command = [str(AGENTS / "claude"), *words, "--allowedTools", "mcp__assent"]
    return command, {"CLAUDE_CONFIG_DIR": str(folder), **variables(known.CLAUDE, model)}


def codex(folder: Path, model: Answering, configured: str, prompt: str) -> tuple[list[str], dict[str, str]]:
    """The same for Codex."""
    (folder / "config.toml").write_text(PROVIDER.format(model.address) + configured)
    command = [str(AGENTS / "codex"), "exec", "--skip-git-repo-check", prompt]
    return command, {"CODEX_HOME": str(folder), **variables(known.CODEX, model)}


@asynccontextmanager
async def started(way: str, folder: Path, model: Answering, configured: str, prompt: str) -> AsyncIterator[Process]:
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


def end_those_at(home: str) -> None:
    """kill -9 of what a program left running with this folder for its home, in a session of its own."""
    mark = f"HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
