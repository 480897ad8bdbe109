"""Fresh home folders in which a real program is connected by `assent connect` and works with a model on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.clients import known
from runner.clients.client import TOKEN_VARIABLE
from runner.clients.known import CLAUDE, CODEX, GEMINI
from runner.system.places import Places
from tests.components import AGENTS
from tests.path.programs import PROVIDER, kill, variables

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.path.mock_model import Answering

PROMPT = "Do it."
ADDRESS = re.compile('base_url = ".*"')
OWN_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
}


@dataclass(frozen=True, slots=True)
class Shell:
    """A program's own shell: the tool and the argument that its command is in."""

    tool: str
    argument: str


SHELLS = {
    CLAUDE: Shell("Bash", "command"),
    CODEX: Shell("exec_command", "cmd"),
    GEMINI: Shell("run_shell_command", "command"),
}
CLIENTS = tuple(SHELLS)
EDITS = {CLAUDE: "Write", GEMINI: "write_file"}
"""Tool that writes a file. Codex has one for models that it knows."""
UNASKED = {
    CLAUDE: ("--dangerously-skip-permissions",),
    CODEX: ("--dangerously-bypass-approvals-and-sandbox",),
    GEMINI: ("--approval-mode", "yolo"),
}
CONFIGURATION = {CLAUDE: ".claude.json", CODEX: ".codex/config.toml", GEMINI: ".gemini/settings.json"}
"""File below the home folder in which a client names the bridge."""


class Account:
    """An account with one client and a folder to work in. `standard` has Assent's folders where they usually are."""

    def __init__(self, client: str, root: Path, *, standard: bool = True) -> None:
        self.client = client
        self.home = root / "home"
        self.work = self.home / "wo rk"
        self.work.mkdir(parents=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        state = self.home / ".local/state/assent"
        self.places = Places(
            self.home / ".config/assent", self.home / ".local/share/assent", state, state, home=self.home
        )
        if not standard:
            self.places = Places.under(self.home / "assent")
            self.environment["ASSENT_HOME"] = str(self.home / "assent")

    @property
    def configuration(self) -> Path:
        return self.home / CONFIGURATION[self.client]

    def prepare(self, model: Answering) -> None:
        """Write what the client needs besides Assent: where its model is. May be called again for another model."""
        self.configuration.parent.mkdir(exist_ok=True)
        if self.client == CODEX:
            there = self.configuration.read_text() if self.configuration.exists() else PROVIDER.format("")
            self.configuration.write_text(ADDRESS.sub(f'base_url = "{model.address}/v1"', there))
        elif self.client == GEMINI and not self.configuration.exists():
            self.configuration.write_text(json.dumps(OWN_SETTINGS))

    def connect(self, *more: str) -> str:
        """Run `assent connect`; return what it says."""
        command = [sys.executable, "-m", "app", "connect", self.client, "--yes", "--no-wait", *more]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True)
        return done.stdout

    def token(self) -> str:
        """Return the token in the client's configuration."""
        return self.configuration.read_text().partition(TOKEN_VARIABLE)[2].split('"')[2 if self._is_json else 1]

    @property
    def _is_json(self) -> bool:
        return self.configuration.suffix == ".json"

    @asynccontextmanager
    async def started(self, model: Answering, *more: str, unasked: bool = False) -> AsyncIterator[Process]:
        """The program at work; it and all that it started end with the context. `unasked`: it asks nobody itself."""
        command = [*_command(self.client), *more, *(UNASKED[self.client] if unasked else ())]
        process = await asyncio.create_subprocess_exec(
            *command,
            env={"PATH": self.environment["PATH"], "HOME": str(self.home), **variables(self.client, model)},
            cwd=self.work,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            kill(process)
            # Read, for a program that was killed cannot be waited for while its output is not.
            await process.communicate()

    def shell(self, command: str) -> tuple[str, dict[str, str]]:
        """Return the call of the client's own shell that carries out `command`."""
        own = SHELLS[self.client]
        return own.tool, {own.argument: command}


def interrupt(process: Process) -> None:
    """Ctrl+C at the terminal of the program."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)


def _command(client: str) -> list[str]:
    match client:
        case known.CLAUDE:
            return [str(AGENTS / "claude"), "-p", PROMPT]
        case known.CODEX:
            return [str(AGENTS / "codex"), "exec", "--skip-git-repo-check", PROMPT]
        case _:
            # Else it asks its model which model to ask.
            return [str(AGENTS / "gemini"), "--prompt", PROMPT, "--model", "gemini-2.5-flash"]
