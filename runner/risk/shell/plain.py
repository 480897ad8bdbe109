"""Shell scripts so plain that nothing in them changes unseen what a loop is about, and the words that they compare."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.risk.outline_data import words
from runner.risk.shell.syntax import source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

MOST_NODES = 20_000
KNOWN = words(
    "echo printf rm rmdir unlink mkdir : true false test continue break exit basename dirname ls grep egrep fgrep "
    "xargs date wc cat head tail sort du stat sleep set shopt cd"
)
"""Commands that give nothing another name, and no variable another value."""
NEVER = words(
    "ERROR function_definition declaration_command unset_command arithmetic_expansion c_style_for_statement "
    "process_substitution subscript & ansi_c_string translated_string"
)
STEERING = words("IFS PATH ENV BASH_ENV GLOBIGNORE SHELLOPTS BASHOPTS POSIXLY_CORRECT QUOTING_STYLE")
SET = expression(r"-[euxo]{1,4}|pipefail")
GLOBS = words("-s nullglob dotglob failglob")
REMOVES = words("rm rmdir unlink")
OPTIONS = expression(r"-[rRfvid]{1,6}|--|--recursive|--force|--verbose")
NEW_LINES = words(r"'\n' \n")
XARGS = expression(r"-r|-t|--no-run-if-empty|-n\d{1,4}")
NAME = expression(r"[\w.@+-]+", re.ASCII)
PATTERN = expression(r"[\w-]+(?:\.[\w-]+)*", re.ASCII)
GLOB = expression(r"""(?P<folder>(?:\.{0,2}/)?(?:[\w.@+-]+/|"\$\{?\w+\}?"/)*)\*(?P<end>/?)""", re.ASCII)
SHOWN = expression(r'"?\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?P<cut>%/|##\*/|#\./)?\}|\(basename "\$(?P<base>\w+)"\))"?')
LITERAL = expression(
    r"""'[^'\\]*'|(?:"[^"`\\$]*+(?:\$(?:\w++|\{\w++\})[^"`\\$]*+)?"|[\w.@+/-])++""",
    re.ASCII,
)
VARIABLE = expression(r"\$\{?(\w++)\}?")
TARGET = expression(r'"(?P<before>[^"$`\\]*)\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?:%/)?\})/?"', re.ASCII)


class NameShape(NamedTuple):
    """How what a variable stands for is made of the name of a file: what comes before it, and what after."""

    before: str
    after: str

    def name_in(self, written: str) -> str:
        """Return the name that a file has where this is `written`; '' where no file has one that is plain."""
        inner = written[len(self.before) : len(written) - len(self.after)]
        whole = f"{self.before}{inner}{self.after}" == written
        return inner if whole and NAME.fullmatch(inner) and inner not in (".", "..") else ""


def plain_variables(root: Node) -> Counter[str] | None:
    """Return how often each variable is bound; None for a script that is not plain."""
    bound: Counter[str] = Counter()
    waiting = [root]
    for count, node in enumerate(waiting):  # grows as it is gone through
        if count > MOST_NODES or not _is_plain(node):
            return None
        if node.type == "variable_assignment" or node.type == "for_statement":
            name = next((child for child in node.children if child.type == "variable_name"), None)
            if name is None or source(name) in STEERING:
                return None
            bound[source(name)] += 1
        waiting += node.children
    return bound


def _is_plain(node: Node) -> bool:
    match node.type:
        case "command":
            return _is_known(node)
        case "expansion":
            return not set(source(node)) & set("=@")
        case "for_statement":
            return node.children[0].type == "for"
        case kind:
            return kind not in NEVER


def _is_known(command: Node) -> bool:
    name, given = name_of(command), arguments(command)
    if name not in KNOWN or any(child.type == "variable_assignment" for child in command.children):
        return False
    match name:
        case "set":
            return all(SET.fullmatch(one) for one in given)
        case "shopt":
            return set(given) <= GLOBS
        case "printf":
            return not any(one.strip("\"'").startswith("-v") for one in given)
        case "xargs":
            return removed_by_xargs(given)
        case "cd":
            return all(one.type in ("list", "program") for one in _around(command))
        case _:
            return True


def _around(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def name_of(command: Node) -> str:
    name = command.child_by_field_name("name")
    return "" if command.type != "command" or name is None else source(name)


def arguments(command: Node) -> list[str]:
    return [source(one) for one in command.children_by_field_name("argument")]


def literal(written: str) -> str | None:
    """Return a word without its quotes, in which a variable is `${name}`; None where the shell makes more of it."""
    if not LITERAL.fullmatch(written):
        return None
    if written.startswith("'"):
        return written[1:-1] if "$" not in written else None
    return VARIABLE.sub(r"${\1}", written).replace('"', "")


def removed_by_xargs(given: list[str]) -> bool:
    """Return whether `xargs` removes the files that are on lines of their own, and does nothing else."""
    rest = iter(given)
    lines = False
    for word in rest:
        if word == "-d":
            lines = next(rest, "") in NEW_LINES
        elif word in REMOVES:
            return lines and all(OPTIONS.fullmatch(one) for one in rest)
        elif not XARGS.fullmatch(word):
            return False
    return False


def left_out(command: Node) -> frozenset[str] | None:
    """Return the names that `grep -v` leaves out; None where it does something else."""
    name, given = name_of(command), arguments(command)
    letters = {letter for one in given if one.startswith("-") for letter in one[1:]}
    if name not in ("grep", "egrep", "fgrep") or "v" not in letters or not letters <= set("vxEFewi"):
        return None
    patterns = [one.strip("'\"") for one in given if not one.startswith("-")]
    if not patterns or (len(patterns) > 1 and "e" not in letters):
        return None
    fixed = name == "fgrep" or "F" in letters
    between = "|" if name == "egrep" or "E" in letters else "\\|"
    found: set[str] = set()
    for pattern in patterns:
        parts = [pattern] if fixed else pattern.split(between)
        names = [one if fixed else one.removeprefix("^").removesuffix("$") for one in parts]
        if not all(PATTERN.fullmatch(one) for one in names):
            return None
        found.update(names)
    return frozenset(found)
