"""`assent work list`: the working copies, each with the program at work over it."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from typing import TYPE_CHECKING

from runner.commands.work_printing import print_line, say
from runner.model.amounts import readable_size
from runner.model.errors import KnownError
from runner.workspace.working_copy import KEPT_DAYS, WorkingCopy, all_below

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from runner.system.places import Places


def list_copies(arguments: argparse.Namespace, places: Places) -> int:
    """Print the working copies."""
    copies = all_below(places.work)
    if arguments.json:
        print_line(json.dumps([about(one) for one in copies], indent=2))
    elif not copies:
        say("There are no working copies. `assent try COMMAND` makes one of the folder that you are in.")
    else:
        for one in copies:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.made))
            undo = ", applied, can be undone" if one.can_undo else ""
            session = None
            if one.is_in_use:
                # Loaded here: what a program at work reports has many forms, and most lists are of programs that ended.
                from runner.commands import work_standing

                session = work_standing.session_of(one)
                state = work_standing.in_short(session)
            else:
                state = f", {_ending(one)}"
            say(f"{one.name}  {when}  {one.project}, {readable_size(one.size)}{state}{undo}")
            say(f"    {shlex.join(one.program)}{f', in {one.sandbox}' if one.sandbox else ''}")
            if session is not None:
                work_standing.tell(session)
        if done := done_with(copies):
            number = f"{len(done)} of them has" if len(done) == 1 else f"{len(done)} of them have"
            say(f"{number} nothing that was not applied for {KEPT_DAYS} days. Remove: assent work discard --applied")
    return 0


def _ending(copy: WorkingCopy) -> str:
    """Return how the program over a working copy ended."""
    if (end := _end(copy)) is None:
        return "its end is not recorded"
    at, code, why = end
    how = why.rstrip(".") or (f"with {code}" if code else "by itself")
    return f"ended {time.strftime('%H:%M', time.localtime(at))} {f'({how})' if why else how}"


def _end(copy: WorkingCopy) -> tuple[float, int, str] | None:
    """Return when its program ended, with which code, and why Assent ended it; None where that is not recorded."""
    if copy.ended:
        return copy.ended, copy.code, ""
    # Loaded here: a single command notes its end itself.
    from runner.work.log import end_of

    with contextlib.suppress(OSError):
        if (end := end_of(copy.folder)) is not None:
            return end.at, end.code, end.why
    return None


def done_with(copies: Iterable[WorkingCopy]) -> list[WorkingCopy]:
    """Return those that are offered to be removed; one that cannot be looked at is none of them."""
    found = []
    for one in copies:
        with contextlib.suppress(KnownError, OSError):
            if one.is_done_with(time.time()):
                found.append(one)
    return found


def about(copy: WorkingCopy) -> dict[str, object]:
    """Return what `--json` says of a working copy."""
    at_work = copy.is_in_use
    end = None if at_work else _end(copy)
    return {
        "name": copy.name,
        "project": str(copy.project),
        "program": list(copy.program),
        "made": copy.made,
        "way": copy.way,
        "sandbox": copy.sandbox or "bubblewrap",
        "can_undo": copy.can_undo,
        "bytes": copy.size,
        "at_work": at_work,
        "ended": None if end is None else dict(zip(("at", "code", "why"), end, strict=True)),
    }
