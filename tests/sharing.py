"""How processes share the tests: file by file, but those on the container engine all in one process.

Its tests mostly wait for the engine and do not compete for it, and what they share is made once. Those that start and
kill engines of their own are all in another process, and those of gVisor without an engine in a third: its kernels
take more of the processor the more of them compete for it. Of xdist itself, `--dist loadgroup` would do that; with
pytest 9.2 it sends every test wherever there is room.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest

ON_THE_ENGINE = ("containers", "contract")
"""Folders of tests that need the container engine, unless they are for the local sandbox."""
ALSO_ON_IT = ("security",)
"""Folders whose tests need it only where they are for a sandbox of it."""
SANDBOX = re.compile(r"::\w+\[(local|gvisor-direct|docker|gvisor)[-\]]")
"""The sandbox that a test is for, the first of its parameters (`tests.contract.conftest.KINDS`)."""
WITHOUT_ENGINE = ("local", "gvisor-direct")
OWN_ENGINES = (
    "tests/contract/test_engine_lost.py",
    "tests/containers/test_images.py",
    "tests/containers/test_engine.py",
    "tests/path/test_story.py",
)
"""Files whose tests start engines of their own."""
ENGINE, ENGINES, DIRECT = "engine", "engines of their own", "gVisor without an engine"
LONGEST = ("contract", "path", "security", "", "languages", "gui", "work", "workspace", "engine", "sandbox", "commands")
"""Folders with files that take long: what comes last is short, so that all processes end together. "" is `tests`."""


class SharedByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a process another file once it is almost through with the last one, in the order of the collection."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        """Return what goes to one process with this test."""
        return scope(nodeid)


def scope(nodeid: str) -> str:
    """Return the engine that a test needs, gVisor without one, or its file."""
    file = nodeid.partition("::")[0]
    if file in OWN_ENGINES:
        return ENGINES
    found, folder = SANDBOX.search(nodeid), folder_of(file)
    if found is not None and found[1] == "gvisor-direct" and folder in (*ON_THE_ENGINE, *ALSO_ON_IT):
        return DIRECT
    contained = found is not None and found[1] not in WITHOUT_ENGINE
    if (folder in ON_THE_ENGINE and (contained or found is None)) or (folder in ALSO_ON_IT and contained):
        return ENGINE
    return file


def folder_of(file: str) -> str:
    """Return the folder below `tests`; "" for a file that is in none."""
    parts = PurePosixPath(file).parts
    return parts[1] if len(parts) > 2 else ""


def turn(nodeid: str) -> int:
    """Return when a test is to come; what takes long is first."""
    wanted = scope(nodeid)
    if wanted in (ENGINE, ENGINES, DIRECT):
        return (ENGINE, ENGINES, DIRECT).index(wanted)
    folder = folder_of(wanted)
    return 3 + (LONGEST.index(folder) if folder in LONGEST else len(LONGEST))
