"""Recognize commands that only show what they would do."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words as set_of

if TYPE_CHECKING:
    from collections.abc import Sequence

DRY = ("--dry-run", "--dry_run", "--dryrun", "-n", "--no-act", "--just-print")
DRY_BY_LETTER = set_of("add rm mv clean push prune")
"""Commands of git that only show what they would do with `-n`, which is a number or another option of the others."""
DRY_OF_GIT = DRY_BY_LETTER | set_of("commit fetch pull filter-repo lfs remote worktree reflog send-email notes")
"""Commands of git that have such an option at all."""
YES = ("", "client", "server", "true", "True", "1")
"""Values with which such an option says so; any other may switch it off."""
TAKES_BACK = expression(r"--no-(?:d(?:r(?:y.{0,40})?)?|n|s(?:imulate)?|just-print|no-act|recon)(?:=.*)?")
"""Options by which what was only to be shown is done: programs take the last one, and git the first letters of one."""
SETTING = expression(r"-{1,2}(?:o|c|option|config-file).*")
"""Options of apt by which `APT::Get::Simulate` may be set as well."""
SIMULATES = expression(r"--(?:simulate|recon)|-[qyudVmf]{0,9}s[qyudVmf]{0,9}")
OF_PROGRAM = {
    "rsync": expression(r"-[^\W_\defBTMn]{0,15}n[a-zA-Z]{0,15}"),
    "git": expression(r"-[dfiqxX]{1,9}n[dfiqxX]{0,9}|-n[dfiqxX]{1,9}"),
    "apt-get": SIMULATES,
    "apt": SIMULATES,
    "aptitude": SIMULATES,
}
"""Words by which single programs say it, as in `rsync -anv`; before the letter stands none that takes a value."""
ALONE = expression(
    r"--(?:all|archive|aggressive|assume-yes|atomic|cached|compress|create-namespace|debug|delete|delete-after"
    r"|delete-before|delete-delay|delete-during|delete-excluded|delete-removed|delete-unmatched-destination-objects|exact-timestamps|follow-tags|force|force-with-lease|human-readable|hooks|ignore-errors"
    r"|install|interactive|itemize-changes|list|mirror|no-[a-z-]{1,30}|now|only-show-errors|prune|quiet|recurse-submodules"
    r"|recursive|remove-source-files|set-upstream|simulate|stats|tags|verbose|wait|yes|dry-run|dryrun|no-act|just-print)"
    r"|--[\w-]{1,40}=.*|-[vqyR]{1,5}"
)
"""Options that take no word behind them, whatever the program."""
ALONE_OF = {
    "git": expression(r"-[adfiqrvuxXAn]{1,9}"),
    "rsync": expression(r"-[^\W_\defBTM]{1,20}"),
    "apt-get": expression(r"-[qyudVmfs]{1,9}"),
    "apt": expression(r"-[qyudVmfs]{1,9}"),
    "aptitude": expression(r"-[qyudVmfs]{1,9}"),
}


def is_dry(program: str, words: Sequence[str]) -> bool:
    """Return whether the options say that a program only shows what it would do.

    No where an option takes that back, and where the word may be the value of the option before it.
    """
    own, by_letter = OF_PROGRAM.get(program), False
    if program == "git":
        verb = _verb_of_git(words)
        if verb not in DRY_OF_GIT:
            return False
        own, by_letter = own if verb == "clean" else None, verb in DRY_BY_LETTER
    options = list(words[: words.index("--")]) if "--" in words else list(words)
    if any(map(TAKES_BACK.fullmatch, options)):
        return False
    if own is SIMULATES and any(map(SETTING.fullmatch, options)):
        return False
    dry = False
    for before, word in pairwise(("", *options)):
        name, _, value = word.partition("=")
        by_name = name in DRY and (name != "-n" or by_letter)  # `-n` is the namespace of a cluster
        if by_name and value not in YES:
            return False
        if by_name or (own is not None and own.fullmatch(word) is not None):
            if _takes_next(program, before):
                return False
            dry = True
        elif dry and before in DRY and word in ("none", "false", "no", "0"):
            return False
    return dry


def _verb_of_git(words: Sequence[str]) -> str:
    """Return what git is asked for: its first word that is no option of its own."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = (
            rest[2:] if rest[0] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path") else rest[1:]
        )
    return rest[0] if rest else ""


def _takes_next(program: str, option: str) -> bool:
    """Return whether the word behind an option may be its value."""
    if option[:1] != "-" or ALONE.fullmatch(option) is not None:
        return False
    of_program = ALONE_OF.get(program)
    return of_program is None or of_program.fullmatch(option) is None
