"""Commands in texts that a shell works out later on: the subscript of a number, `a[$(rm x)]`, and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.bounds import excerpt
from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Place
    from runner.risk.model.value import Value
    from runner.risk.shell.command import ShellContext

SUBSCRIPT = expression(r"[\w\s+\-*/%<>=!&|^~?:,()]*+(?<=\w)\[")
"""How a number with a subscript begins, or the name of a variable; a program of awk has braces before it."""
PROMPTS = words("PS0 PS1 PS2 PS4")
WORKING_OUT = words("test [ let read unset wait mapfile readarray getopts")
"""Commands that take numbers or names of variables."""
END = "END-OF-WHAT-IS-WORKED-OUT"


def worked_out(shell: ShellContext, value: Value, where: Place) -> None:
    """Follow the commands in the subscripts of a value that may serve as a number, or to name a variable."""
    for known in value.texts:
        if SUBSCRIPT.match(known) is not None:
            expanded(shell, known, where)


def expanded(shell: ShellContext, known: str, where: Place) -> None:
    """Follow the commands that are run where a text is expanded as if it stood in double quotes."""
    if "$(" not in known and "`" not in known:
        return
    if END not in known and not shell.trail.is_too_deep("", where):
        with shell.trail.inside(where, excerpt(known, 200), "shell"):
            shell.inner(f": <<{END}\n{known}\n{END}", [], UNKNOWN)


def given_to(shell: ShellContext, name: str, arguments: Sequence[Value], where: Place) -> None:
    """Follow what the command `name` works out of its arguments."""
    if name in WORKING_OUT or (name == "printf" and arguments and arguments[0].text == "-v"):
        for argument in arguments:
            worked_out(shell, argument, where)
