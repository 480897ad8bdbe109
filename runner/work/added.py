"""The classifier's findings in what a change adds: read in its processes, and tied to lines that a person sees.

A finding belongs to a change where its place is an added line, or where the file did not have it before: a value in an
added line may make another one dangerous that nobody touched. What was not read is said to be not read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level
from runner.model.expression import expression
from runner.model.request import Language, Request, Tool
from runner.risk.tools.writes import RUN_BY_TOOL, language_of
from runner.sandbox.file_names import shown
from runner.workspace import lines
from runner.workspace.change import MOST_BYTES, How
from runner.workspace.difference import MOST_LINES, beginning
from runner.workspace.entry import TreeKind, UnreadableEntry
from runner.workspace.marks import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from runner.workspace.change import ProjectChange

    Assess = Callable[[Request], Awaitable[Assessment]]

MOST_READ = 300
"""Changes of one working copy that are read."""
PROGRAM = "write.program"
"""Of a file that is code, or of which a tool runs something: that alone is no finding here."""
TOO_LARGE = "It is too large."
NO_TEXT = "It is no text."
MOVED = "It was written to meanwhile."
COUNTED = "It is in a folder that programs fill."
NO_CODE = "Assent reads no code of this kind; it was looked at for hidden characters alone."
ANOTHER = "It can be started, by other means than those it would be read for."
STARTED_BY = expression(
    r"\A#![ \t]*+/(?:usr/)?(?:local/)?bin/(?:env[ \t]++)?"
    r"(?:(?P<python>python[\d.]*+)|(?P<javascript>node(?:js)?)|(?P<shell>(?:ba|da|z|k)?sh))"
    r"(?:[ \t]++-[BEIOSaefux]++)*+[ \t]*+\r?(?:\n|\Z)"
)
"""A first line that starts what a program is read as, and nothing else: an interpreter of the system."""
REST = f"Only the first {MOST_READ} changes are read."


@dataclass(frozen=True, slots=True)
class AddedFindings:
    """What was found in what a change adds."""

    findings: tuple[Finding, ...] = ()
    """By place: in lines of the file as it would be."""
    not_read: str = ""
    """Why it was not read, or not as code; '' where it was, and where it adds nothing that could be."""
    skipped: bool = False
    """Whether it was not read although it may be code: no findings are no good news then."""

    @property
    def worst(self) -> Level | None:
        """The level of the worst finding; None where nothing stands out."""
        worst = max((one.level for one in self.findings), default=Level.LOW)
        return None if worst is Level.LOW else worst


@dataclass(frozen=True, slots=True)
class AddedText:
    """A file before and after a change, to be read."""

    path: str
    old: str
    new: str
    executable: bool
    was_executable: bool = False
    """Whether the project's file is."""


def not_read(why: str) -> AddedFindings:
    """Return that nothing was read, and why."""
    return AddedFindings(not_read=why, skipped=True)


def text_of(change: ProjectChange, project: Path, content: Path) -> AddedText | AddedFindings:
    """Return the texts of a change, or why there are none. Blocks.

    `content` is the folder with new content, by path. What is given back is what the change says, by its hash.
    """
    after = change.after
    if after is None or after.kind is not TreeKind.FILE or change.how is How.TOUCHED:
        return AddedFindings()
    if counted(change):
        return not_read(COUNTED)
    if after.size > MOST_BYTES:
        return not_read(TOO_LARGE)
    try:
        new = beginning(content, change.path, MOST_BYTES + 1) if change.text is None else change.text
        if after.sha256 and hashlib.sha256(new).hexdigest() != after.sha256:
            return not_read(MOVED)
        if b"\0" in new:
            return not_read(NO_TEXT)
        text = new.decode()
    except UnicodeDecodeError:
        return not_read(NO_TEXT)
    except (OSError, UnreadableEntry) as error:
        return not_read(f"It cannot be read: {error}.")
    was = change.before is not None and bool(change.before.mode & 0o111)
    return AddedText(shown(change.path), _old(change, project), text, bool(after.mode & 0o111), was)


async def found_in(text: AddedText, assess: Assess, agent: str) -> AddedFindings:
    """Return what `assess` finds in what is added; `agent` is whose turn it is."""
    now = await assess(_request(text, text.new, agent, executable=text.executable))
    if why := _unread(now):
        return not_read(why)
    before: tuple[Finding, ...] = ()
    # What can be started from now on does all of it for the first time: what it says was never looked at as a program.
    if text.old and now.findings and text.was_executable >= text.executable:
        was = await assess(_request(text, text.old, agent, executable=text.was_executable))
        before = () if _unread(was) else was.findings
    added = _added(text)
    left = Counter(map(_said, before))
    found = []
    for one in now.findings:
        had = left[_said(one)] > 0
        left[_said(one)] -= had
        if one.id == PROGRAM:
            continue
        is_added = one.span != WHOLE and not added.isdisjoint(range(one.span.line, one.span.end_line + 1))
        if is_added or not had:
            found.append(one)
    why = "" if _is_code(text, now) else NO_CODE
    if text.executable and not (why or _is_started_as_read(text)):
        why = ANOTHER
    return AddedFindings(tuple(found), why, skipped=text.executable and bool(why))


def _request(text: AddedText, code: str, agent: str, *, executable: bool) -> Request:
    return Request("", agent, Tool.CODE_WRITE_FILE, 0.0, code=code, files=(text.path,), executable=executable)


def _is_started_as_read(text: AddedText) -> bool:
    """Whether an executable file is started as the language that it was read as."""
    read = language_of(text.path, text.new) or Language.SHELL
    if not text.new.startswith("#!"):
        return read is Language.SHELL
    first = STARTED_BY.match(text.new)
    return first is not None and first[read.value] is not None


def _unread(assessment: Assessment) -> str:
    """Return why nothing was read; '' where it was."""
    whole = [one for one in assessment.findings if one.capability is Capability.UNREADABLE and one.span == WHOLE]
    return whole[0].reason if whole and len(whole) == len(assessment.findings) else ""


def _is_code(text: AddedText, assessment: Assessment) -> bool:
    """Whether the text was read as code."""
    if language_of(text.path, text.new) is not None or (text.executable and not text.new.startswith("#!")):
        return True
    return any(one.id == PROGRAM and one.reason == RUN_BY_TOOL for one in assessment.findings)


def _said(one: Finding) -> tuple[str, Level, str]:
    return one.id, one.level, one.reason


def _added(text: AddedText) -> frozenset[int]:
    old, new = lines.split(text.old), lines.split(text.new)
    if len(old) + len(new) > MOST_LINES:
        return frozenset(range(1, len(new) + 1))
    return lines.added(lines.hunks_of(old, new))


def _old(change: ProjectChange, project: Path) -> str:
    """Return the text that the project has; '' for none, for a large one, and for what is no text."""
    before = change.before
    if before is None or before.kind is not TreeKind.FILE or before.size > MOST_BYTES:
        return ""
    try:
        return beginning(project, change.path, MOST_BYTES + 1).decode()
    except (OSError, UnreadableEntry, UnicodeDecodeError):
        return ""
