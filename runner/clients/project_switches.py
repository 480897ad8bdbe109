"""The files of a project that keep a client's hook from being asked. Standard library only: hooks look for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.clients.client_file import values_of
from runner.clients.entries import projects
from runner.clients.hook_protocol import HOOK_FAILED
from runner.model.errors import KnownError
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.clients.hooks import Hook, Switch


class Found(NamedTuple):
    """A switch that is in a project."""

    path: Path
    switch: Switch

    @property
    def sentence(self) -> str:
        """Return what the file does."""
        value = f" ({'.'.join(self.switch.keys)})" if self.switch.keys else ""
        return f"{self.path}{value} {self.switch.harm.does}"


def found_in(hook: Hook, folder: str, home: Path) -> Iterator[Found]:
    """Yield what is in the project around `folder`: up to the top of its repository, below the home folder."""
    for project in projects(folder):
        if project == home or project.parent == project:
            return
        for switch in hook.switches:
            for path in sorted(project.glob(switch.file)) if "*" in switch.file else (project / switch.file,):
                if _counts(switch, path):
                    yield Found(path, switch)
        if (project / ".git").exists():
            return


def _counts(switch: Switch, path: Path) -> bool:
    if not path.is_file():
        return False
    if not switch.keys:
        return not _is_ours(path)
    value = values_of(path)
    for key in switch.keys:
        value = value.get(key) if isinstance(value, dict) else None
    return switch.counts(value)


def _is_ours(path: Path) -> bool:
    """Return whether `connect` has put it there."""
    try:
        return HOOK_FAILED.encode() in read_file(path)
    except (OSError, KnownError):
        return False
