"""Recognize commands that only show what they would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DRY = ("--dry-run", "--dry_run", "--dryrun", "-n", "--no-act", "--just-print")


def is_dry(program: str, words: Sequence[str]) -> bool:
    """Return whether the options say that a program only shows what it would do."""
    for word in words:
        name, _, value = word.partition("=")
        # `-n` is the namespace of a cluster.
        if name in DRY and value not in ("none", "false") and (name != "-n" or program == "git"):
            return True
    return False
