"""The small programs that Assent starts inside sandboxes, and the filters of system calls around them.

All are read when this module is loaded: an update replaces the files of an open console, and what belongs to the
next version must not be started by this one.
"""

from __future__ import annotations

from pathlib import Path

from runner.system.places import resources


def _texts(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.is_file()}


_HERE = Path(__file__).parent
_INSIDE = _texts(_HERE / "inside")
_CONTAINER = _texts(_HERE / "container" / "inside")
_SECCOMP = _texts(resources() / "seccomp")


def inside(name: str) -> str:
    """Return the text of a program of the folder `inside`, for sandboxes of every kind."""
    return _INSIDE[name]


def script(name: str) -> str:
    """Return the text of a program that only containers need, of `container/inside`."""
    return _CONTAINER[name]


def seccomp(name: str) -> str:
    """Return a table of system calls, as JSON."""
    return _SECCOMP[name]
