"""The commands of a program as rows: those that only read are folded where several follow each other."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.parts.text.visible_characters import visible
from app.phrases import clock, when
from app.work import words
from runner.model.assessment import Level
from runner.model.sentence_translation import in_words
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from runner.model.work import CommandSeen, WorkSession

READERS = frozenset(
    [
        "ls",
        "cat",
        "grep",
        "head",
        "tail",
        "wc",
        "pwd",
        "stat",
        "file",
        "cut",
        "uniq",
        "basename",
        "dirname",
        "realpath",
        "true",
        "which",
    ]
)
"""Programs that only read, whatever their arguments; of those with one that writes or runs something none is here."""
SIGNIFICANT = frozenset(";|&<>$`(){}\n\\*?[]~!#")
"""Characters that mean something to a shell: a command with one of them is shown by itself."""
NAMED = 4
"""Programs named in a folded row."""
WAITS, UNANSWERED = tr("waits for you"), tr("not answered, not run")
"""What becomes of a held command: its program is at work, or was ended without a word."""
LONGEST = 400
"""Characters of a command in its row."""


@dataclass(frozen=True, slots=True)
class CommandRow:
    """What one row says."""

    at: float
    text: str
    note: str = ""
    ink: str = "muted"
    whole: str = ""
    """All of it, for the tool tip."""
    fold: int = 0
    """Number of the first command of a folded row; 0 for any other."""

    @property
    def time(self) -> str:
        return clock(self.at)

    @property
    def spoken(self) -> str:
        return ", ".join(part for part in (self.time, self.text, self.note) if part)


def only_reads(command: CommandSeen) -> bool:
    """Return whether a command is one of those that are folded: plain words, a program that only reads, no finding."""
    if command.level != Level.LOW.name or command.refused or command.held or SIGNIFICANT & set(command.text):
        return False
    return program_of(command) in READERS


def program_of(command: CommandSeen) -> str:
    """Return the first word of a command; '' where that cannot be told."""
    try:
        parts = shlex.split(command.text)
    except ValueError:
        return ""
    return parts[0] if parts else ""


def rows_of(session: WorkSession, opened: frozenset[int] = frozenset()) -> tuple[CommandRow, ...]:
    """Return the rows in the order of time; `opened` are the folded rows that are shown command by command."""
    held = {one.number: WAITS if session.at_work else UNANSWERED for one in session.held}
    found = list(_folded(session.commands, held, opened))
    found += [
        CommandRow(
            one.at,
            words.place(one.contact.host, one.contact.port),
            tr("refused{times}", times=_times(one.contact.times)),
            "high",
            visible(tr("It {why}", why=one.contact.why)) if one.contact.why else "",
        )
        for one in session.contacts
        if one.contact.allowed is False and not one.quiet
    ]
    found += [
        CommandRow(
            one.at,
            words.place(one.host, one.port),
            tr("allowed by you for this project") if one.always else tr("allowed by you for this session"),
            "accent_ink",
        )
        for one in session.opened
    ]
    found.sort(key=lambda row: row.at)
    left = session.command_count - len(session.commands)
    if left > 0:
        found.insert(
            0,
            CommandRow(
                session.started_at,
                plural("{count} earlier command not shown here", "{count} earlier commands not shown here", left),
            ),
        )
    return tuple(found)


def _folded(commands: Iterable[CommandSeen], held: Mapping[int, str], opened: frozenset[int]) -> Iterator[CommandRow]:
    group: list[CommandSeen] = []
    for one in commands:
        if only_reads(one):
            group.append(one)
            continue
        yield from _group(group, opened)
        group = []
        yield _single(one, held)
    yield from _group(group, opened)


def _group(group: list[CommandSeen], opened: frozenset[int]) -> Iterator[CommandRow]:
    if len(group) < 2:
        yield from (_single(one, {}) for one in group)
        return
    first = group[0]
    if first.number in opened:
        yield from (_single(one, {}, fold=first.number) for one in group)
        return
    names = list(dict.fromkeys(map(program_of, group)))
    more = tr(" and {count} more", count=len(names) - NAMED) if len(names) > NAMED else ""
    text = f"{', '.join(map(visible, names[:NAMED]))}{more}"
    whole = "\n".join(visible(one.text[:LONGEST]) for one in group[:20])
    more_lines = tr("\nand {count} more", count=numeral(len(group) - 20)) if len(group) > 20 else ""
    yield CommandRow(
        first.at, text, tr("{count} times", count=numeral(len(group))), "muted", f"{whole}{more_lines}", first.number
    )


def _single(one: CommandSeen, held: Mapping[int, str], fold: int = 0) -> CommandRow:
    cut = "\N{HORIZONTAL ELLIPSIS}" if len(one.text) > LONGEST else ""
    text = f"{visible(one.text[:LONGEST])}{cut}"
    lines = [tr("{when} in {folder}", when=when(one.at), folder=visible(one.folder)), *one.text[:2000].split("\n")[:20]]
    lines += [visible(in_words(reason)) for reason in one.reasons]
    whole = "\n".join(map(visible, lines))
    note, ink = _note(one, held)
    return CommandRow(one.at, text, note, ink, whole, fold)


def _note(one: CommandSeen, held: Mapping[int, str]) -> tuple[str, str]:
    if one.refused:
        return tr("refused: {refused}", refused=visible(one.refused)), "high"
    if one.number in held:
        return held[one.number], "medium"
    if one.held:
        return tr("you let it run"), "muted"
    if one.level in (Level.HIGH.name, Level.CRITICAL.name):
        return f"{one.level}: {visible(in_words(one.sentence))}" if one.sentence else one.level, "muted"
    return visible(in_words(one.sentence)), "muted"


def _times(number: int) -> str:
    return "" if number == 1 else tr(" {number} times", number=numeral(number))
