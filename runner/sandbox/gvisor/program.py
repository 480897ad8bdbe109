"""The program `runsc`: where it is, which one, and how it is called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.container.trial import GET, SINCE, TOO_OLD
from runner.sandbox.local import trusted
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

NAME = "runsc"
VERSION = re.compile(r"runsc version (?:release-)?([0-9][0-9A-Za-z.+~-]{0,40})")
ASK_SECONDS = 10.0
YEAR = re.compile(r"(20[0-9]{2})(?:0[1-9]|1[0-2])[0-9]{2}")
"""In the date that is a version: `0.0~20221219.0`, `release-20240729.0`."""
ABSENT = KnownError("gVisor (the program runsc) is not installed.", GET)
MORTAL = ("setpriv", "--pdeathsig", "KILL", "--")
"""Begins a command that the kernel ends together with the thread that started it (setpriv(1), prctl(2))."""


@dataclass(frozen=True, slots=True)
class Runsc:
    """One installed runsc."""

    path: str
    version: str

    @classmethod
    def found(cls, path: str = "") -> Runsc:
        """Return the one at `path`, else the first that is installed. Blocks. Raises KnownError."""
        path = path or located()
        if not path:
            passed_over = trusted.elsewhere(NAME)
            raise KnownError(f"{ABSENT.what} {passed_over}", ABSENT.remedy) if passed_over else ABSENT
        if not shutil.which(MORTAL[0]):
            raise KnownError("gVisor needs the program setpriv to be started.", "Install the package util-linux.")
        version = version_of(path)
        if is_old(version):
            raise KnownError(f"{path}, version {version}, {TOO_OLD}.", GET)
        return cls(path, version)

    def words(self, state: Path) -> list[str]:
        """Return the beginning of every command about containers whose state is in the folder `state`.

        No network of any kind, no control group of its own, and nothing written beside the image. Root needs no user
        namespace of its own making; an ordinary user gets one in which he alone is mapped.
        """
        words = [self.path, f"--root={state}", "--network=none", "--overlay2=none"]
        words.append("--ignore-cgroups" if os.geteuid() == 0 else "--rootless")
        return words


def located() -> str:
    """Return the path of the runsc that would be used, which only root can replace; '' where there is none.

    The first that is recent enough, else the first. Blocks.
    """
    kept = str(Places.standard().runsc)
    paths = dict.fromkeys((*trusted.every(NAME), *([kept] if trusted.is_taken(kept) else [])))
    return next(filter(is_recent, paths), next(iter(paths), ""))


def is_recent(path: str) -> bool:
    """Return whether the program at `path` is a runsc that is not too old. Blocks."""
    try:
        return not is_old(version_of(path))
    except KnownError:
        return False


def is_old(version: str) -> bool:
    """Return whether a version is from before `SINCE`; of one that names no date the trial run tells."""
    year = YEAR.search(version)
    return year is not None and int(year[1]) < SINCE


def version_of(path: str) -> str:
    """Return the version of the runsc at `path`. Blocks. Raises KnownError where there is none."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=ASK_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise KnownError(f"{path} cannot be started: {error}.", "Install the package runsc again.") from error
    said = VERSION.search(done.stdout)
    if done.returncode or said is None:
        raise KnownError(f"{path} is not gVisor's runsc.", "Install the package runsc.")
    return said[1]
