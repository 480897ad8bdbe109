"""Settings of the whole machine that a project cannot override: with them a project cannot switch the hook off."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.settings_change import SYNTAXES
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class ManagedSettings:
    """A file of the administrator, the value that makes it hold, and its text where there is no file yet."""

    path: Path
    keys: Sequence[str]
    value: object
    text: str

    @property
    def in_force(self) -> bool:
        """Whether it is there with the value."""
        try:
            found: object = SYNTAXES[self.path.suffix].read(self.path.read_text("utf-8"))
        except (OSError, ValueError, KnownError):
            return False
        for key in self.keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found is self.value

    @property
    def command(self) -> str:
        """Return the command that writes it, or what to add to the file that is there."""
        where = shlex.quote(str(self.path))
        if self.path.exists():
            return f"sudo editor {where}   # add: {self.text.strip()}"
        return f"printf '%s\\n' {shlex.quote(self.text.strip())} | sudo install -D -m 644 /dev/stdin {where}"


MANAGED = {
    "claude-code": ManagedSettings(
        Path("/etc/claude-code/managed-settings.json"),
        ("disableAllHooks",),
        False,
        '{"disableAllHooks": false}',
    ),
    "codex": ManagedSettings(
        Path("/etc/codex/requirements.toml"), ("features", "hooks"), True, "[features]\nhooks = true"
    ),
}
"""By the id of a client. In Gemini CLI a project can name a hook to be left out, whatever else is set."""


def advice(client: str, name: str) -> str:
    """Return what to say of the managed settings after a hook was installed."""
    project = f"A file in a project can switch the hooks of {name} off, and an agent can write that file."
    if (managed := MANAGED.get(client)) is None:
        return f"{project} Nothing is known that prevents it."
    if managed.in_force:
        return f"{managed.path} keeps projects from switching the hook off."
    return f"{project} This prevents it, for an administrator to run:\n\n    {managed.command}\n"
