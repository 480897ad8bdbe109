"""Containers that a script starts for itself, with nothing of this machine in them: what is in them goes with them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.value import HOLE, Value, concatenate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.shell.command import Command

REACHES_OUT = expression(
    r"-v.*|-{1,2}(?:volume|mount|volumes-from|net|network|link|add-host|env-file|privileged|pid|ipc|device|cap-add"
    r"|userns|security-opt|restart|dns)(?:=.*)?"
)
"""Options by which a container has something of this machine, or of others, and may be more than it seems."""
NAMES_HOST = expression(r"(?i)host|url|uri|dsn|addr|server|://")
"""Words in what a client in a container is given by which it may work on a database elsewhere."""
FRESH = frozenset(("$RANDOM", "$BASHPID", "$$"))
"""Labels of a name that no other container has."""


def note_own_container(command: Command) -> None:
    """Note the name of a container that `docker run` starts, where no other one can be meant by it from here on.

    The name is new by a random number, or the script ends where there is a container of that name.
    """
    given = [word.text for word in command.arguments]
    named = next((at for at, word in enumerate(given) if word == "--name"), -1)
    inline = next((word for word in command.arguments if word.text.startswith("--name=")), None)
    if (named < 0 or named + 1 >= len(given)) and inline is None:
        return
    name = command.arguments[named + 1] if inline is None else inline
    settings = [after for before, after in pairwise(given) if before in ("-e", "--env")]
    if any(map(REACHES_OUT.fullmatch, given)) or any(map(NAMES_HOST.search, settings)):
        return
    fresh = bool(name.labels) and name.labels <= FRESH and HOLE in name.text
    if fresh or (name.exact and inline is None and command.shell.ends_here):
        command.shell.containers[name.text.removeprefix("--name=")] = name.labels


def is_own_container(command: Command, words: Sequence[Value]) -> bool:
    """Return whether `words`, a container and a command for it, are about one that the script has started."""
    container = words[0]
    known = command.shell.containers.get(container.text)
    if known is None or known != container.labels or (container.exact is None and not known):
        return False
    if command.stdin.exact is None and (command.stdin.labels or command.stdin.texts):
        return False
    whole = concatenate((*words[1:], command.stdin), " ").text
    return NAMES_HOST.search(whole) is None and not any(word.text.startswith("-h") for word in words[1:])
