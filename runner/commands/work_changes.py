"""The changes of a working copy on the terminal: listed, applied, taken back, discarded."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from runner.commands.deeds import carried_out
from runner.commands.work_list import done_with
from runner.commands.work_printing import (
    SIGNS,
    change_line,
    is_counted,
    left_out,
    print_line,
    reason,
    say,
    shown_path,
    tell_counted,
    yes,
)
from runner.engine.work.facts import kept_facts
from runner.model.amounts import readable_size
from runner.model.errors import KnownError
from runner.model.work_entries import WorkDeed
from runner.sandbox.file_names import shown
from runner.workspace.change import WHOLE, digest
from runner.workspace.difference import total
from runner.workspace.groups import chosen, groups_of, is_below, is_new_folder
from runner.workspace.hunks import with_hunks
from runner.workspace.marks import PART
from runner.workspace.working_copy import KEPT_DAYS, WorkingCopy, all_below, named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from runner.system.places import Places
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.progress import WriteProgress
    from runner.workspace.undo import WayBack

MOST_LISTED = 200
STAYS = "marked (!), merged, in conflict with the project, or in a folder that was not named (node_modules, .git)."
SHOWN_SECONDS = 0.1
"""Between two lines that say how far it is."""
GIT = b".git"
LEFT = 1
"""Exit code where something was not done."""


class ProgressLine:
    """Shows on the terminal how far something is. While it can only go on to its end, Ctrl+C is not heard."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._next = 0.0
        self._before: Any = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, progress: WriteProgress) -> None:
        if progress.sure and self._before is None and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        if sys.stderr.isatty() and time.monotonic() >= self._next:
            self._next = time.monotonic() + SHOWN_SECONDS
            sys.stderr.write(f"\r{progress.words} {self._verb if progress.sure else 'copied'}\x1b[K")
            sys.stderr.flush()

    def __exit__(self, *_error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._next:
            sys.stderr.write("\r\x1b[K")


def looked(copy: WorkingCopy) -> ProjectChanges:
    """Return what a working copy changes in its project now. Raises KnownError."""
    try:
        return copy.changes()
    except (OSError, ValueError) as error:
        raise KnownError(f"{copy.name} cannot be read: {error}.", "Look at the changes again.") from error


def keep_originals(copy: WorkingCopy, found: ProjectChanges) -> None:
    """Keep what can be kept, so that the changes can be merged later. Raises KnownError."""
    with contextlib.suppress(OSError):  # without room for it they conflict instead
        copy.keep_originals(found)


def show_changes(arguments: argparse.Namespace, places: Places) -> int:
    """Print what a working copy changes. Raises KnownError."""
    copy = named(places.work, arguments.name)
    found = looked(copy)
    keep_originals(copy, found)
    if arguments.json or arguments.diff:
        # What reads code takes longer to load than all else.
        from runner.commands import work_findings
    if arguments.json:
        print_line(json.dumps(work_findings.as_json(places, copy, found), indent=2))
    else:
        tell(found)
        if arguments.diff:
            work_findings.tell_lines(places, copy, found)
    return 0


def apply_changes(arguments: argparse.Namespace, places: Places) -> int:
    """Apply the changes that are meant; 1 where some are left. Raises KnownError."""
    copy = named(places.work, arguments.name)
    found = looked(copy)
    if arguments.digest and digest(found.changes) != arguments.digest:
        raise KnownError("The changes are not those with this digest any more.", "Look at them again.")
    below = [os.fsencode(path).strip(b"/") for path in arguments.path]
    asked = [one for one in found.changes if not below or any(is_below(one.path, path) for path in below)]
    if below and not asked:
        raise KnownError("Nothing is changed there.", f"assent work changes {copy.name}")
    if arguments.hunks and (len(below) != 1 or [one.path for one in asked] != below):
        raise KnownError("Hunks are of one file.", f"assent work apply {copy.name} PATH --hunks 1,3")
    wanted = chosen(found, marked=arguments.marked, merged=arguments.merged, many=arguments.folders, named=below)
    _require_whole(copy, found, wanted)
    if arguments.hunks:
        wanted = tuple(with_hunks(one, copy.project, copy.content, arguments.hunks) for one in wanted)
    return apply(places, copy, wanted, left=len(asked) - len(wanted))


def _require_whole(copy: WorkingCopy, found: ProjectChanges, wanted: Sequence[ProjectChange]) -> None:
    """Raise KnownError where some of what a repository needs for its commits would be applied, and the rest not."""
    if found.commits is None:
        return
    needed = {
        one.path
        for one in found.changes
        if is_below(one.path, GIT) and one.mark in ("", PART) and not one.conflict and not is_new_folder(one)
    }
    if (some := needed & {one.path for one in wanted}) and some != needed:
        what = f"Nothing was applied. {found.commits.words} {WHOLE}"
        raise KnownError(what, f"Name .git, or what else is to be applied: assent work changes {copy.name}")


def undo_changes(arguments: argparse.Namespace, places: Places) -> int:
    """Take back what can be of what was applied last; 1 where something stays. Raises KnownError."""
    copy = named(places.work, arguments.name)
    try:
        plan = copy.undo_plan()
    except OSError as error:
        raise KnownError(f"{copy.name} cannot be read: {error}.", "Nothing was taken back.") from error
    if not arguments.json:
        for path, why in plan.kept:
            change_line("?", shown(path), f"stays: {why}", conflict=True)
    if arguments.dry_run:
        if arguments.json:
            print_line(json.dumps(_undo_as_json(copy, plan, None), indent=2))
        else:
            for one in plan.changes:
                change_line(SIGNS[one.how], shown_path(one))
            say(f"{total(plan.changes)} would be taken back. Nothing was done.")
        return LEFT if plan.kept else 0
    plan.require_some()
    if plan.kept and not arguments.partly:
        question = f"{total(plan.changes)} can be taken back; what is named above stays."
        if not sys.stdin.isatty() or arguments.json:
            what = f"Nothing was taken back: {len(plan.kept):,} would stay, as somebody changed that since."
            raise KnownError(what, f"assent work undo {copy.name} --partly takes back the rest.")
        if not yes(f"{question} Take it back?"):
            return LEFT
    with ProgressLine("taken back") as progress:
        done = carried_out(
            places,
            WorkDeed.UNDO,
            copy,
            plan.changes,
            lambda number: copy.undo(progress, number=number, wanted=digest(plan.changes)),
            more=kept_facts(plan),
        )
    if arguments.json:
        print_line(json.dumps(_undo_as_json(copy, plan, done), indent=2))
        return LEFT if plan.kept or done.passed_over else 0
    return _said(done, "Taken back", copy, 0) or (LEFT if plan.kept else 0)


def _undo_as_json(copy: WorkingCopy, plan: WayBack, done: Applied | None) -> dict[str, object]:
    """Return what was taken back, or without `done` what would be."""
    over = () if done is None else done.passed_over
    return {
        "name": copy.name,
        "project": str(copy.project),
        "done": done is not None,
        "undone": [shown(one.path) or "." for one in plan.changes if one.path not in over],
        "kept": [{"path": shown(path), "why": why} for path, why in plan.kept],
        "passed_over": [shown(path) for path in over],
    }


def discard_copy(arguments: argparse.Namespace, places: Places) -> int:
    """Remove a working copy, or those that are applied; 1 where the person does not want to. Raises KnownError."""
    if arguments.applied == bool(arguments.name):
        raise KnownError("Name one working copy, or say --applied.", "assent work list names them.")
    if arguments.applied:
        return _discard_applied(places, yes=arguments.yes)
    copy = named(places.work, arguments.name)
    if not arguments.yes and not _agreed(lambda: f"{total(looked(copy).changes)}. Discard them?"):
        return LEFT
    discard(places, copy)
    say(f"{copy.name} was discarded. The project stays as it is.")
    return 0


def discard(places: Places, copy: WorkingCopy, more: Mapping[str, object] | None = None) -> None:
    """Remove a working copy with its changes; `more` is what the history says beside that. Raises KnownError."""
    with ProgressLine("removed") as progress:
        carried_out(places, WorkDeed.DISCARD, copy, (), lambda _number: copy.discard(progress), more=more)


def _discard_applied(places: Places, *, yes: bool) -> int:
    done = done_with(all_below(places.work))
    for one in done:
        say(f"{one.name}  {one.project}, {readable_size(one.size)}")
    if not done:
        say(f"No working copy has had nothing that was not applied for {KEPT_DAYS} days.")
    elif not yes and not _agreed(lambda: "Discard these, with what Undo would need?"):
        return LEFT
    left = [one for one in done if not one.discard_applied()]
    for one in left:
        say(f"{one.name} was left: something in it is not applied now.")
    say(f"{len(done) - len(left)} discarded. The projects stay as they are.")
    return LEFT if left else 0


def _agreed(question: Callable[[], str]) -> bool:
    """Ask; return whether the person agreed. Raises KnownError where nobody can be asked."""
    if not sys.stdin.isatty():
        raise KnownError("Nothing was discarded: nobody can be asked here.", "Add --yes.")
    return yes(f"{question()} This cannot be undone.")


def apply(places: Places, copy: WorkingCopy, wanted: Sequence[ProjectChange], *, left: int) -> int:
    """Apply `wanted` and say so; 1 where something is left. Raises KnownError."""
    if not wanted:
        say("Nothing was applied." if left else "There is nothing to apply.")
        return _said(None, "", copy, left)
    with ProgressLine("written") as progress:
        done = carried_out(
            places, WorkDeed.APPLY, copy, wanted, lambda number: copy.apply(wanted, progress, number=number)
        )
    return _said(done, "Applied", copy, left)


def tell(found: ProjectChanges) -> None:
    """Print the changes, a line each; many in one folder as one line."""
    groups = groups_of(found)
    listed = [(group, one) for group in groups if not is_counted(group) for one in group.changes]
    # What needs a word first, as what follows may be too much to be listed.
    listed.sort(key=lambda row: (not reason(*row), row[1].path))
    for group, one in listed[:MOST_LISTED]:
        change_line(
            SIGNS[one.how], shown_path(one), reason(group, one), conflict=bool(one.conflict), more=left_out(group)
        )
    for group in filter(is_counted, groups):
        tell_counted(group)
    if len(listed) > MOST_LISTED:
        marked = sum(bool(reason(*row)) for row in listed[MOST_LISTED:])
        among = f", of them {marked:,} marked (!) or in conflict" if marked else ""
        say(f"  ... and {len(listed) - MOST_LISTED:,} more{among}")
    for path, why in found.left_out[:MOST_LISTED]:
        change_line("?", shown(path), why)
    say(f"{total(found.changes)}.")
    if found.commits is not None:
        say(f"{found.commits.words} {WHOLE}")


def _said(done: Applied | None, verb: str, copy: WorkingCopy, left: int) -> int:
    if done is not None:
        undo = f" Undo: assent work undo {copy.name}" if copy.can_undo else ""
        say(f"{verb}: {done.paths:,} {'change' if done.paths == 1 else 'changes'}.{undo}")
        for path in done.passed_over:
            change_line("?", shown(path), "somebody changed it in this moment; it was left alone", conflict=True)
    if left:
        say(f"{left:,} left in the working copy {copy.name}: {STAYS}")
    return LEFT if left or (done is not None and done.passed_over) else 0
