"""The standing of a program at work on the terminal: what bars its commands, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.commands.work_printing import say
from runner.model.work import WorkSession, after
from runner.work.log import WorkReading

if TYPE_CHECKING:
    from runner.workspace.working_copy import WorkingCopy


def session_of(copy: WorkingCopy) -> WorkSession:
    """Return what the program at work over a working copy has reported."""
    session, reading = WorkSession(copy.name, str(copy.project), copy.program, copy.made), WorkReading(copy.folder)
    while events := reading.new():
        for event in events:
            session = after(session, event)
    return session


def in_short(session: WorkSession) -> str:
    """Return that it is at work, and whether what it changes is applied as it goes."""
    goes = session.as_it_goes is not None and session.as_it_goes.on
    return f", at work{', APPLIES AS IT GOES' if goes else ''}"


def tell(session: WorkSession) -> None:
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
