"""Commands about processes, schedules, containers, and what is on the screen or typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import Source
from runner.risk.model.value import UNKNOWN, Value, alternatives, concatenate, labels_of, text

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler


def kill(command: Command) -> Value | None:
    _options, operands = command.parsed()
    if len(command.arguments) > 1 and command.arguments[-1].text == "-1":
        operands = [text("-1")]
    for target in operands:
        command.act("kill", target=target.labelled(labels_of((command.stdin,))), tool=text(command.name))
    return UNKNOWN


def find_process(command: Command) -> Value | None:
    """pgrep, pidof: numbers of processes with a certain name."""
    _, operands = command.parsed()
    given = Value(labels=frozenset({"process"}))
    for operand in operands:
        command.act("compare", text=operand, **{"with": given})
    return given


def find_user(command: Command) -> Value | None:
    """lsof -t, fuser: numbers of processes that have a file or a port open; `fuser -k` ends them."""
    letters = "".join(one.text[1:].partition(":")[0] for one in command.arguments if re.match(r"-[^-]", one.text))
    given = Value(labels=frozenset({"process"}))
    if command.name == "fuser" and "k" in letters:
        command.act("kill", target=given, tool=text(command.name))
    return given if command.name == "fuser" or "t" in letters else UNKNOWN


def crontab(command: Command) -> Value | None:
    options, operands = command.parsed()
    if options.keys() & {"-r", "-i"}:
        command.act("schedule", what=UNKNOWN, how=text("remove"))
    elif "-l" in options:
        return Value(name="crontab", labels=frozenset({"crontab"}))
    elif operands or command.stdin is not UNKNOWN:
        what = command.read(operands[0]) if operands else command.stdin
        command.act("schedule", what=what, how=text("cron"))
    return UNKNOWN


def at_time(command: Command) -> Value | None:
    options, operands = command.parsed()
    if options.keys() & {"-l", "-r", "-c", "-d"} and "-f" not in options:
        return UNKNOWN
    what = command.read(options["-f"]) if "-f" in options else command.stdin
    if operands or what is not UNKNOWN:
        command.act("schedule", what=what, how=text("at"))
        if what.texts:
            command.script(what)
    return UNKNOWN


RIGHTS = expression(r"--privileged(?!=false)|--pid[ =]host|--cap-add[ =](ALL|SYS_)")


def container(command: Command) -> Value | None:
    """docker run: what it gives the container of the machine outside."""
    arguments = [word for word in command.arguments if word.text != "container"]
    if not arguments or arguments[0].text not in ("run", "create", "exec"):
        return None
    line = concatenate(arguments, " ").text
    mounted = re.findall(r"(?<!\S)(?:-v|--volume)[ =]([^\s:]++):|(?:source|src)=([^,\s]++)", line)
    outside = [one or other for one, other in mounted]
    command.act(
        "container",
        path=alternatives(outside),
        rights=text("yes") if RIGHTS.search(line) else UNKNOWN,
    )
    return None


def cluster(command: Command) -> Value | None:
    """kubectl get secrets: what comes out is secret."""
    words = [word.text for word in command.arguments[:3]]
    secret = words[:1] == ["get"] and any(word.startswith("secret") for word in words[1:])
    return Value(labels=frozenset({Source.SECRET})) if secret else None


def recorder(what: str, reads: str = "") -> Handler:
    """Return the handler of programs that record the screen, the clipboard or the keyboard: where `reads` is found."""

    def handle(command: Command) -> Value | None:
        line = concatenate(command.arguments, " ").text
        if not re.search(reads, line):
            return None
        done = command.act("record", what=text(what))
        for word in command.arguments:
            if re.search(r"\.(png|jpe?g|xwd|mp4|mkv|wav|txt|log)$", word.text):
                command.act("write", path=word, data=Value(labels=frozenset({"captured"})))
        return Value(labels=done.labels | {"captured"})

    return handle
