"""How processes share the tests: file by file, and those on the container engine all in one process.

There is one engine then, its tests do not compete for it, and what the tests of a file share is made once. Of xdist
itself, `--dist loadgroup` would do that; with pytest 9.2 it sends every test wherever there is room.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest

ON_THE_ENGINE = ("containers", "contract", "security")
"""Folders of tests that need the container engine, and mostly wait for it."""
LONGEST = (*ON_THE_ENGINE, "path", "gui", "sandbox", "gateway", "commands", "risk")
"""Folders that take long, the longest first: what comes last is short, so that all processes end together."""


class SharedByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a process another file once it is almost through with the last one, in the order of the collection."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        """Return what goes to one process with this test."""
        file = nodeid.partition("::")[0]
        return "engine" if folder_of(file) in ON_THE_ENGINE else file


def folder_of(file: str) -> str:
    """Return the folder below `tests`; "" for a file that is in none."""
    parts = PurePosixPath(file).parts
    return parts[1] if len(parts) > 2 else ""


def turn(nodeid: str) -> int:
    """Return when a test is to come; what takes long is first."""
    folder = folder_of(nodeid.partition("::")[0])
    return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)
