"""Test whether git would commit a file of a project: a token must not be written into such a file."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 10
QUIET = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""A repository may name programs that git would start; none is started for these questions."""


def check_not_committed(path: Path) -> None:
    """Raise KnownError where `path` belongs to a repository that does not ignore it."""
    top = next((folder for folder in path.parents if (folder / ".git").exists()), None)
    if top is None:
        return
    inside = path.relative_to(top)
    if not _says(top, "ls-files", "--error-unmatch", "--", str(inside)) and _says(
        top, "check-ignore", "-q", "--", str(inside)
    ):
        return
    line = shlex.quote(f"/{inside}")
    raise KnownError(
        f"{path} would be committed with the token in it. Nothing was changed.",
        f"Leave the scope `project` out, or have git ignore the file: cd {shlex.quote(str(top))} && echo {line} >> "
        f".git/info/exclude",
    )


def _says(top: Path, *words: str) -> bool:
    """Return whether git says yes. Raises KnownError where it says neither yes nor no."""
    try:
        done = subprocess.run(
            [*QUIET, "-C", str(top), *words],
            capture_output=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KnownError(f"git does not say whether files of {top} are committed. Nothing was changed.") from error
    if done.returncode not in (0, 1):
        raise KnownError(f"git does not say whether files of {top} are committed. Nothing was changed.")
    return done.returncode == 0
