"""gVisor without a container engine, as tests use it: the program `runsc`, and the images unpacked once."""

from __future__ import annotations

import asyncio
import functools
import os
import re
import subprocess
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Isolation
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.gvisor.engine import DirectEngine
from runner.sandbox.gvisor.program import located
from runner.sandbox.images.build import Builder, ImageState
from runner.sandbox.images.folder_store import FolderStore
from runner.sandbox.images.recipe import recipe
from tests.container_engine import IMAGES, KEPT, root_file_systems

if TYPE_CHECKING:
    from pathlib import Path

OWN = KEPT.parent / "runsc"
"""Where `packaging/engine.sh` puts it."""
LEAST_YEAR = 2024
"""Under gVisor of 2022, which Debian 12 has, `ls -l` of coreutils 9.7 fails with "Invalid argument"."""


def program() -> str:
    """Its path. Where there is none, the test is skipped, or fails where everything is required."""
    for path in filter(None, (located(), str(OWN))):
        if _year(path) >= LEAST_YEAR:
            return path
    why = f"gVisor without an engine: no runsc of {LEAST_YEAR} or later"
    if os.environ.get("ASSENT_REQUIRE_ALL"):
        pytest.fail(why)
    pytest.skip(why)


@functools.cache
def _year(path: str) -> int:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0
    found = re.search(r"20[0-9]{2}", said)
    return int(found[0]) if found else 0


@functools.cache
def images() -> FolderStore:
    """Those that tests need, in a folder that stays for the next time."""
    store = FolderStore(KEPT / "folders")
    maker = Builder(store, root_file_systems(), KEPT)

    async def body() -> None:
        for one in map(recipe, IMAGES):
            if await maker.state(one) is not ImageState.READY:
                async with aclosing(maker.build(one)) as steps:
                    async for _ in steps:
                        pass

    asyncio.run(body())
    return store


def sandbox(root: Path) -> ContainerSandbox:
    """One whose containers have their folders in `root`; to be closed."""
    return ContainerSandbox(Isolation.GVISOR_DIRECT, OWN_IMAGES, DirectEngine(images(), program(), root), own=True)
