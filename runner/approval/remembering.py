"""What is remembered, as the engine uses it: made, used and revoked with an entry each; looked at before and after."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from runner.approval.outlines import Outlines
from runner.audit.search import History
from runner.model.assessment import Level
from runner.model.decision import Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.events import GrantsChanged
from runner.policy.explain import explain
from runner.policy.grantfile import plain
from runner.policy.grants import Subject, make, program
from runner.requests import intake

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.assembly import Rooms
    from runner.audit.search import Record
    from runner.engine.engine import Engine
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.model.submission import Submission
    from runner.policy.explain import Explanation
    from runner.policy.grants import Choice, Grant, Outline
    from runner.requests.case import Case
    from runner.requests.cases import Cases

LOOKED_AT = 200
"""Requests that a preview looks back on (console.md, *Remembering*)."""
OFTEN = 3
"""Times that a person approved the same program before it is suggested to remember it."""
MOST_SUGGESTED = 5
MADE, USED, REVOKED = "grant-made", "grant-used", "grant-revoked"
"""Kinds of entries in the ledger."""


@dataclass(frozen=True, slots=True)
class Past:
    """A request of the history, and what became of it."""

    id: str
    agent: str
    title: str
    code: str
    """Its beginning."""
    level: Level
    digest: str
    verdict: Verdict | None
    by: Decider | None
    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a grant would have covered."""

    grant: Grant
    looked_at: int
    covered: tuple[Past, ...]
    """Newest first."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A program that a person approved again and again."""

    latest: Past
    times: int
    seconds: float
    """Median time to the answer."""


