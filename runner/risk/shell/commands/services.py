"""Commands that serve to others, write to people, or rewrite pictures and texts in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.value import UNKNOWN, Value, labels_of, text

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler

EVERYBODY = expression(r"(?:--?[\w.-]{1,40}=)?(?:[\w+]{1,10}://)?(?:0\.0\.0\.0|\[?::\]?|\*)(?::\d{1,5})?")
"""A word that binds a server to every address of the machine."""
OWN = expression(r"(?:--?[\w.-]{1,40}=)?(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)(?::\d{1,5})?")
OPEN = expression(r"(?:-vv?|--version|-h|--help)")


def serves(*, openly: bool = False, verbs: str = "") -> Handler:
    """Return the handler of a server; `openly` where it serves to everybody unless it is bound to this machine."""
    known = frozenset(verbs.split())

    def handle(command: Command) -> Value | None:
        words = [word.text for word in command.arguments]
        if any(map(OPEN.fullmatch, words)) or (known and not known.intersection(words[:3])):
            return None
        bound = any(map(OWN.fullmatch, words))
        if any(map(EVERYBODY.fullmatch, words)) or (openly and not bound):
            command.act("listen", host=text("0.0.0.0"))
        return None

    return handle


def message(command: Command) -> Value | None:
    """mail, sendmail, wall: what people get at once."""
    if any(OPEN.fullmatch(word.text) for word in command.arguments):
        return None
    sent = Value(labels=labels_of((*command.arguments, command.stdin)))
    command.act("send", how=text("message"), data=sent, url=UNKNOWN)
    return None


def loads(*, network: bool = False) -> Handler:
    """Return the handler of a tool that takes up what it can: of this machine, or of a server."""

    def handle(command: Command) -> Value | None:
        if any(OPEN.fullmatch(word.text) for word in command.arguments) or not command.arguments:
            return None
        if network:
            host = next((word for word in command.arguments if "://" in word.text), UNKNOWN)
            command.act("connect", host=host)
        else:
            command.act("flood", what=text("the processor and the memory"))
        return None

    return handle


def in_place(signs: str = "") -> Handler:
    """Return the handler of a tool that rewrites the files it is given; with `signs` only where one of them stands."""
    needed = frozenset(signs.split())

    def handle(command: Command) -> Value | None:
        words = {word.text for word in command.arguments}
        if needed and not words & needed:
            return None
        _, operands = command.parsed()
        for path in operands if not words & {"-path", "-d", "--dest", "-format"} else ():
            command.act("write", path=command.placed(path), edit=text("yes"))
        return None

    return handle


def access_list(command: Command) -> Value | None:
    """setfacl: rights of others, as of chmod."""
    options, operands = command.parsed()
    given = (options.get("-m") or options.get("--modify") or options.get("--set") or UNKNOWN).text
    entries = [one.rpartition(":") for one in given.split(",")]
    everybody = any(who.endswith(("o:", "o", "other:", "other")) and "w" in rights for who, _, rights in entries)
    for path in operands:
        command.act("chmod", path=command.placed(path), mode=text("a+w" if everybody else given))
    return None
