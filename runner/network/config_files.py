"""The configuration files of package managers: read as text, without running anything."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 1 << 20
"""More of a file is not read: no configuration is that large."""


class Surroundings:
    """The environment variables and the home of whoever runs package managers here."""

    def __init__(self, environ: Mapping[str, str] | None = None, home: Path | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        self.home = home or Path(self.environ.get("HOME") or Path.home())
        self.problems: list[str] = []
        """Files that could not be read, in words."""

    def program(self, name: str) -> Path | None:
        """Return the place of a program, as it is found on PATH."""
        found = shutil.which(name, path=self.environ.get("PATH", ""))
        return Path(found) if found else None

    def path(self, written: str) -> str:
        """Return a path as it is meant in a configuration: `~` is the home."""
        return str(self.home / written[2:]) if written.startswith("~/") else written

    def text(self, path: Path) -> str:
        """Return what is in a file; empty where there is none or it cannot be read."""
        try:
            with path.open("rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            self.problems.append(f"{path} cannot be read: {error.strerror}.")
            return ""
