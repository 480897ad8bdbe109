"""`assent work list`: the working copies, and what the programs at work over them wait for."""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from typing import TYPE_CHECKING

from runner.commands.work_printing import print_line, readable_size, say
from runner.model.errors import KnownError
from runner.model.work import WorkSession, after
from runner.work.log import WorkReading
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
            session = session_of(one) if one.is_in_use else None
            say(f"{one.name}  {when}  {one.project}, {readable_size(one.size)}{undo}{_at_work(session)}")
            say(f"    {shlex.join(one.program)}{f', in {one.sandbox}' if one.sandbox else ''}")
            if session is not None:
                _tell_standing(session)
        if done := done_with(copies):
            number = f"{len(done)} of them has" if len(done) == 1 else f"{len(done)} of them have"
            say(f"{number} nothing that was not applied for {KEPT_DAYS} days. Remove: assent work discard --applied")
    return 0


def _at_work(session: WorkSession | None) -> str:
    if session is None:
        return ""
    goes = session.as_it_goes is not None and session.as_it_goes.on
    return f", at work{', APPLIES AS IT GOES' if goes else ''}"


def session_of(copy: WorkingCopy) -> WorkSession:
    """Return what the program at work over a working copy has reported."""
    session, reading = WorkSession(copy.name, str(copy.project), copy.program, copy.made), WorkReading(copy.folder)
    while events := reading.new():
        for event in events:
            session = after(session, event)
    return session


def _tell_standing(session: WorkSession) -> None:
    """Print what keeps commands of a program from being run."""
    if session.refused:
        say(f"    {session.agent}: {session.refused}")
    for held in session.held:
        say(f"    {held.number} is held: {held.text}")
        for why in (f"{held.level} {held.sentence}".strip(), *held.reasons, held.sandbox):
            if why:
                say(f"        {why}")
    if session.held:
        say(f"    Answer with: assent work run {session.name} NUMBER, assent work refuse {session.name} NUMBER")


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
    return {
        "name": copy.name,
        "project": str(copy.project),
        "program": list(copy.program),
        "made": copy.made,
        "way": copy.way,
        "sandbox": copy.sandbox or "bubblewrap",
        "can_undo": copy.can_undo,
        "bytes": copy.size,
    }
