"""Grants as the engine uses them: made, used and revoked with an entry each, and checked before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.approval.deliberate import unproven
from runner.approval.outlines import Outlines
from runner.model.decision import Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.events import GrantsChanged
from runner.policy.explain import Foresight, Step
from runner.policy.grantfile import plain
from runner.policy.grants import Subject

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.approval.circumstances import Circumstances
    from runner.approval.hindsight import Hindsight
    from runner.model.assessment import Assessment
    from runner.model.decision import Ask
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.policy.grantfile import Grants
    from runner.policy.grants import Choice, Grant, Outline
    from runner.requests.case import Case
    from runner.risk.worker.assessor import Assessor

MADE, USED, REVOKED = "grant-made", "grant-used", "grant-revoked"
"""Kinds of entries in the ledger."""


class Remembering:
    """The grants of the person. Every method is called on the engine's loop."""

    unasked = True

    def __init__(
        self,
        record: Record,
        grants: Grants,
        assessor: Assessor,
        circumstances: Circumstances,
        hindsight: Callable[[], Hindsight],
        reload: Callable[[], None],
        close_hosts: Callable[[tuple[Grant, ...]], None],
    ) -> None:
        """`reload` is called when an unreadable grants file was moved aside.

        `close_hosts` closes the hosts of grants that are revoked for the active runs.
        """
        self._record = record
        self._grants = grants
        self._assessor = assessor
        self._circumstances = circumstances
        self._hindsight = hindsight
        self._reload = reload
        self._close_hosts = close_hosts

    # ---- on the path of a request ----

    async def decide(self, case: Case, _ask: Ask) -> Decision | None:
        """Return the decision of a grant that covers the request of `case`; None where a person has to be asked.

        The use is durable when this returns, and its entry when the approval is.
        """
        request, assessment = case.request, case.assessment
        assert assessment is not None
        if self._circumstances.policy().closed_to_grants(request, assessment.level):
            return None
        registered, outline = self._circumstances.registered(request.agent), Outlines(self._assessor, request.agent)
        self._grants.find(request, assessment, registered, outline)
        while await outline.learn():
            self._grants.find(request, assessment, registered, outline)
        try:
            grant = await self._grants.claim(request, assessment, registered, outline)
        except KnownError as failure:
            self._record.trouble("grants", failure.what, f"{failure.remedy} Until then you are asked.")
            return None
        # Checked again: rules may have changed since the await.
        if grant is None or self._circumstances.policy().closed_to_grants(request, assessment.level):
            return None
        self._record.clear("grants")
        use = {"grant": grant.name, "use": grant.used, "of": grant.uses}
        case.attach_soon(USED, use)
        self._record.publish(GrantsChanged())
        case.other_values = grant.subject is Subject.SHAPE
        reason = f"Approved without asking: remembered as {grant.name}, use {grant.used} of {grant.uses}."
        return Decision(Verdict.APPROVED, Decider.GRANT, reason, grant.name, 0.0, request.digest)

    def foresee(self, request: Request, assessment: Assessment, _ask: Ask, outline: Outline) -> Foresight:
        closed = self._circumstances.policy().closed_to_grants(request, assessment.level)
        registered = self._circumstances.registered(request.agent)
        grant = None if closed else self._grants.find(request, assessment, registered, outline)
        if grant is None:
            return Foresight((Step("Remembered", closed or "Nothing that you remembered covers it."),))
        said = f"{grant.name} covers it; used {grant.used} of {grant.uses} times."
        decision = Decision(Verdict.APPROVED, Decider.GRANT, said, grant.name, 0.0, request.digest)
        return Foresight((Step("Remembered", said), Step("Then", "Approved by what you remembered.")), decision)

    # ---- changes by a person ----

    async def add(self, request_id: str, digest: str, choice: Choice, *, proven: bool = False) -> Grant:
        """Make the grant that was chosen for a request, open or past. Raises KnownError where it is not allowed."""
        if why := unproven(self._circumstances.settings(), None, proven=proven):
            raise KnownError(why)
        if why := self._circumstances.held(request_id):
            raise KnownError(why)
        request, assessment = await self._hindsight().about(request_id)
        if request.digest != digest:
            raise KnownError("What was on screen is not this request.", "Look at it again.")
        grant = await self._hindsight().make(request, assessment, choice)
        await self._record.append(MADE, "", {"request": request_id, **plain(grant)})
        await self._grants.add(grant)
        self._record.publish(GrantsChanged())
        return grant

    async def revoke(self, names: tuple[str, ...], why: str) -> None:
        """Revoke grants. Raises KnownError where that cannot be written; they are revoked all the same."""
        hosts = (one for one in self._grants.all() if one.name in names and one.subject is Subject.HOST)
        self._close_hosts(tuple(hosts))  # before the first await, like the revocation itself
        try:
            gone = await self._grants.revoke(names)
        finally:
            self._record.publish(GrantsChanged())
        for grant in gone:
            await self._record.append(REVOKED, "", {"grant": grant.name, "why": why, "used": grant.used})

    async def revoke_of(self, agent: str, how: str) -> None:
        """Revoke the grants of an agent that was revoked or renamed (`how`): no later agent of its name gets them."""
        mine = tuple(grant.name for grant in self._grants.all() if grant.agent == agent)
        if mine:
            await self.revoke(mine, f"The agent was {how}.")

    async def revoke_for(self, sandbox: str) -> None:
        """Revoke the grants for a sandbox that was removed."""
        mine = tuple(grant.name for grant in self._grants.all() if grant.sandbox == sandbox)
        if mine:
            await self.revoke(mine, "Its sandbox was removed.")

    async def start_again(self) -> None:
        """Move an unreadable grants file aside."""
        await self._grants.start_again()
        self._reload()
        self._record.publish(GrantsChanged())
