"""The person's name to git in a project, for commits of a contained program, which cannot see git's settings."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from runner.sandbox.local import trusted

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 2.0
"""Longest that git may take to say so; usually some milliseconds."""
_NAMES = {"user.name": "NAME", "user.email": "EMAIL"}


def variables(project: Path) -> dict[str, str]:
    """Return the variables by which git in `project` knows the person; those that git knows none for are missing.

    Reading a setting runs nothing that a repository names.
    """
    if not (program := trusted.find("git")):
        return {}
    passed = {name: os.environ[name] for name in ("XDG_CONFIG_HOME",) if name in os.environ}
    try:
        done = subprocess.run(
            [program, "-C", str(project), "config", "-z", "--get-regexp", r"^user\.(name|email)$"],
            env={"PATH": os.defpath, "HOME": os.path.expanduser("~"), "LC_ALL": "C", **passed},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = {}
    for setting in os.fsdecode(done.stdout).split("\0"):
        key, _, value = setting.partition("\n")
        if key in _NAMES and value:  # the last one counts, as for git
            found[_NAMES[key]] = value
    return {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in found.items()}
