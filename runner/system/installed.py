"""The folder of Assent where it was installed as a package or unpacked, and not run from a checkout."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

VERSION_FILE = "VERSION"
"""Written last when the folder is made; an update replaces it."""


def replaced() -> bool:
    """Return whether the files of this program were removed or updated since it started."""
    return not Path(__file__).is_file() or _version() != _AT_START


@cache
def folder() -> Path | None:
    """Return the folder that holds `assent`, its interpreter and its modules; None in a checkout."""
    above = Path(__file__).resolve().parents[3]
    return above if (above / VERSION_FILE).is_file() and (above / "start.py").is_file() else None


def modules() -> Path | None:
    """Return the folder of the modules that Assent carries for itself; None in a checkout."""
    above = folder()
    return None if above is None else above / "app"


def interpreter() -> str:
    """Return the interpreter that Assent carries, under its usual name; '' in a checkout."""
    above = folder()
    return "" if above is None else str(above / "python/bin/python3")


def libraries() -> Path | None:
    """Return the folder of the system libraries that the archive carries; None in a checkout."""
    above = folder()
    return None if above is None else above / "python/lib/system"


def command() -> str:
    """Return the full path that starts Assent; '' in a checkout. A link on the PATH is preferred: it stays the same."""
    above = folder()
    if above is None:
        return ""
    import shutil  # the stdio bridge of a checkout needs it not

    program = above / "assent"
    found = shutil.which("assent")
    return found if found and os.path.realpath(found) == os.path.realpath(program) else str(program)


def _version() -> str:
    above = folder()
    try:
        return "" if above is None else (above / VERSION_FILE).read_text("utf-8")
    except OSError:
        return ""


_AT_START = _version()
