"""Commands that the shell itself carries out: eval, source, trap, alias, cd, read, set, shift."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from runner.risk.model.standing import is_relative
from runner.risk.model.value import HOLE, UNKNOWN, Value, alternatives, concatenate, labels_of, text
from runner.risk.shell.command import ELSEWHERE
from runner.risk.trace.files import is_temporary
from runner.risk.trace.search_path import HERE

if TYPE_CHECKING:
    from runner.risk.shell.command import Command

ABSOLUTE = ("/", "~", HOLE, "$")
"""How the name of a folder begins that may not be below the present one."""


def evaluate(command: Command) -> Value | None:
    code = concatenate(command.arguments, " ")
    command.act("execute", code=code, language=text("shell"), how=text("eval"))
    return command.script(code, command.shell.state.arguments)


def source(command: Command) -> Value | None:
    if not command.arguments:
        return UNKNOWN
    target = command.arguments[0]
    content = (target.fields or {}).get("content")
    if content is not None:
        command.act("execute", code=content, language=text("shell"))
        return command.script(content)
    if target.text == "/dev/stdin":
        command.act("execute", code=command.stdin, language=text("shell"))
        return command.script(command.stdin)
    command.shell.nested.started(target, command.labels, command.place, "shell")
    return UNKNOWN


def working_folder(command: Command) -> Value | None:
    """pwd: where that is nobody knows, but that it is the script's own folder."""
    return Value(labels=frozenset({HERE}))


def trap(command: Command) -> Value | None:
    _, operands = command.parsed()
    if len(operands) >= 2:
        command.script(operands[0])
        command.shell.state.late.append((operands[0], dict(command.shell.state.variables)))
        command.act("trap", code=operands[0], signal=concatenate(operands[1:], " "))
    return UNKNOWN


def history(command: Command) -> Value | None:
    """history -s TEXT: what `fc` runs then."""
    options, operands = command.parsed()
    if "-s" in options and operands:
        command.script(concatenate(operands, " "))
    return UNKNOWN


def alias(command: Command) -> Value | None:
    for argument in command.arguments:
        name, equals, value = argument.text.partition("=")
        if equals:
            command.script(text(value, labels=argument.labels))
            command.shell.state.aliases[name] = text(value)
    return UNKNOWN


def change_directory(command: Command) -> Value | None:
    _, operands = command.parsed()
    state = command.shell.state
    now = state.directory, state.folder
    back = bool(operands) and operands[0].text == "-"
    if command.name == "popd" or back or (operands and not operands[0].text):
        before = state.former if back else state.stack.pop() if state.stack and command.name == "popd" else None
        state.former = now
        state.directory, state.folder = before or ("", ELSEWHERE.labelled(labels_of(operands)))
        return UNKNOWN
    state.former = now
    if command.name == "pushd":
        state.stack.append(now)
    folder = operands[0] if operands else text("~")
    if (places := state.variables.get("CDPATH")) is not None and is_relative(folder.text) and folder.text[:1] != ".":
        folder = concatenate((places, text("/"), folder)).labelled(folder.labels)
    if state.folder.texts and not folder.text.startswith(ABSOLUTE):
        folder = concatenate((state.folder, text("/"), folder)).labelled(folder.labels)
    if folder.exact is not None:
        folder = text(posixpath.normpath(folder.exact), labels=folder.labels)
    state.directory = "" if folder.text == "." else folder.text
    state.folder = folder
    state.surely = (
        state.stops or folder.text.startswith(ABSOLUTE[1:]) or folder.text in ("/", "..") or is_temporary(folder)
    )
    return UNKNOWN


def read(command: Command) -> Value | None:
    """read, mapfile: what comes in goes into variables; `-C` names code that runs for it."""
    options, operands = command.parsed()
    for at, word in enumerate(command.arguments[:-1]):
        if re.fullmatch(r"-\w*C", word.text):
            command.script(command.arguments[at + 1])
    fed = command.stdin
    if fed.texts and fed.text.strip(HOLE):
        lines = fed.text.rstrip("\n").split("\n")
        array = options.get("-a") if command.name == "read" else (operands[0] if operands else text("MAPFILE"))
        if array is not None and array.exact:
            parts = lines[0].split() if command.name == "read" else lines
            command.shell.state.variables[array.exact] = Value(items=[text(p, labels=fed.labels) for p in parts])
        elif len(operands) <= 1:
            name = operands[0].text if operands else "REPLY"
            command.shell.state.variables[name] = alternatives(lines, fed.labels)
        else:
            parts = lines[0].split(None, len(operands) - 1)
            for operand, part in zip(operands, parts, strict=False):
                command.shell.state.variables[operand.text] = text(part, labels=fed.labels)
        return UNKNOWN
    for operand in operands:
        if operand.exact:
            command.shell.state.variables[operand.exact] = Value(
                labels=labels_of((command.stdin,))
                | ({f"${operand.exact}"} if command.stdin is UNKNOWN else frozenset())
            )
    return UNKNOWN


def set_(command: Command) -> Value | None:
    arguments = command.arguments
    if arguments and arguments[0].text == "--":
        command.shell.state.arguments = arguments[1:]
    for argument in arguments:
        if argument.text[:1] in "-+" and ("e" in argument.text or "errexit" in argument.text):
            command.shell.state.stops = argument.text[0] == "-"
    if any(argument.text == "errexit" for argument in arguments):
        command.shell.state.stops = arguments[0].text[:1] == "-"
    return UNKNOWN


def shift(command: Command) -> Value | None:
    command.shell.state.arguments = command.shell.state.arguments[1:]
    return UNKNOWN
