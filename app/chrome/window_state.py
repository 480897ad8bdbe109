"""The state of the window that outlives a session: size, place and theme. Nothing here decides anything."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

from runner.system.plain_file import open_file, read_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from pathlib import Path

WINDOW_STATE = "window.json"
"""Its file in the folder of the state."""


class Remembered:
    """A small JSON file. One that cannot be read or written is as good as none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError, RecursionError):
            read = json.loads(read_file(path).decode("utf-8"))
            if isinstance(read, dict):
                self._values = {key: value for key, value in read.items() if isinstance(value, str)}

    def get(self, name: str, default: str = "") -> str:
        return self._values.get(name, default)

    def set(self, name: str, value: str) -> None:
        self._values[name] = value

    def save(self) -> None:
        """Write it down, all or nothing."""
        fresh = self._path.with_suffix(".new")
        with contextlib.suppress(OSError):
            make_folder(self._path.parent)
            with open(open_file(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as stream:
                json.dump(self._values, stream)
            fresh.replace(self._path)
