"""Calls about the folder that a program stands in, for Python and JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN, Value

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.trace.machine import Machine, Special


def go(machine: Machine, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value | None:
    """os.chdir, process.chdir: another folder to stand in."""
    folder = args[0] if args else named.get("path", UNKNOWN)
    if folder.name.replace("()", "") in WHERE and not folder.texts:
        machine.trail.folder = None  # it was asked for before the program went anywhere
    else:
        machine.trail.go(folder, surely=not machine.branches)
    return UNKNOWN


def where(machine: Machine, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value | None:
    """os.getcwd, process.cwd: where the program stands, once that is not where it began."""
    return machine.trail.folder


def around(machine: Machine, called: Value, args: list[Value], named: dict[str, Value], place: Place) -> Value | None:
    """contextlib.chdir: another folder while the statement lasts."""
    return Value(name="contextlib.chdir()", fields={"path": args[0] if args else named.get("path", UNKNOWN)})


WHERE = words("os.getcwd os.getcwdb process.cwd")
STANDING: dict[str, Special] = {
    **dict.fromkeys(("os.chdir", "process.chdir", "os.fchdir"), go),
    **dict.fromkeys(WHERE, where),
    "contextlib.chdir": around,
}
"""Functions about the folder that a program stands in."""
