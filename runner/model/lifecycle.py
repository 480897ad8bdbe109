"""The life of a request as one table (spec, *Life of a request*). Pure data."""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    ARRIVED = "arrived"
    ASSESSED = "assessed"
    ASKED = "asked"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    RUNNING = "running"
    FINISHED = "finished"
    CLOSED = "closed"


NEXT: dict[Phase | None, frozenset[Phase]] = {
    None: frozenset({Phase.ARRIVED}),
    Phase.ARRIVED: frozenset({Phase.ASSESSED, Phase.DENIED, Phase.WITHDRAWN}),
    Phase.ASSESSED: frozenset({Phase.ASKED, Phase.APPROVED, Phase.DENIED, Phase.WITHDRAWN}),
    # After a restart the question is asked again; no old decision is replayed (spec I4).
    Phase.ASKED: frozenset({Phase.ASKED, Phase.APPROVED, Phase.DENIED, Phase.EXPIRED, Phase.WITHDRAWN}),
    Phase.APPROVED: frozenset({Phase.RUNNING, Phase.FINISHED}),
    Phase.RUNNING: frozenset({Phase.FINISHED}),
    Phase.FINISHED: frozenset({Phase.CLOSED}),
    Phase.DENIED: frozenset({Phase.CLOSED}),
    Phase.EXPIRED: frozenset({Phase.CLOSED}),
    Phase.WITHDRAWN: frozenset({Phase.CLOSED}),
    Phase.CLOSED: frozenset(),
}


class IllegalMove(Exception):
    """A step that the table does not have: always a bug."""


def check(now: Phase | None, then: Phase) -> None:
    """Raise IllegalMove unless the table has a step from `now` to `then`."""
    if then not in NEXT[now]:
        raise IllegalMove(f"{now or 'nothing'} -> {then}")
