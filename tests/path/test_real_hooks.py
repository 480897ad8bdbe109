"""Real Claude Code and real Codex, connected by `assent connect --hook`, ask before their own shell runs anything."""

from __future__ import annotations

import asyncio
import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from runner.clients.connection import ClientConnections
from runner.clients.known import BY_ID
from runner.model.decision import Verdict
from runner.model.request import Tool
from runner.system.places import Places
from tests.commands.test_cli import Desk
from tests.components import AGENTS, require
from tests.path.desktop import PATIENCE
from tests.path.mock_model import SAID, serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.path.mock_model import Model

pytestmark = pytest.mark.asyncio
PROVIDER = (
    'model = "mock"\nmodel_provider = "mock"\n\n[model_providers.mock]\nname = "mock"\n'
    'base_url = "{}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n'
)


@dataclass
class Session:
    """What a client did with one shell command. `ran`: whether the command was carried out."""

    out: str
    ran: bool


async def session(client: str, home: Path, desk: Desk, verdict: Verdict | None) -> Session:
    """Let the client's model use its own shell, and answer the question; None where nobody is there to be asked."""
    work = home / "wo rk"
    work.mkdir()
    marker = work / "ran"
    command = f"touch {shlex.quote(str(marker))}; echo from-the-shell"
    arguments, tool = ({"command": command}, "Bash") if client == "claude-code" else ({"cmd": command}, "exec_command")
    environment = {"ASSENT_HOME": str(home / "assent")}
    connections = ClientConnections(desk.engine.parts.places, desk.engine.parts.agents, environment, home)
    with serving((tool, arguments)) as model:
        if client == "codex":
            (home / ".codex").mkdir()
            (home / ".codex/config.toml").write_text(PROVIDER.format(model.address))
        plan = connections.plan(BY_ID[client], connections.setup(hook=True))
        connections.connect(plan, desk.engine.parts.agents.add)
        words, more = started(client, model)
        process = await asyncio.create_subprocess_exec(
            *words,
            env={"PATH": os.environ["PATH"], "HOME": str(home), **more},
            cwd=work,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(2 * PATIENCE):
                if verdict is not None:
                    assert await desk.answer(verdict, "Not on a Friday.") == command
                out, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    return Session(out.decode(), marker.exists())


def started(client: str, model: Model) -> tuple[list[str], dict[str, str]]:
    """Command and environment of a client that itself would ask nobody."""
    if client == "claude-code":
        return [str(AGENTS / "claude"), "-p", "Do it.", "--dangerously-skip-permissions"], {
            "ANTHROPIC_BASE_URL": model.address,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }
    unasked = "--dangerously-bypass-approvals-and-sandbox"
    return [str(AGENTS / "codex"), "exec", "--skip-git-repo-check", unasked, "Do it."], {"MOCK_KEY": "none"}


@pytest.mark.parametrize("client", ["claude-code", "codex"])
@pytest.mark.parametrize("answer", ["yes", "no", "nobody"])
async def test_the_clients_own_shell_runs_only_what_was_approved(tmp_path: Path, client: str, answer: str) -> None:
    require("agents")
    desk = Desk(Places.under(tmp_path / "assent"))
    await desk.engine.start()
    try:
        if answer == "nobody":
            await desk.engine.close("the test leaves nobody there")
        verdict = {"yes": Verdict.APPROVED, "no": Verdict.DENIED, "nobody": None}[answer]
        done = await session(client, tmp_path, desk, verdict)
    finally:
        await desk.engine.close("the test is over")
    assert done.ran is (answer == "yes")
    assert done.out.startswith(SAID)
    said = {"yes": "from-the-shell", "no": "Not on a Friday.", "nobody": "not running"}[answer]
    assert said in done.out
    assert all(request.tool is Tool.CLIENT_SHELL for request in desk.requests.values())
    assert desk.sandbox.runs == []
