"""Programs that make one file of others: what they read, and where the result goes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import Source
from runner.risk.model.value import UNKNOWN, Value, either, labels_of, text

if TYPE_CHECKING:
    from runner.risk.shell.command import Command, Handler

FILE = expression(r"[^\s=]{0,300}(?:/|\.[A-Za-z]\w{0,7}(?:\[\d{1,3}\])?\Z|\ufffc)[^\s=]{0,300}")
"""A word that is a path by its look."""
NOWHERE = ("-", "/dev/null", "/dev/stdout", "null:", "NUL")
RECORDS = expression(r"x11grab|gdigrab|avfoundation|kmsgrab|dshow|ddagrab")
"""What ffmpeg takes the screen or a camera from, in place of a file."""
LINK = expression(r"[a-z][a-z+.-]{1,20}://")


def converts(inputs: str = "", outputs: str = "-o --output", *, last: bool = True) -> Handler:
    """Return the handler of a program that makes a file: of those behind `inputs`, or of those among its words.

    The result is behind one of `outputs`; where there is none it is the `last` word, if there are several.
    """
    behind_input, behind_output = frozenset(inputs.split()), frozenset(outputs.split())

    def handle(command: Command) -> Value | None:
        sources: list[Value] = []
        results: list[Value] = []
        others: list[Value] = []
        behind: list[Value] = []
        for before, word in pairwise((UNKNOWN, *command.arguments)):
            name, equals, value = word.text.partition("=")
            if before.text in behind_output:
                results.append(word)
            elif equals and name in behind_output:
                results.append(text(value, labels=word.labels))
            elif before.text in behind_input:
                sources.append(word)
            elif word.text[:1] not in ("-", "+") and (FILE.fullmatch(word.text) or "found" in word.labels):
                (behind if before.text.startswith("-") and "=" not in before.text else others).append(word)
        others = others if len(others) > 1 else [one for one in command.arguments if one in others or one in behind]
        if not results and last and others and len(sources) + len(others) > 1:
            results.append(others.pop())
        sources += [] if behind_input else others
        labels = labels_of((command.stdin,)) | command.uses([one for one in command.arguments if one in behind])
        if any(RECORDS.fullmatch(one.text) for one in command.arguments):
            labels |= command.act("record", what=text("screen")).labels | {"captured"}
        for one in sources:
            known = "fetch" if LINK.match(one.text) else "read"
            given = command.act(known, **{"url" if known == "fetch" else "path": command.placed(one)})
            labels |= given.labels | ({Source.DOWNLOADED} if known == "fetch" else frozenset())
        made = [one for one in results if one.text not in NOWHERE]
        for one in made:
            if LINK.match(one.text):
                command.act("send", url=one, data=Value(labels=labels | {Source.FILE}), path=either(sources))
                continue
            fields = {"of": Value(items=[command.placed(source) for source in sources])} if sources else {}
            command.act("write", path=command.placed(one), data=Value(labels=labels), by=text(command.name), **fields)
        return Value(labels=labels) if made or sources else None

    return handle
