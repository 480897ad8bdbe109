"""Kinds of entries in the ledger about programs at work and their working copies. None of them is about a request."""

from __future__ import annotations

from enum import StrEnum


class WorkDeed(StrEnum):
    """What a person does with the changes of a working copy."""

    APPLY = "apply"
    UNDO = "undo"
    DISCARD = "discard"

    @property
    def wanted(self) -> str:
        """Kind of the entry that says that it will be done: durable before anything is."""
        return f"work-{self}"

    @property
    def done(self) -> str:
        """Kind of the entry that says what was done."""
        return f"work-{_PAST[self]}"

    @property
    def not_done(self) -> str:
        """Kind of the entry that says why nothing was."""
        return f"work-not-{_PAST[self]}"


_PAST = {WorkDeed.APPLY: "applied", WorkDeed.UNDO: "undone", WorkDeed.DISCARD: "discarded"}
STARTED, SEEN, ENDED = "work-started", "work-seen", "work-ended"
"""Kinds of entries about what a log said; each has in `upto` the place up to which it goes."""
OPEN, NOT_OPENED, FORGOTTEN = "work-open", "work-not-opened", "work-host-forgotten"
"""About a host that a person opened; the second one says that the first does not count after all."""
ANSWER, NOT_ANSWERED = "work-answer", "work-not-answered"
"""About a held command, likewise."""
BY_ITSELF = "as it goes"
"""Who did it, in entries about what was applied as it goes; else it is `person`."""
UNCHANGED = "unchanged"
"""True in entries about a working copy that was discarded by itself, as nothing had changed."""
CARRIED, END = "work-carried", "work-end"
SENT = "work-sent"
"""What of a project is sent to another machine, written before any of it is."""
UNKNOWN = "work-unknown"
"""What became of a deed cannot be found out any more."""
WANTED = tuple(deed.wanted for deed in WorkDeed)
AS_IT_GOES, NOT_AS_IT_GOES = "work-as-it-goes", "work-not-as-it-goes"
"""About applying as it goes, switched on or off; the second one says that the first does not count after all."""
SINGLE = (
    *(AS_IT_GOES, NOT_AS_IT_GOES, STARTED, ENDED, OPEN, NOT_OPENED, FORGOTTEN, ANSWER, NOT_ANSWERED, CARRIED, END),
    SENT,
)
"""Kinds of which a person looks at each entry: all but what a program does by the second, and deeds."""
OUTCOMES = (*(deed.done for deed in WorkDeed), *(deed.not_done for deed in WorkDeed), UNKNOWN)
TOLD = (AS_IT_GOES, NOT_AS_IT_GOES, OPEN, NOT_OPENED, ANSWER, NOT_ANSWERED, END)
"""About what a person told a program at work."""
ON_TERMINALS = (*WANTED, *OUTCOMES, *TOLD, SENT)
"""Kinds that a terminal notes and the console brings into the ledger."""
