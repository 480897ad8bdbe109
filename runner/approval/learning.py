"""Turns answers into offers: what a person approved again and again, as a grant that they may make of it.

An offer is no wider than the grant that they could make by hand of the request it names. Only what was approved with
the very same bounds is counted together: many harmless requests are no reason to offer what one other needs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from runner.approval.past import Past, approved_as_asked, past, pasts
from runner.model.errors import KnownError
from runner.policy.grants import Choice, Grant, Subject, longest_for, make, most_uses, offered, program

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from runner.approval.circumstances import Circumstances
    from runner.audit.history.search import CaseRecord
    from runner.model.assessment import Assessment, Level
    from runner.policy.grantfile import Grants
    from runner.policy.grants import Outline

OFTEN = 3
"""Approvals with the same bounds after which they are offered."""
MOST_OFFERED = 5
LONGEST_OFFER = 8 * 3600.0
"""Longest time of an offer in seconds: a day's work. The dialog has longer ones."""
LONGEST_CODE = 50_000
"""Characters of code above which no values are looked for: the same text counts then."""
WIDEST_FIRST = (Subject.SHAPE, Subject.TEXT, Subject.EXACT)
"""Kinds of grants that are offered. A kind of request says too little of what it is, and kept sandboxes end."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A grant that might be made of past requests."""

    latest: Past
    """The request of which it would be made."""
    choice: Choice
    grant: Grant
    """What it would be."""
    may: tuple[Subject, ...]
    """The kinds of grants that this request allows."""
    approved: int
    """How many a person approved that give the very same grant."""
    seconds: float
    """Median time to these answers."""
    covered: tuple[Past, ...]
    """All of the requests looked at that it would have answered, newest first."""

    @property
    def refused(self) -> tuple[Past, ...]:
        """Those that a person denied."""
        return tuple(one for one in self.covered if one.refused)


@dataclass(frozen=True, slots=True)
class Learned:
    """What the latest requests give."""

    looked_at: tuple[Past, ...] = ()
    """Newest first."""
    offers: tuple[Offer, ...] = ()
    """Without a denied one first, then the most frequent."""

    @property
    def answered(self) -> int:
        """How many of those looked at a person answered."""
        return sum(one.answered for one in self.looked_at)

    @property
    def alike(self) -> int:
        """How many that a person approved an offer would have answered; each counts once."""
        return len({one.id for offer in self.offers for one in offer.covered if one.answered and not one.refused})


class Learning:
    """Looks through past requests for what may be offered; on any thread."""

    def __init__(self, circumstances: Circumstances, grants: Grants) -> None:
        self._circumstances = circumstances
        self._grants = grants

    def look(self, records: Sequence[CaseRecord], gone: Collection[str], outline: Outline) -> Learned:
        """Return the offers that `records`, newest first, give; agents of the names `gone` are no more."""
        policy = self._circumstances.policy()
        known = [
            (one, policy.weigh(one.request, one.assessment))
            for one in records
            if one.assessment and one.request.agent not in gone and self._counts(one)
        ]
        groups: dict[Grant, list[tuple[CaseRecord, Assessment]]] = defaultdict(list)
        for record, assessment in known:
            if approved_as_asked(record) and (grant := self._widest(record, assessment, outline)) is not None:
                groups[_bounds(grant)].append((record, assessment))
        often = sorted((one for one in groups.items() if len(one[1]) >= OFTEN), key=lambda one: -len(one[1]))
        found = sorted(self._offers(often, known, outline), key=lambda one: (bool(one.refused), -one.approved))
        return Learned(tuple(past(record) for record, _ in known), tuple(found[:MOST_OFFERED]))

    def _counts(self, record: CaseRecord) -> bool:
        """Return whether it is of the agent that has this name now, and not of an earlier one."""
        return self._circumstances.registered(record.request.agent) <= record.row.arrived_at

    def _widest(self, record: CaseRecord, assessment: Assessment, outline: Outline) -> Grant | None:
        """Return the widest grant that might be offered of a request; None where there is none."""
        request = record.request
        if self._circumstances.policy().closed_to_grants(request, assessment.level):
            return None
        for subject in WIDEST_FIRST:
            if subject not in offered(request, assessment.level):
                continue
            if subject is Subject.SHAPE and len(request.code) > LONGEST_CODE:
                continue
            try:
                return self._grant(record, assessment, Choice(subject, 1, _seconds(assessment.level)), outline)
            except KnownError:
                continue
        return None

    def _grant(self, record: CaseRecord, assessment: Assessment, choice: Choice, outline: Outline) -> Grant:
        return make(record.request, assessment, choice, self._grants.now(), self._grants.session, outline)

    def _offers(
        self,
        groups: Sequence[tuple[Grant, Sequence[tuple[CaseRecord, Assessment]]]],
        known: Sequence[tuple[CaseRecord, Assessment]],
        outline: Outline,
    ) -> Iterator[Offer]:
        """Yield an offer for each group of which nothing is remembered, and none offered, that covers it already."""
        made: list[Grant] = []
        for bounds, group in groups:
            record, assessment = group[0]
            request = record.request
            registered = self._circumstances.registered(request.agent)
            if self._grants.find(request, assessment, registered, outline) is not None:
                continue
            if any(one.covers(request, assessment, outline) for one in made):
                continue
            uses = min(len(group), most_uses(assessment.level))
            choice = Choice(_narrowest([one for one, _ in group], bounds.subject), uses, _seconds(assessment.level))
            grant = self._grant(record, assessment, choice, outline)
            covered = [one for one, its in known if grant.covers(one.request, its, outline)]
            if any(one.unforeseen for one in covered):
                continue
            made.append(grant)
            waited = [one.decision.after_seconds for one, _ in group if one.decision is not None]
            yield Offer(
                past(record),
                choice,
                grant,
                offered(request, assessment.level),
                len(group),
                median(waited),
                pasts(covered),
            )


def _bounds(grant: Grant) -> Grant:
    """Return all that a grant covers, without what differs each time that one is made."""
    return replace(grant, name="", made_at=0.0, title="", expires_at=0.0)


def _seconds(level: Level) -> float:
    return min(LONGEST_OFFER, longest_for(level))


def _narrowest(group: Sequence[CaseRecord], widest: Subject) -> Subject:
    """Return the narrowest kind of grant that all of a group have in common; `widest` is one."""
    if len({one.request.digest for one in group}) == 1:
        return Subject.EXACT
    return Subject.TEXT if len({program(one.request) for one in group}) == 1 else widest
