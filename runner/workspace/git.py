"""git's own programs on data of a project, without the settings of its repository: nothing that these name is run."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from runner.sandbox.local import trusted
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SECONDS = 5.0
"""Time for one call."""


def make_folder_of_git(folder: Path) -> None:
    """Make an empty folder of git's, for `run`. Raises OSError."""
    for name in ("objects", "refs", "info"):
        make_folder(folder / name)
    (folder / "HEAD").write_text("ref: refs/heads/none\n", "utf-8")


def run(
    folder: Path, words: list[str], *, given: bytes = b"", at: Path | None = None, more: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    """Run git with `folder` for its repository; return exit code and output. -1 where it cannot run, or not in time."""
    if not (program := trusted.find("git")):
        return -1, b""
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_DIR": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        **(more or {}),
    }
    try:
        done = subprocess.run(
            [program, *words],
            cwd=at or folder,
            env=environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return -1, b""
    return done.returncode, done.stdout
