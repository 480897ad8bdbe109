"""Programs that run what they read: the texts and files that a command gives to one are code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.executing.running import Obeys, runs
from runner.risk.model.acts import Source
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, UNKNOWN, Value, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.risk.shell.command import Command

LANGUAGES = {
    **dict.fromkeys(("sed", "gsed", "awk", "gawk", "mawk", "nawk", "split", "parallel", "xargs"), "shell"),
    "python": "python",
}
"""Languages of what they run, where that can be followed."""
OPERANDS = words("sed gsed awk gawk mawk nawk perl ruby")
"""Programs of which every file that they are given is read."""
FROM_OUTSIDE = frozenset({Source.DOWNLOADED, Source.REMOTE})


def how_it_runs(name: str, arguments: Sequence[Value]) -> Obeys:
    """Return how sure it is that a command runs what it reads."""
    return runs(name, [_known(word) for word in arguments])


def _known(word: Value) -> str | None:
    """Return a word of which at least the beginning is known; None for any other."""
    if len(word.texts) > 1 and word.text[:1] == "-":
        return None
    return word.text if word.texts and not word.text.startswith(HOLE) else None


def note_obeyed(command: Command) -> None:
    """Note what a program reads that runs what it reads; a file of Python's or Node.js' is followed where it is known.

    Nothing is noted where nothing is known of what it reads: then only its name tells.
    """
    language = LANGUAGES.get(command.name.rstrip("0123456789."), "")
    for value in _given(command):
        if value.exact is not None and language == "shell":
            command.act("execute", code=value, language=text("shell"))
            command.script(value)
        elif value.exact is not None and language:
            command.code(language, value)
        else:
            command.act("execute", code=Value(labels=value.labels), language=text(""))


def _given(command: Command) -> Iterator[Value]:
    """Yield the input, and what is known of the files among the words."""
    if command.stdin is not UNKNOWN and (command.stdin.texts or command.stdin.labels):
        yield command.stdin
    script = command.name in OPERANDS
    named = False
    for word in command.arguments:
        if word.text.startswith("-") and "=" not in word.text and word.text[:2] not in ("-r", "-M", "-m", "-f", "-S"):
            continue
        for path in _paths(command.name, word):
            labels = command.shell.nested.origin(path)
            if labels & FROM_OUTSIDE or "written" in labels:
                named = True
                yield command.shell.nested.content(path).labelled(labels)
    if script and not named and command.stdin is UNKNOWN and len(command.arguments) > 1:
        yield Value(labels=frozenset({Source.FILE.value}))


def _paths(name: str, word: Value) -> Iterator[Value]:
    """Yield the files that a word may stand for: a module is one of its name."""
    yield word
    known = word.text
    if name == "perl" and known[:2] in ("-M", "-m"):
        yield text(known[2:].partition("=")[0].replace("::", "/") + ".pm")
    elif name.startswith("python") and "/" not in known:
        yield text(known.removeprefix("-m").partition(".")[0] + ".py")
    elif known[:2] in ("-f", "-r", "-S"):
        yield text(known[2:])
