"""Looks back at the history: what a grant would have covered, what was approved often, what would happen today."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.approval.learning import Learning
from runner.approval.outlines import Outlines
from runner.approval.past import pasts_beside
from runner.approval.precedents import Precedents, midnight, read_precedents
from runner.audit.history.search import History
from runner.model.errors import KnownError
from runner.model.tool_facts import CLIENT_TOOLS
from runner.policy.explain import explain
from runner.policy.grants import Subject, make
from runner.requests import intake

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from runner.approval.circumstances import Circumstances
    from runner.approval.learning import Learned
    from runner.approval.past import Past
    from runner.approval.pattern import CodePattern
    from runner.audit.history.search import CaseRecord
    from runner.model.assessment import Assessment
    from runner.model.request import Language, Request
    from runner.model.submission import Submission
    from runner.policy.explain import Explanation, Foreseeing
    from runner.policy.grantfile import Grants
    from runner.policy.grants import Choice, Grant, Outline
    from runner.requests.cases import Cases
    from runner.requests.network import Offered
    from runner.risk.worker.assessor import Assessor

LOOKED_AT = 200
"""Number of past requests that a preview covers (spec D6)."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a grant would have covered."""

    grant: Grant
    looked_at: int
    covered: tuple[Past, ...]
    """Newest first."""
    code: str = ""
    """That of the request at hand; empty where nothing differs from it, or not in values alone."""
    language: Language | None = None
    differs: CodePattern | None = None
    """Where in `code` the values stand that differ, its own values first."""


class Hindsight:
    """Questions to the history. Every method is called on the engine's loop; reading takes place on threads."""

    def __init__(
        self,
        cases: Cases,
        grants: Grants,
        assessor: Assessor,
        deciders: Sequence[Foreseeing],
        assess: Callable[[Request], Awaitable[Assessment]],
        circumstances: Circumstances,
        ledger: Path,
        offered: Callable[[str], Awaitable[Offered]],
    ) -> None:
        """`assess` applies the rules, and reads for a person before it reads what agents sent.

        `offered(agent)` returns the hosts that its networked requests get without naming them.
        """
        self._cases = cases
        self._grants = grants
        self._assessor = assessor
        self._deciders = deciders
        self._assess = assess
        self._circumstances = circumstances
        self._ledger = ledger
        self._offered = offered
        self._learning = Learning(circumstances, grants)

    async def preview(self, request_id: str, choice: Choice) -> Preview:
        """Return what the grant would be, and which of the last requests it would have covered. Raises KnownError."""
        request, assessment = await self.about(request_id)
        grant = await self.make(request, assessment, choice)
        records = await asyncio.to_thread(self._latest)
        outline = Outlines(self._assessor)
        preview = await asyncio.to_thread(self._look_back, request, grant, records, outline)
        while await outline.learn():
            preview = await asyncio.to_thread(self._look_back, request, grant, records, outline)
        return preview

    async def precedents(self, request_id: str) -> Precedents:
        """Return how many like an open request a person approved today, and what differs. Raises KnownError."""
        case = self._cases.find(request_id)
        if case is None or case.weighed is None or case.request.tool in CLIENT_TOOLS:
            return Precedents()
        request, now = case.request, time.time()
        # What an earlier agent of that name was allowed says nothing about this one.
        since = max(midnight(now), self._circumstances.registered(request.agent))
        return await asyncio.to_thread(read_precedents, self._ledger, request, case.weighed.level, since)

    async def explain_past(self, request_id: str) -> Explanation:
        """Return what would happen to the same call today. Raises KnownError where there is no such request."""
        request, _ = await self.about(request_id)
        if not request.has_files:  # a kept sandbox is what it was, and so is a working copy
            isolation, protections = await self._circumstances.where()
            request = replace(request, isolation=isolation, protections=protections)
        return await self._explain(request)

    async def explain_program(self, submission: Submission) -> Explanation:
        """Return what would happen to a given call. Raises Refused for arguments out of bounds."""
        isolation, protections = await self._circumstances.where()
        offered = await self._offered(submission.agent)
        settings = self._circumstances.settings()
        request = intake.request(submission, settings, isolation, protections=protections, offered=offered)
        return await self._explain(request)

    async def learned(self) -> Learned:
        """Return what the latest requests that a person approved again and again offer to remember."""
        records = await asyncio.to_thread(self._latest)
        agents, now = {one.request.agent for one in records}, time.time()
        gone = {agent for agent in agents if self._circumstances.barred(agent, now)}
        outline = Outlines(self._assessor)
        found = await asyncio.to_thread(self._learning.look, records, gone, outline)
        while await outline.learn():
            found = await asyncio.to_thread(self._learning.look, records, gone, outline)
        return found

    async def _explain(self, request: Request) -> Explanation:
        assessment = await self._assess(request)
        outline = Outlines(self._assessor)
        explanation = explain(self._deciders, request, assessment, outline)
        while await outline.learn():
            explanation = explain(self._deciders, request, assessment, outline)
        return explanation

    async def make(self, request: Request, assessment: Assessment, choice: Choice) -> Grant:
        """Return the grant that `choice` makes of a request. Raises KnownError where none is allowed."""
        code = ""
        if choice.subject is Subject.SHAPE:
            code = await self._assessor.outline(request.language, request.code)
        if why := self._circumstances.policy().closed_to_grants(request, assessment.level):
            raise KnownError(why, "Approve it each time.")
        grants = self._grants
        return make(request, assessment, choice, grants.now(), grants.session, lambda _request: code)

    async def about(self, request_id: str) -> tuple[Request, Assessment]:
        """Return the request, open or past, and its assessment by the present rules. Raises KnownError."""
        case = self._cases.find(request_id)
        if case is not None and case.assessment is not None:
            return case.request, case.assessment
        record = await asyncio.to_thread(self._past_case, request_id)
        if record is None or record.assessment is None:
            raise KnownError("There is no such request in the history.", "Choose another one.")
        return record.request, self._circumstances.policy().weigh(record.request, record.assessment)

    # ---- on a thread: two hundred requests of a megabyte take long ----

    def _look_back(self, request: Request, grant: Grant, records: list[CaseRecord], outline: Outline) -> Preview:
        covered = [one for one in records if self._covered(grant, one, outline)]
        found, differs = pasts_beside(request.code, covered)
        if differs is None:
            return Preview(grant, len(records), found)
        return Preview(grant, len(records), found, request.code, request.language, differs)

    def _covered(self, grant: Grant, record: CaseRecord, outline: Outline) -> bool:
        if record.assessment is None:
            return False
        weighed = self._circumstances.policy().weigh(record.request, record.assessment)
        return grant.covers(record.request, weighed, outline)

    def _past_case(self, request_id: str) -> CaseRecord | None:
        history = History(self._ledger)
        try:
            return history.case(request_id)
        finally:
            history.close()

    def _latest(self) -> list[CaseRecord]:
        history = History(self._ledger)
        try:
            return history.newest_cases(LOOKED_AT)
        finally:
            history.close()
