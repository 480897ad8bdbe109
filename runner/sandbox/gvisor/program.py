"""The program `runsc`: where it is, which one, and how it is called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.local import trusted

if TYPE_CHECKING:
    from pathlib import Path

NAME = "runsc"
VERSION = re.compile(r"runsc version (?:release-)?([0-9][0-9A-Za-z.+~-]{0,40})")
ASK_SECONDS = 10.0
OVERLAY_SINCE = 2023
"""Year from which runsc puts files written to the root of a container beside the image unless an option forbids it."""
ABSENT = KnownError("gVisor (the program runsc) is not installed.", "Install the package runsc: apt-get install runsc")
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
        try:
            done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=ASK_SECONDS, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            raise KnownError(f"{path} cannot be started: {error}.", "Install the package runsc again.") from error
        said = VERSION.search(done.stdout)
        if done.returncode or said is None:
            raise KnownError(f"{path} is not gVisor's runsc.", "Install the package runsc.")
        return cls(path, said[1])

    def words(self, state: Path) -> list[str]:
        """Return the beginning of every command about containers whose state is in the folder `state`.

        No network of any kind, no control group of its own, and nothing written beside the image. Root needs no user
        namespace of its own making; an ordinary user gets one in which he alone is mapped.
        """
        words = [self.path, f"--root={state}", "--network=none"]
        words.append("--ignore-cgroups" if os.geteuid() == 0 else "--rootless")
        year = re.search(r"20[0-9]{2}", self.version)
        if year is None or int(year[0]) >= OVERLAY_SINCE:
            words.append("--overlay2=none")
        return words


def located() -> str:
    """Return the path of the runsc that would be used, which only root can replace; '' where there is none."""
    return trusted.find(NAME)
