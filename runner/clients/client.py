"""What is known of a client: its programs, its files, and what connects it."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.hook_protocol import HOOK_FAILED
from runner.gateway.snippets import LONG_HOLD, own_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.clients.settings_change import FileEdits

SERVER = "assent"
"""Name of the server in every configuration."""
HOOK_SECONDS = 600
"""Time limit of a hook in its client. `assent hook` ends well before."""
CONFIGURED_BY = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
"""Client -> variable that names the folder of its configuration, in which the hook finds its token."""
ISOLATED = "/usr/bin/env -i "
"""What the command of a hook begins with; one without it is of an earlier version."""
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

    def place(self, variable: str, default: str) -> Path:
        """Return the folder that an environment variable names, else the one below the home folder."""
        named = self.environment.get(variable, "")
        return Path(named) if named.startswith("/") else self.home / default

    def bridge(self, hold: int = LONG_HOLD) -> dict[str, object]:
        """Return how the stdio bridge is started, as most clients write it."""
        environment = {TOKEN_VARIABLE: self.token, HOLD: str(hold), **self.variables}
        return {"command": self.program, "args": ["mcp"], "env": environment}

    def hook_command(self, client: str) -> str:
        """Return the command of a hook that denies however it ends.

        Clients run the tool when a hook crashes or is missing, and some when nothing was said on standard error. They
        also hand on variables that a file of the project sets, so that it gets those alone that stand here.
        """
        words = [*ISOLATED.split(), f"HOME={self.home}", "PATH=/usr/bin:/bin"]
        variable = CONFIGURED_BY.get(client, "")
        if (chosen := self.environment.get(variable, "")).startswith("/"):
            words.append(f"{variable}={chosen}")
        words += [self.program, "hook", client]
        if home := self.variables.get("ASSENT_HOME"):
            words += ["--home", home]
        return f'{shlex.join(words)} || {{ echo "{HOOK_FAILED}" >&2; exit 2; }}'


@dataclass(frozen=True, slots=True)
class Client:
    """A program that agents run in. `files` returns what is to be set for a `Setup`."""

    id: str
    name: str
    programs: tuple[str, ...]
    files: Callable[[Setup], tuple[FileEdits, ...]]
    server: Callable[[Setup], tuple[Path, tuple[str, ...]]]
    """Returns file and path of the entry that names the bridge."""
    variables: str = "env"
    """Where an entry has the variables of the bridge."""
    after: str = ""
    """What is left for the person to do."""
    projects: bool = True
    """Whether it reads a configuration in a project."""
    hook: bool = False
    """Whether it has hooks that Assent knows."""

    def found(self, home: Path, environment: Mapping[str, str]) -> str:
        """Return the path of its program; '' where it is not installed."""
        beside = os.pathsep.join(str(home / folder) for folder in MORE_PLACES)
        path = os.pathsep.join(filter(None, (environment.get("PATH", ""), beside)))
        return next((found for name in self.programs if (found := shutil.which(name, path=path))), "")
