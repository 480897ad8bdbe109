"""Recognize commands that only show what they would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.outline_data import words as set_of

if TYPE_CHECKING:
    from collections.abc import Sequence

DRY = ("--dry-run", "--dry_run", "--dryrun", "-n", "--no-act", "--just-print")
DRY_BY_LETTER = set_of("add rm mv clean push prune")
"""Commands of git that only show what they would do with `-n`, which is a number or another option of the others."""


def is_dry(program: str, words: Sequence[str]) -> bool:
    """Return whether the options say that a program only shows what it would do."""
    for word in words:
        name, _, value = word.partition("=")
        # `-n` is the namespace of a cluster.
        by_letter = program == "git" and not DRY_BY_LETTER.isdisjoint(words)
        if name in DRY and value not in ("none", "false") and (name != "-n" or by_letter):
            return True
    return False
