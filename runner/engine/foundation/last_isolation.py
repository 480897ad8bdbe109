"""The kind of sandbox that code ran in last, remembered over restarts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.model.request import Isolation
from runner.system.durable import replace_file
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1000
NAME = "isolation"


class LastIsolation:
    """The file that remembers it. All methods block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Isolation | None:
        """Return it; None where nothing was remembered yet.

        A file that cannot be read may not hide that the sandbox is a weaker one now: it counts as gVisor.
        """
        try:
            return Isolation(json.loads(read_file(self._path, MOST_BYTES))[NAME])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return Isolation.GVISOR

    def write(self, isolation: Isolation) -> None:
        """Remember `isolation`; durable when this returns. Raises OSError."""
        replace_file(self._path, json.dumps({NAME: isolation.value}) + "\n")

    def forget(self) -> None:
        """Remember none. Raises OSError."""
        self._path.unlink(missing_ok=True)
