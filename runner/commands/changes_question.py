"""The changes of a program that has ended, and the question what to apply of them."""

from __future__ import annotations

import importlib
import sys
import termios
import threading
from typing import TYPE_CHECKING

from runner.model.shown import in_one_line

if TYPE_CHECKING:
    import argparse

    from runner.system.places import Places
    from runner.workspace.change import ProjectChanges
    from runner.workspace.working_copy import WorkingCopy

NEEDED = ("runner.commands.work_changes", "runner.commands.work_findings")
"""What the question needs."""
QUESTION = "[a]pply, {}[s]how the lines, [d]iscard, [k]eep for later? "
MARKED, MERGED = "apply also what is [m]arked, ", "apply also what is merged with your [e]dits, "
FOLDERS, COMMITS = "apply also the [f]olders that stay, ", "apply also [f]olders and commits that stay, "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the answers that may be given beforehand."""
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--apply", action="store_true", help="apply without asking what is ticked on the page Work")
    answer.add_argument("--discard", action="store_true", help="list the changes and discard them")
    answer.add_argument("--keep", action="store_true", help="keep the changes for `assent work`")


def load() -> None:
    """Load what the question needs on a thread, once the program is being started: it does not wait for it.

    Not before that, as the two would take turns in the interpreter; and not when the program has ended, as an update
    may have replaced it by then.
    """
    threading.Thread(target=_load_needed, name="loading", daemon=True).start()


def _load_needed() -> None:
    for name in NEEDED:
        importlib.import_module(name)


def decide(arguments: argparse.Namespace, places: Places, copy: WorkingCopy, *, why: str, told: int) -> None:
    """List the changes, and do with them what is asked for. Raises KnownError.

    `why` says why Assent ended the program, `told` by which signal it was told to.
    """
    from runner.commands import work_changes
    from runner.model.work_entries import UNCHANGED
    from runner.workspace.groups import chosen

    found = work_changes.looked(copy)
    if not found.changes and not found.left_out:
        if copy.can_undo:
            _say(f"Nothing is left to apply. What was applied can be undone: assent work undo {copy.name}.")
            return
        work_changes.discard(places, copy, {UNCHANGED: True})
        _say("Nothing changed.")
        return
    work_changes.tell(found)
    work_changes.keep_originals(copy, found)
    if arguments.discard:
        _say(_discarded(places, copy))
    elif arguments.apply and not why:
        wanted = chosen(found)
        work_changes.apply(places, copy, wanted, left=len(found.changes) - len(wanted))
    elif arguments.apply or arguments.keep or told or not (sys.stdin.isatty() and sys.stderr.isatty()):
        _kept(copy)
    else:
        _ask(places, copy, found)


def _ask(places: Places, copy: WorkingCopy, found: ProjectChanges) -> None:
    """Ask until something is decided; the end of the input keeps the changes."""
    from runner.commands import work_changes, work_findings
    from runner.workspace.groups import chosen

    plain = chosen(found)
    marked = chosen(found, marked=True)
    merged = chosen(found, merged=True)
    many = chosen(found, many=True)
    folders = FOLDERS if found.commits is None else COMMITS
    more = "".join(
        words for words, wanted in ((folders, many), (MARKED, marked), (MERGED, merged)) if len(wanted) > len(plain)
    )
    while True:
        # What was typed for the command, or before the question could be seen, is no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        sys.stdout.write(QUESTION.format(more))
        sys.stdout.flush()
        try:
            answer = sys.stdin.readline()
        except KeyboardInterrupt:
            answer = ""
        match answer.strip().lower() if answer else "k":
            case "a" | "apply":
                work_changes.apply(places, copy, plain, left=len(found.changes) - len(plain))
                return
            case "f" | "folders" if folders in more:
                work_changes.apply(places, copy, many, left=len(found.changes) - len(many))
                return
            case "m" | "marked" if MARKED in more:
                work_changes.apply(places, copy, marked, left=len(found.changes) - len(marked))
                return
            case "e" | "edits" if MERGED in more:
                work_changes.apply(places, copy, merged, left=len(found.changes) - len(merged))
                return
            case "s" | "show":
                work_findings.tell_lines(places, copy, found)
            case "d" | "discard":
                _say(_discarded(places, copy))
                return
            case "k" | "keep":
                _kept(copy)
                return
            case _:
                continue


def _discarded(places: Places, copy: WorkingCopy) -> str:
    """Discard a working copy; return what that means for the folder. Raises KnownError."""
    from runner.commands import work_changes

    applied = copy.can_undo
    work_changes.discard(places, copy)
    stays = "What was applied before stays, and can no longer be undone" if applied else "The folder stays as it was"
    return f"The changes were discarded. {stays}."


def _kept(copy: WorkingCopy) -> None:
    _say(f"Kept as {copy.name}: assent work changes {copy.name}, then apply or discard.")


def _say(words: str) -> None:
    sys.stdout.write(in_one_line(f"assent: {words}") + "\n")
