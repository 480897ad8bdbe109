"""Commands that read texts and write a file which an option, an operand or their own language names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.value import UNKNOWN, Value, text

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler

SED_WRITES = expression(r"(?m:^|[;{])[ \t]*+(?:\d++|\$|/[^/\n]*+/)?+(?:,(?:\d++|\$))?+[ \t]*+[wW][ \t]++([^\n;}]++)")
ESCAPED = expression(r"\\.")
SED_FLAGS = expression(r"[gpiIeMm\d]*+w[ \t]++(\S[^\n]*+)")


def writing(handler: Handler, names: str, operand: int | None = None) -> Handler:
    """Return `handler` for a program that writes the values of the options `names`, or its operand number `operand`."""

    def handle(command: Command) -> Value | None:
        options, operands = command.parsed(names)
        written = [options[name] for name in names.split() if name in options]
        written += operands[operand : operand + 1] if operand is not None else []
        output = handler(command)
        for path in written:
            command.act("write", path=command.placed(path), data=output or UNKNOWN)
        return output

    return handle


def sed_writes(command: Command, program: Value) -> None:
    """Record what the command `w` of sed, and the flag `w` of its substitutions, write."""
    known = program.text
    found = [match[1] for match in SED_WRITES.finditer(known)]
    for line in known.split("\n"):
        start = line.lstrip("0123456789$, \t")
        if start.startswith("s") and len(start) > 1:
            # What is escaped cannot end a part; of a letter's place nothing more is needed.
            parts = ESCAPED.sub("  ", start).split(start[1], 3)
            if len(parts) == 4 and (flag := SED_FLAGS.match(parts[3])) is not None:
                found.append(flag[1])
    for path in found:
        command.act("write", path=command.placed(text(path.strip())), data=command.stdin)


def hashed(command: Command) -> Value | None:
    """hash -p FILE NAME, enable -f FILE NAME: NAME is that file from now on."""
    options, operands = command.parsed()
    for path in (options.get("-p"), options.get("-f")):
        if path is not None and operands:
            command.shell.nested.started(path, command.labels, command.place, "shell")
    return UNKNOWN
