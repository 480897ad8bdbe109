"""The facts about one client: its programs, its files, and what connects it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.entries import ENTRIES
from runner.clients.hook_protocol import HOOK_FAILED
from runner.clients.hooks import HOOKS, QUICK
from runner.clients.programs import PROGRAMS
from runner.gateway.own_command import own_program
from runner.gateway.snippets import LONG_HOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.clients.entries import BridgeEntry
    from runner.clients.hooks import Hook
    from runner.clients.settings_change import FileEdits

HOOK_SECONDS = 600
"""Time limit of a hook in its client. `assent hook` ends well before."""
HOLD, TOKEN_VARIABLE = "ASSENT_HOLD", "ASSENT_TOKEN"
MORE_PLACES = (".local/bin", "bin", ".npm-global/bin", ".claude/local", ".bun/bin", ".volta/bin")
"""Folders below the home folder in which programs are that a desktop's PATH lacks."""


class ConfigScope(StrEnum):
    """Where a configuration counts."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Setup:
    """The circumstances of one connection. `token` is that of the agent, or stands for one that is not made yet."""

    token: str
    home: Path
    environment: Mapping[str, str]
    scope: ConfigScope = ConfigScope.USER
    folder: Path = Path()
    """The project."""
    hook: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the bridge needs to find a console whose folders are not the usual ones."""
    program: str = field(default_factory=own_program)

    def bridge(self, hold: int = LONG_HOLD) -> dict[str, object]:
        """Return how the stdio bridge is started, as most clients write it."""
        environment = {TOKEN_VARIABLE: self.token, HOLD: str(hold), **self.variables}
        return {"command": self.program, "args": ["mcp"], "env": environment}

    def hook_command(self, client: str) -> str:
        """Return the command of a hook that denies however it ends.

        Clients run the tool when a hook crashes or is missing, and some when nothing was said on standard error. They
        also hand on variables that a file of the project sets, so that it gets those alone that stand here.
        """
        words = ["/usr/bin/env", "-i", f"HOME={self.home}", "PATH=/usr/bin:/bin"]
        for variable in sorted({ENTRIES[client].file.variable, HOOKS[client].settings.variable} - {""}):
            # Which folder its configuration is in: there the hook finds its token.
            if (chosen := self.environment.get(variable, "")).startswith("/"):
                words.append(f"{variable}={chosen}")
        words += ["/bin/sh", str(QUICK), HOOKS[client].members.tool, client, self.program, "hook", client]
        if home := self.variables.get("ASSENT_HOME"):
            words += ["--home", home]
        return f'{shlex.join(words)} || {{ echo "{HOOK_FAILED}" >&2; exit 2; }}'


def entry_of(setup: Setup, client: str) -> tuple[Path, tuple[str, ...]]:
    """Return file and path of the entry that names the bridge of `client`."""
    entry = ENTRIES[client]
    if setup.scope is ConfigScope.USER or not entry.has_projects:
        return entry.of_account(setup.environment, setup.home)
    return entry.of_project(setup.environment, setup.home, setup.folder)


@dataclass(frozen=True, slots=True)
class Client:
    """A program that agents run in. `files` returns what is to be set for a `Setup`."""

    id: str
    name: str
    files: Callable[[Setup], tuple[FileEdits, ...]]
    after: str = ""
    """What is left for the person to do."""

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of its programs."""
        return PROGRAMS[self.id]

    @property
    def entry(self) -> BridgeEntry:
        """Where it has the entry that names the bridge."""
        return ENTRIES[self.id]

    @property
    def hook(self) -> Hook | None:
        """How it asks before it uses its own tools; None where it has no hook that says no reliably."""
        return HOOKS.get(self.id)

    def server(self, setup: Setup) -> tuple[Path, tuple[str, ...]]:
        """Return file and path of the entry that names the bridge."""
        return entry_of(setup, self.id)

    def too_old(self, home: Path, environment: Mapping[str, str]) -> str:
        """Return why the installed program does not heed its hook; '' where it does, or cannot be asked."""
        if self.hook is None or not self.hook.since or not (program := self.found(home, environment)):
            return ""
        try:
            said = subprocess.run([program, "--version"], capture_output=True, check=False, timeout=10).stdout
        except (OSError, subprocess.SubprocessError):
            return ""
        numbers = re.search(rb"(?<!\d)(\d{1,9})\.(\d{1,9})", said)
        if numbers is None or tuple(map(int, numbers.groups())) >= self.hook.since:
            return ""
        needed = ".".join(map(str, self.hook.since))
        return f"{program} is version {numbers[0].decode()}; before {needed} it runs its tools whatever a hook says."

    def found(self, home: Path, environment: Mapping[str, str]) -> str:
        """Return the path of its program; '' where it is not installed."""
        beside = os.pathsep.join(str(home / folder) for folder in MORE_PLACES)
        path = os.pathsep.join(filter(None, (environment.get("PATH", ""), beside)))
        return next((found for name in self.programs if (found := shutil.which(name, path=path))), "")
