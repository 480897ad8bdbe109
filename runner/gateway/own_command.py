"""The `assent` that is running, as others start it. Standard library only, and little: the stdio bridge uses it."""

from __future__ import annotations

import os
import shlex
import sys

from runner.system import installed


def own_command() -> str:
    """Return `own_program` as a shell takes it."""
    return shlex.quote(own_program())


def typed_command() -> str:
    """Return what a person types for the `assent` that is running: that name where a shell finds it, else its path."""
    import shutil  # takes longer than all else here

    found, own = shutil.which("assent"), own_program()
    return "assent" if found is not None and os.path.realpath(found) == os.path.realpath(own) else shlex.quote(own)


def own_program() -> str:
    """Return the full path of the `assent` that is running, for clients have a shorter PATH or know no checkout."""
    if packaged := installed.command():
        return packaged
    beside = os.path.join(os.path.dirname(sys.executable), "assent")
    if os.access(beside, os.X_OK):
        return beside
    import shutil

    found = shutil.which("assent")
    return os.path.abspath(found) if found else "assent"
