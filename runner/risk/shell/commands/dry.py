"""Recognize commands that only show what they would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words as set_of

if TYPE_CHECKING:
    from collections.abc import Sequence

DRY = ("--dry-run", "--dry_run", "--dryrun", "-n", "--no-act", "--just-print")
DRY_BY_LETTER = set_of("add rm mv clean push prune")
"""Commands of git that only show what they would do with `-n`, which is a number or another option of the others."""
SIMULATES = expression(r"--(?:simulate|recon)|-[qyudVmf]{0,9}s[qyudVmf]{0,9}")
OF_PROGRAM = {
    "rsync": expression(r"-[^\W_\defBTMn]{0,15}n[a-zA-Z]{0,15}"),
    "git": expression(r"-[dfiqxX]{1,9}n[dfiqxX]{0,9}|-n[dfiqxX]{1,9}"),
    "apt-get": SIMULATES,
    "apt": SIMULATES,
    "aptitude": SIMULATES,
}
"""Words by which single programs say it, as in `rsync -anv`; before the letter stands none that takes a value."""


def is_dry(program: str, words: Sequence[str]) -> bool:
    """Return whether the options say that a program only shows what it would do."""
    own = OF_PROGRAM.get(program)
    if program == "git" and "clean" not in words:
        own = None
    for word in words:
        if word == "--":
            return False
        if own is not None and own.fullmatch(word) is not None:
            return True
        name, _, value = word.partition("=")
        # `-n` is the namespace of a cluster.
        by_letter = program == "git" and not DRY_BY_LETTER.isdisjoint(words)
        if name in DRY and value not in ("none", "false") and (name != "-n" or by_letter):
            return True
    return False
