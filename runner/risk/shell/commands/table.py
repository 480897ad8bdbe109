"""The table of commands: which function says what a command does, and which of its options take a value.

Its rows are `resources/rules/commands.yaml`, where it says what they mean.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from runner.risk.rules.knowledge import table
from runner.risk.shell.commands import (
    builtins,
    converters,
    databases,
    escapes,
    files,
    infrastructure,
    interpreters,
    network,
    outputs,
    packages,
    services,
    starters,
    system,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.risk.shell.command import Handler

PARTS = {
    part.__name__.rpartition(".")[2]: part
    for part in (
        *(builtins, converters, databases, escapes, files, infrastructure, interpreters, network),
        *(outputs, packages, services, starters, system, texts),
    )
}
OF_ROWS = ("names", "does", "valued", "runs", "writes", "writes-operand")
"""Fields of every row; the others are parameters of the function that makes its handler."""


class KnownCommand(NamedTuple):
    """A command that is known."""

    handler: Handler
    valued: str = ""
    """The options of it that take a value."""


@cache
def commands() -> Mapping[str, KnownCommand]:
    """Return all of them by name. Of a name with a pattern in it the first one that matches counts."""
    rows: list[dict[str, Any]] = table()["commands"]
    return {name: KnownCommand(handler_of(row), row.get("valued", "")) for row in rows for name in row["names"].split()}


def handler_of(row: Mapping[str, Any]) -> Handler:
    """Return what the commands of a row do. Raises LookupError, AttributeError and TypeError for what is none."""
    handler: Handler | None = None
    if "does" in row:
        part, _, name = row["does"].partition(".")
        function = getattr(PARTS[part], name.removesuffix("()"))
        given = {key: value for key, value in row.items() if key not in OF_ROWS}
        handler = function(**given) if name.endswith("()") else function
    if handler is not None and ("writes" in row or "writes-operand" in row):
        handler = outputs.writing(handler, row.get("writes", ""), row.get("writes-operand"))
    if "runs" in row:
        return escapes.running(handler, row["runs"])
    if handler is None:
        raise LookupError(f"nothing says what {row['names']} does")
    return handler


def known_as(name: str) -> KnownCommand | None:
    """Return what is known of a command; interpreters with a version (`python3.11`) and cmdlets count as well."""
    found = commands().get(name)
    if found is None and interpreters.CMDLET.fullmatch(name):
        return KnownCommand(interpreters.cmdlet)
    if found is not None or not name[-1:].isdigit():
        return found
    match = interpreters.INTERPRETER.match(name)
    return KnownCommand(interpreters.interpreter(str(match.lastgroup))) if match is not None else None
