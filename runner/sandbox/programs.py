"""The small programs that Assent starts inside sandboxes, and the filters of system calls around them.

All are read when this module is loaded: an update replaces the files of an open console, and what belongs to the
next version must not be started by this one.
"""

from __future__ import annotations

import contextlib
from errno import ENOENT
from pathlib import Path

from runner.system.places import resources


class _Folder:
    """The texts of its files, as they were when it was read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts: dict[str, str] = {}
        # One that is not there is an incomplete installation, which is for whoever needs a file of it to say.
        with contextlib.suppress(OSError):
            self._texts = {file.name: file.read_text("utf-8") for file in path.iterdir() if file.is_file()}

    def __getitem__(self, name: str) -> str:
        try:
            return self._texts[name]
        except KeyError:
            raise FileNotFoundError(ENOENT, "was not there when Assent was opened", str(self._path / name)) from None


_HERE = Path(__file__).parent
_INSIDE = _Folder(_HERE / "inside")
_CONTAINER = _Folder(_HERE / "container" / "inside")
_REMOTE = _Folder(_HERE / "remote" / "inside")
_SECCOMP = _Folder(resources() / "seccomp")


def inside(name: str) -> str:
    """Return the text of a program of the folder `inside`, for sandboxes of every kind."""
    return _INSIDE[name]


def script(name: str) -> str:
    """Return the text of a program that only containers need, of `container/inside`."""
    return _CONTAINER[name]


def remote(name: str) -> str:
    """Return the text of a program that only sandboxes of E2B need, of `remote/inside`."""
    return _REMOTE[name]


def seccomp(name: str) -> str:
    """Return a table of system calls, as JSON."""
    return _SECCOMP[name]
