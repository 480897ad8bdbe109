"""The command that a shell was started for, without what starts it: `pytest -q` for `bash -lc 'pytest -q'`.

Only what is understood whole is taken away, so that nothing that runs is hidden. Everything else is shown as it is.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHELLS = ("bash", "sh", "zsh", "dash")
PLAIN_OPTION = re.compile(r"-[lix]+|--(login|norc|noprofile)")
"""Options that change nothing about what the command does."""
COMMAND_OPTION = re.compile(r"-[lix]*c[lix]*")
QUOTED = r"""(?:'[^']*'|"'"|\\'|[\w./=:,@%+-])+"""
"""One word of a shell as programs quote it, without anything that the shell would replace."""
PLAIN_PATH = r"(?:'[\w./@%+ -]*'|[\w./@%+-]+)"


def script(argv: Sequence[str]) -> str | None:
    """Return what a shell is given to run by `-c`; None where it is started for something else."""
    if not argv or argv[0].rpartition("/")[2] not in SHELLS:
        return None
    for at, word in enumerate(argv[1:], 1):
        if COMMAND_OPTION.fullmatch(word):
            # What follows is the script, after further options; words after it are its parameters.
            rest = list(argv[at + 1 :])
            while rest and PLAIN_OPTION.fullmatch(rest[0]):
                rest.pop(0)
            return rest[0] if len(rest) == 1 else None
        if not PLAIN_OPTION.fullmatch(word):
            return None
    return None


def unwrapped(argv: Sequence[str]) -> str:
    """Return the command, and the whole line where it is not one that a shell was given by `-c`."""
    found = script(argv)
    return shlex.join(argv) if found is None else found


def is_of_nobody(_argv: Sequence[str]) -> bool:
    """Return False: a client of which nothing else is known prepares nothing."""
    return False


def one_word(quoted: str) -> str | None:
    """Return the word that `quoted` is for a shell; None where it is not exactly one."""
    try:
        words = shlex.split(quoted)
    except ValueError:
        return None
    return words[0] if len(words) == 1 else None
