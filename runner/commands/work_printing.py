"""Lines of `assent work` on the terminal, and questions there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from runner.model.shown import in_one_line, visible
from runner.sandbox.file_names import shown
from runner.workspace.change import How
from runner.workspace.difference import total
from runner.workspace.groups import MOST_BULK, GroupKind

if TYPE_CHECKING:
    from runner.workspace.change import ProjectChange
    from runner.workspace.groups import ChangeGroup

SIGNS = {How.ADDED: "+", How.CHANGED: "~", How.DELETED: "-", How.TOUCHED: "."}
COLORS = {"+": "32", "-": "31", "@": "36", "!": "33"}
LEFT_OUT = "  (stays, unless you name it)"


def say(words: str) -> None:
    """Print a sentence."""
    print_line(in_one_line(words))


def print_line(line: str) -> None:
    """Print a line as it is."""
    sys.stdout.write(f"{line}\n")


def change_line(sign: str, words: str, why: str = "", *, conflict: bool = False, more: str = "") -> None:
    """Print a line of a change, with why it needs a word of its own."""
    reason = f"  {'CONFLICT: ' if conflict else '! '}{why}" if why else ""
    print_line(colored(f"{sign} {visible(words)}") + warned(visible(reason)) + more)


def is_counted(group: ChangeGroup) -> bool:
    """Whether the changes of a group are counted, and not listed one by one."""
    return group.is_repository or len(group.changes) > MOST_BULK


def reason(group: ChangeGroup, one: ProjectChange) -> str:
    """Return why a change of a group is not applied; '' also where it is only counted."""
    return one.conflict or ("" if group.kind is GroupKind.MANY else one.mark)


def left_out(group: ChangeGroup) -> str:
    """Return the words that a group stays where nobody names it; '' for others."""
    return LEFT_OUT * (group.kind is GroupKind.MANY)


def tell_counted(group: ChangeGroup) -> None:
    """Print the changes of a group that are counted as one line."""
    one = group.changes[0]
    words = f"{shown(group.path)}/: {total(group.changes)}"
    change_line("*", words, reason(group, one), conflict=bool(one.conflict), more=left_out(group))


def yes(question: str) -> bool:
    """Ask; return whether the answer was yes."""
    sys.stdout.write(visible(f"{question} [y/N] "))
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def colored(line: str) -> str:
    """Return a line in the colour of its first character, where somebody sees it."""
    code = COLORS.get(line[:1], "")
    return f"\x1b[{code}m{line}\x1b[0m" if code and sys.stdout.isatty() else line


def warned(words: str) -> str:
    """Return words in the colour of a warning, where somebody sees it."""
    return f"\x1b[{COLORS['!']}m{words}\x1b[0m" if words and sys.stdout.isatty() else words


def shown_path(one: ProjectChange) -> str:
    """Return the path of a change, written out."""
    return shown(one.path) or "."