class Remembering:
    """Every method is called on the engine's loop."""

    def __init__(self, engine: Engine, rooms: Rooms, cases: Cases) -> None:
        self._engine = engine
        self._rooms = rooms
        self._cases = cases

    # ---- on the path of a request ----

    async def decide(self, case: Case) -> Decision | None:
        """The decision of a grant that covers the request of `case`; None where a person has to be asked.

        Both the use and its entry are durable when this returns. Raises LedgerFailed.
        """
        request, assessment = case.request, case.assessment
        assert assessment is not None
        if self._rooms.policy.closed_to_grants(request, assessment.level):
            return None
        grants, registered = self._rooms.grants, self._registered(request.agent)
        outline = Outlines(self._rooms.assessor, request.agent)
        grants.find(request, assessment, registered, outline)
        while await outline.learn():
            grants.find(request, assessment, registered, outline)
        try:
            grant = await grants.claim(request, assessment, registered, outline)
        except KnownError as failure:
            self._engine.trouble("grants", failure.what, f"{failure.remedy} Until then you are asked.")
            return None
        # Asked again: rules may have changed while the use was written.
        if grant is None or self._rooms.policy.closed_to_grants(request, assessment.level):
            return None
        self._engine.clear("grants")
        told = {"grant": grant.name, "use": grant.used, "of": grant.uses}
        await self._rooms.book.append(USED, request.id, told)
        self._engine.publish(GrantsChanged())
        reason = f"Approved without asking: remembered as {grant.name}, use {grant.used} of {grant.uses}."
        return Decision(Verdict.APPROVED, Decider.GRANT, reason, grant.name, 0.0, request.digest)

    # ---- made and revoked by a person ----

    async def add(self, request_id: str, digest: str, choice: Choice) -> Grant:
        """Remember what was chosen about a request, open or past. Raises KnownError where that may not be."""
        request, assessment = await self._about(request_id)
        if request.digest != digest:
            raise KnownError("What was on screen is not this request.", "Look at it again.")
        grant = await self._make(request, assessment, choice)
        await self._rooms.book.append(MADE, "", {"request": request_id, **plain(grant)})
        await self._rooms.grants.add(grant)
        self._engine.publish(GrantsChanged())
        return grant

    async def revoke(self, names: tuple[str, ...], why: str) -> None:
        """They count no more. Raises KnownError where that cannot be written down; they are revoked all the same."""
        try:
            gone = await self._rooms.grants.revoke(names)
        finally:
            self._engine.publish(GrantsChanged())
        for grant in gone:
            await self._rooms.book.append(REVOKED, "", {"grant": grant.name, "why": why, "used": grant.used})

    async def revoke_of(self, agent: str) -> None:
        """The agent is revoked: whoever takes its name later gets nothing of this."""
        mine = tuple(grant.name for grant in self._rooms.grants.all() if grant.agent == agent)
        if mine:
            await self.revoke(mine, "The agent was revoked.")

    async def revoke_for(self, sandbox: str) -> None:
        """The sandbox is gone, and with it what was remembered for it."""
        mine = tuple(grant.name for grant in self._rooms.grants.all() if grant.sandbox == sandbox)
        if mine:
            await self.revoke(mine, "Its sandbox was removed.")

    async def begin_anew(self) -> None:
        """Set a grants file that cannot be read aside."""
        await self._rooms.grants.begin_anew()
        self._engine.reload()
        self._engine.publish(GrantsChanged())

    # ---- looked at ----

    async def preview(self, request_id: str, choice: Choice) -> Preview:
        """What the grant would be, and which of the last requests it would have covered. Raises KnownError."""
        request, assessment = await self._about(request_id)
        grant = await self._make(request, assessment, choice)
        records = await asyncio.to_thread(self._latest)
        outline = Outlines(self._rooms.assessor)
        preview = await asyncio.to_thread(self._look_back, grant, records, outline)
        while await outline.learn():
            preview = await asyncio.to_thread(self._look_back, grant, records, outline)
        return preview

    async def explain_past(self, request_id: str) -> Explanation:
        """What would happen to the same call today. Raises KnownError where there is no such request."""
        request, _ = await self._about(request_id)
        return await self._explain(replace(request, isolation=self._rooms.isolation))

    async def explain_program(self, submission: Submission) -> Explanation:
        """What would happen to a call that nobody made. Raises Refused for what is out of bounds."""
        return await self._explain(intake.request(submission, self._rooms.settings, self._rooms.isolation))

    async def suggestions(self) -> tuple[Suggestion, ...]:
        """Programs that were approved often, never denied, and are not remembered; the most frequent first."""
        groups = await asyncio.to_thread(self._often)
        outline = Outlines(self._rooms.assessor)
        found = await asyncio.to_thread(self._unremembered, groups, outline)
        while await outline.learn():
            found = await asyncio.to_thread(self._unremembered, groups, outline)
        return tuple(sorted(map(_suggestion, found), key=lambda one: (-one.times, -one.latest.at))[:MOST_SUGGESTED])

    async def _explain(self, request: Request) -> Explanation:
        rooms, modes, registered = self._rooms, self._engine.modes, self._registered(request.agent)
        assessed = await rooms.assess(request, person=True)

        outline = Outlines(rooms.assessor)

        def explained() -> Explanation:
            return explain(modes, rooms.policy, rooms.grants, request, assessed, registered, outline)

        explanation = explained()
        while await outline.learn():
            explanation = explained()
        return explanation

    def _registered(self, agent: str) -> float:
        """When the agent of that name was added, in seconds since the epoch; 0 for one that nobody added."""
        return max((one.created_at for one in self._rooms.agents.all() if one.name == agent), default=0.0)

    async def _make(self, request: Request, assessment: Assessment, choice: Choice) -> Grant:
        """Raises KnownError."""
        code = ""
        if choice.subject is Subject.SHAPE:
            code = await self._rooms.assessor.outline(request.language, request.code)
        if why := self._rooms.policy.closed_to_grants(request, assessment.level):
            raise KnownError(why, "Approve it each time.")
        grants = self._rooms.grants
        return make(request, assessment, choice, grants.now(), grants.session, lambda _request: code)

    async def _about(self, request_id: str) -> tuple[Request, Assessment]:
        case = self._cases.find(request_id)
        if case is not None and case.assessment is not None:
            return case.request, case.assessment
        record = await asyncio.to_thread(self._past_case, request_id)
        if record is None or record.assessment is None:
            raise KnownError("There is no such request in the history.", "Choose another one.")
        return record.request, self._rooms.policy.weigh(record.request, record.assessment)

    # ---- on a thread of their own: two hundred requests of a megabyte take their time ----

    def _look_back(self, grant: Grant, records: list[Record], outline: Outline) -> Preview:
        covered = tuple(_past(one) for one in records if self._covered(grant, one, outline))
        return Preview(grant, len(records), covered)

    def _covered(self, grant: Grant, record: Record, outline: Outline) -> bool:
        if record.assessment is None:
            return False
        weighed = self._rooms.policy.weigh(record.request, record.assessment)
        return grant.covers(record.request, weighed, outline)

    def _often(self) -> list[list[Record]]:
        """What was approved often, the same program of the same agent together."""
        groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in self._latest():
            if record.row.level is not None and record.row.level <= Level.HIGH:
                groups[record.request.agent, program(record.request)].append(record)
        return [group for group in groups.values() if _worth(group)]

    def _unremembered(self, groups: list[list[Record]], outline: Outline) -> list[list[Record]]:
        return [group for group in groups if not self._remembered(_approved(group)[0], outline)]

    def _remembered(self, record: Record, outline: Outline) -> bool:
        assert record.assessment is not None
        registered = self._registered(record.request.agent)
        return self._rooms.grants.find(record.request, record.assessment, registered, outline) is not None

    def _past_case(self, request_id: str) -> Record | None:
        history = History(self._rooms.places.ledger)
        try:
            return history.case(request_id)
        finally:
            history.close()

    def _latest(self) -> list[Record]:
        history = History(self._rooms.places.ledger)
        try:
            found = (history.case(row.id) for row in history.page(limit=LOOKED_AT))
            return [record for record in found if record is not None]
        finally:
            history.close()


def _past(record: Record) -> Past:
    assert record.assessment is not None
    return Past(
        record.row.id,
        record.request.agent,
        record.request.title,
        record.request.code[:400],
        record.assessment.level,
        record.request.digest,
        record.row.verdict,
        record.row.decider,
        record.row.arrived_at,
    )


def _suggestion(group: list[Record]) -> Suggestion:
    decided = [one for one in group if one.decision is not None and one.decision.by is Decider.PERSON]
    waited = [one.decision.after_seconds for one in decided if one.decision is not None]
    return Suggestion(_past(decided[0]), len(decided), median(waited))


def _by_person(group: Iterable[Record]) -> list[Record]:
    return [one for one in group if one.decision is not None and one.decision.by is Decider.PERSON]


def _approved(group: Iterable[Record]) -> list[Record]:
    """With another digest it was the person's own version that was approved, not this program."""
    return [
        one
        for one in _by_person(group)
        if one.row.verdict is Verdict.APPROVED and one.decision and one.decision.digest == one.request.digest
    ]


def _worth(group: Iterable[Record]) -> bool:
    approved = len(_approved(group))
    return approved >= OFTEN and approved >= len(_by_person(group))
