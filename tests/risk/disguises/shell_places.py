"""Where a shell script can be changed: the plain words of its commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from tests.risk.disguises.nodes import edited, nodes, source
from tests.risk.disguises.step import MOST_PLACES, Maker, Step, named

if TYPE_CHECKING:
    from collections.abc import Callable

    Builder = Callable[[str, Maker], str]
    """From a plain word to another way to write it."""

PARSER = Parser(Language(tree_sitter_bash.language()))
PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,-]*[A-Za-z0-9][A-Za-z0-9_./:@%+,-]*")
"""Words that mean themselves, whatever stands around them."""
KEPT = frozenset(
    [
        "shopt",
        "alias",
        "set",
        "local",
        "declare",
        "export",
        "unset",
        "shift",
        "read",
        "mapfile",
        "printf",
        "break",
        "wait",
    ]
)
"""Commands whose words stay: the rest of a disguise depends on them."""


def word_step(build: Builder) -> Step:
    """Return a step that writes plain words of a script as `build` does: names of commands, and their arguments."""
    return Step(named(build), lambda code, maker: _changed(code, build, maker, names=False))


def name_step(build: Builder) -> Step:
    """Return a step that writes the names of commands as `build` does."""
    return Step(named(build), lambda code, maker: _changed(code, build, maker, names=True))


def _changed(code: str, build: Builder, maker: Maker, *, names: bool) -> str:
    edits: list[tuple[Node, str]] = []
    for command in nodes(PARSER, code, "command"):
        name = command.child_by_field_name("name")
        if name is None or source(name) in KEPT:
            continue
        if f"alias {source(name)}=" in code or (names and f"{source(name)}()" in code):
            continue
        words = [name] if names else [name, *command.children_by_field_name("argument")]
        for word in words:
            written = source(word)
            if code.encode()[word.end_byte : word.end_byte + 1] == b"\\":
                continue  # continued on the next line
            if len(edits) < MOST_PLACES and PLAIN.fullmatch(written) and 1 < len(written) < 200:
                edits.append((word, build(written, maker)))
    return "\n".join([*maker.lines, edited(code, edits)]) if edits else code


def compound(*builders: Builder) -> tuple[Step, ...]:
    """Return steps that put a script into one statement; an alias would not hold in the statement that makes it."""

    def step(build: Builder) -> Step:
        return Step(named(build), lambda code, maker: code if "alias" in code else build(code, maker))

    return tuple(map(step, builders))
