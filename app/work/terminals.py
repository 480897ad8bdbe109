"""The desktop's terminal, started with a command in a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TERMINALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("xdg-terminal-exec", ()),
    ("x-terminal-emulator", ("-e",)),
    ("gnome-terminal", ("--",)),
    ("ptyxis", ("--new-window", "--")),
    ("konsole", ("-e",)),
    ("xfce4-terminal", ("-x",)),
    ("kitty", ()),
    ("foot", ()),
    ("alacritty", ("-e",)),
    ("xterm", ("-e",)),
)
"""Programs, the desktop's own choice first, and what stands before the command."""
KEEP_OPEN = 'cd -- "$1" && shift && "$@"; printf "\\nIt has ended. "; exec "${SHELL:-/bin/sh}"'
"""Runs the command in the folder, and leaves a shell behind: what it said last can be read."""


def found(environment: Mapping[str, str]) -> str:
    """Return the path of a terminal; '' where there is none."""
    paths = (shutil.which(name, path=environment.get("PATH")) for name, _ in TERMINALS)
    return next(filter(None, paths), "")


def start(terminal: str, folder: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Open `terminal` with `command` in `folder`. Raises KnownError."""
    before = dict(TERMINALS)[os.path.basename(terminal)]
    try:
        # By a shell that ends at once: the terminal is nobody's child here, and outlives this window.
        subprocess.run(
            (
                "/bin/sh",
                "-c",
                '"$@" &',
                "assent",
                terminal,
                *before,
                "/bin/sh",
                "-c",
                KEEP_OPEN,
                "assent",
                folder,
                *command,
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_outside(environment),
            cwd=folder,
            start_new_session=True,
            check=False,
        )
    except OSError as error:
        raise KnownError(
            tr("The terminal could not be started: {strerror}.", strerror=error.strerror),
            tr("Paste the line into one."),
        ) from error


def _outside(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment as other programs are to have it: a bundle looks for libraries in its own folder."""
    made = dict(environment)
    before = made.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        made["LD_LIBRARY_PATH"] = before
    return made
