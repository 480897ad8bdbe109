"""gVisor without a container engine, as tests use it: the program `runsc`, and the images unpacked once."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from runner.model.request import Isolation
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.container.trial import SINCE
from runner.sandbox.gvisor.engine import DirectEngine
from runner.sandbox.gvisor.program import is_old, is_recent, located, version_of
from runner.sandbox.images.build import Builder
from runner.sandbox.images.folder_store import FolderStore
from tests import container_engine
from tests.container_engine import IMAGES, KEPT

OWN = KEPT.parent / "runsc"
"""Where `packaging/engine.sh` puts it."""
OLD = KEPT.parent / "runsc-old"
"""Where the one of this system's packages is kept, where that is one that Assent does not take."""


def program() -> str:
    """Its path. Where there is none, the test is skipped, or fails where everything is required."""
    for path in filter(None, (located(), str(OWN))):
        if is_recent(path):
            return path
    why = f"gVisor without an engine: no runsc of {SINCE} or later"
    if os.environ.get("ASSENT_REQUIRE_ALL"):
        pytest.fail(why)
    pytest.skip(why)


def old_program() -> Path:
    """One in which `ls -l` fails, out of this system's package; the test is skipped where that is a recent one."""
    if not OLD.exists():
        with tempfile.TemporaryDirectory() as made:
            fetch = "apt-get -o APT::Sandbox::User=root download -q runsc && dpkg -x runsc_*.deb ."
            done = subprocess.run(["sh", "-c", fetch], cwd=made, capture_output=True, check=False)
            file = Path(made) / "usr/bin/runsc"
            if done.returncode or not is_old(version_of(str(file))):
                pytest.skip("an old gVisor: the packages of this system have none")
            OLD.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, f"{OLD}.new")
            Path(f"{OLD}.new").rename(OLD)
    return OLD


@functools.cache
def images(names: tuple[str, ...] = IMAGES) -> FolderStore:
    """Return the folder with the images, in which those are that it did not have. It stays for the next time."""
    store = FolderStore(KEPT / "folders")
    container_engine.build(Builder(store, container_engine.root_file_systems(), KEPT), names)
    return store


def sandbox(root: Path, runsc: str = "") -> ContainerSandbox:
    """One whose containers have their folders in `root`; to be closed."""
    return ContainerSandbox(
        Isolation.GVISOR_DIRECT, OWN_IMAGES, DirectEngine(images(), runsc or program(), root), own=True
    )
