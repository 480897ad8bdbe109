"""Valid paths in a sandbox's workspace (spec F1)."""

from __future__ import annotations

import unicodedata

from runner.model.errors import Refused

WORKSPACE = "/workspace"
LONGEST_PATH = 1_024
"""Bytes of a path; the kernel's own bound (PATH_MAX) is 4,096."""
LONGEST_PART = 255
"""Bytes of one name in it (NAME_MAX of Linux)."""
DEEPEST = 32
HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories of invisible characters."""


def inside(path: str) -> str:
    """Return `path` relative to the workspace, `.` for the workspace itself.

    Raises Refused for a path that leads out of it or cannot be shown. This checks the text alone; the code that
    opens the file deals with links.
    """
    if not path.strip():
        raise Refused("The path is empty.", f"Name a file below {WORKSPACE}.")
    if len(path) > LONGEST_PATH:
        raise _too_long()
    if any(unicodedata.category(one) in HIDDEN for one in path):
        raise Refused("The path holds characters that cannot be seen.", "Use a plain name.")
    if path.startswith("/") and path != WORKSPACE and not path.startswith(WORKSPACE + "/"):
        raise Refused(f"{path[:100]!a} is not below {WORKSPACE}.", f"Only files below {WORKSPACE} can be used.")
    below = path.removeprefix(WORKSPACE) if path.startswith("/") else path
    parts = [part for part in below.split("/") if part not in ("", ".")]
    _check(path, parts)
    return "/".join(parts) or "."


def _check(path: str, parts: list[str]) -> None:
    """Raise Refused for a path that leaves the workspace, is too long or too deep."""
    if ".." in parts:
        raise Refused(f"{path[:100]!a} contains `..`.", f"Name the place directly, below {WORKSPACE}.")
    if len(path.encode()) > LONGEST_PATH or any(len(part.encode()) > LONGEST_PART for part in parts):
        raise _too_long()
    if len(parts) > DEEPEST:
        raise Refused(f"The path has {len(parts)} levels; at most {DEEPEST} are taken.", "Use fewer folders.")


def _too_long() -> Refused:
    return Refused("The path is too long.", f"At most {LONGEST_PATH:,} bytes, {LONGEST_PART} in each name.")
