"""A deed on the terminal: checked as in the window, and noted for the history before and after it is done."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from typing import TYPE_CHECKING, TypeVar

from runner.approval.deliberate import ApproveBy
from runner.engine.work.facts import NOTHING_DONE, cut, facts_of, outcome_facts, sent_facts
from runner.identity.pin import PinLock
from runner.identity.secrets import Secrets
from runner.model.errors import KnownError
from runner.model.work_entries import AS_IT_GOES, BY_ITSELF, NOT_AS_IT_GOES, SENT, WorkDeed
from runner.settings.loading import load
from runner.work import deed_log, lockdown
from runner.workspace import apply
from runner.workspace.change import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from runner.model.sent_files import SentFiles
    from runner.system.places import Places
    from runner.workspace.change import ProjectChange
    from runner.workspace.working_copy import WorkingCopy

T = TypeVar("T")
PERSON = "person"


def require_terminal(what: str) -> None:
    """Raise KnownError where standard input is no terminal: nobody is there who reads what is let happen.

    Against scripts that mean no harm: a program of this account can make a terminal for itself, but not know the PIN.
    """
    if not sys.stdin.isatty():
        raise KnownError(f"Nothing was done: {what} on a terminal, or on the page Work.", "Use a terminal.")


def require_word(places: Places) -> None:
    """Raise KnownError in lockdown, and where the PIN is asked for and does not come."""
    lockdown.require_open(places)
    settings = load(places, os.environ).settings
    if not ApproveBy.of(settings).asks_pin(None):
        return
    if not sys.stdin.isatty():
        raise KnownError("Nothing was done: this needs the PIN (setting window.approve_by).", "Use a terminal.")
    asyncio.run(PinLock(Secrets(places, settings)).check(getpass.getpass("Your PIN: ")))


def carried_out(
    places: Places,
    deed: WorkDeed,
    copy: WorkingCopy,
    changes: Sequence[ProjectChange],
    do: Callable[[str], T],
    *,
    by: str = PERSON,
    more: Mapping[str, object] | None = None,
) -> T:
    """Do something with the changes of a working copy: `do` gets its number. Raises KnownError.

    `more` is what both entries say beside that. `by` says who does it: what is applied as it goes had its word when
    that was switched on.
    """
    if by == BY_ITSELF:
        lockdown.require_open(places)
    elif deed is not WorkDeed.DISCARD:
        require_word(places)
    number = apply.new_number()
    facts = {**facts_of(copy, changes), "digest": digest(changes)} if changes else facts_of(copy, ())
    short = {"number": number, "name": copy.name, "project": str(copy.project), "by": by}
    deed_log.note(places.work, deed.wanted, {"number": number, "by": by, "at": "terminal", **facts, **(more or {})})
    try:
        done = do(number)
    except (KnownError, OSError) as error:
        what = error if isinstance(error, KnownError) else KnownError(f"{error.strerror or error}.", NOTHING_DONE)
        if deed is not WorkDeed.DISCARD and apply.is_begun(copy.folder):
            remedy = f"Free disk space, then finish it with: assent work changes {copy.name}"
            raise KnownError(f"Not everything could be written: {what.what}", remedy) from error
        deed_log.note(places.work, deed.not_done, {**short, "why": str(what)})
        raise what from error
    outcome = outcome_facts(done) if isinstance(done, apply.Applied) else {}
    deed_log.note(places.work, deed.done, {**short, **outcome, **(more or {})})
    return done


def switched(places: Places, copy: WorkingCopy, *, on: bool, do: Callable[[], object]) -> None:
    """Switch applying as it goes on or off by `do`, noted before. Raises KnownError; off needs no word."""
    if on:
        require_terminal("applying as it goes is switched on")
        require_word(places)
    ordered(places, copy, (AS_IT_GOES, NOT_AS_IT_GOES), {"on": on}, do)


def ordered(
    places: Places,
    copy: WorkingCopy,
    kinds: tuple[str, str],
    facts: Mapping[str, object],
    do: Callable[[], object],
) -> None:
    """Give a program at work an order by `do`, noted before. Raises KnownError.

    The second of `kinds` is noted where the order did not reach the program.
    """
    note_order(places, copy, kinds[0], facts)
    try:
        do()
    except KnownError as error:
        note_order(places, copy, kinds[1], {**facts, "why": error.what})
        raise


def note_sent(places: Places, copy: WorkingCopy, sends: SentFiles) -> None:
    """Note what is about to be sent to another machine. Raises KnownError: then none of it is to be sent."""
    note_order(places, copy, SENT, {"sandbox": copy.sandbox, **sent_facts(sends)})


def note_order(places: Places, copy: WorkingCopy, kind: str, facts: Mapping[str, object]) -> None:
    """Note an order for a program at work. Raises KnownError."""
    about = {"name": copy.name, "project": cut(str(copy.project))}
    deed_log.note(places.work, kind, {**about, **facts, "by": PERSON, "at": "terminal"})
