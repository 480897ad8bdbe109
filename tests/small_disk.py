"""A small file system that a test can fill."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 2 MB."""
    room = tmp_path / "disk"
    room.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(room)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs to be root")
    try:
        yield room
    finally:
        subprocess.run(["umount", "--lazy", str(room)], check=True)


def fill(room: Path) -> Path:
    """Take all the room there is."""
    ballast = room / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return ballast
