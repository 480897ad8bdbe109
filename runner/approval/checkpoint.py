"""The one check that every approval passes, after the last await and before the run.

The rules behind it:

- An approval of any kind (a person's click, edit or batch, a late approval, a grant, a trust window, a rule) is checked
  by one function, `_refusal`: when it is taken or recorded, and again when nothing remains to be awaited before the
  code starts. No caller checks less because of who approved.
- It is of a digest, so of exactly what would run: another digest is another request.
- What is asked here is asked of this moment (`Circumstances`). Mode, allowance, rules and sandbox may all have changed
  since the question was on screen; what was true then is not remembered.
- Nothing here awaits. Between a check and what it allows nothing else has a turn on the engine's loop.
- A check only takes away: it makes a denial of an approval, never the reverse.

A person approves, and presses Lockdown while the sandbox starts:

    take       the question is open, its digest is the one on screen, the history can be written, the agent may, the
               sandbox is the one that was shown, the policy does not block it: the desk has the answer
    refuses    the same again, as the decision is about to be recorded: approved
    ...        the sandbox starts, which takes a second; Lockdown raises the generation of the mode
    require    called by the sandbox right before it hands over the code: the approval is of an older generation, so
               NotPermitted. Nothing was run, and the agent is told why
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.approval.deliberate import unproven
from runner.approval.desk import Taken
from runner.approval.modes import TRUST_RULE
from runner.model.decision import Decider, Decision, Verdict
from runner.sandbox.contract import NotPermitted

if TYPE_CHECKING:
    from runner.approval.circumstances import Circumstances
    from runner.approval.desk import Desk
    from runner.approval.draft import Draft
    from runner.approval.modes import Modes
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.requests.case import Case
    from runner.requests.cases import Cases

REASON_LENGTH = 500
"""Characters of a reason (spec D3)."""
REVOKED = "The agent was revoked."
HANDED_OVER = "A person saw what it did when it was tried, and handed that over."
NOT_ASKED = "Not approved: this sandbox cannot be accepted for that request. Look at it again."
NOT_SHOWN = "Not handed over: the outcome on screen no longer exists. Look at the request again."
RULES_CHANGED = "Rules or settings were changed before this could start. Ask again."
MEANING = {
    Taken.ACCEPTED: "",
    Taken.UNKNOWN: "This request is no longer open: it was decided, has expired or was withdrawn.",
    Taken.STALE: "Not approved: the request changed. Look again.",
}


class Door:
    """The check of approvals. Every method is called on the engine's loop and never suspends."""

    def __init__(self, desk: Desk, cases: Cases, modes: Modes, circumstances: Circumstances) -> None:
        self._desk = desk
        self._cases = cases
        self._modes = modes
        self._circumstances = circumstances

    @property
    def generation(self) -> int:
        """Generation number of the mode; `refuses` compares that of the decision with it."""
        return self._modes.generation

    def take(
        self,
        request_id: str,
        digest: str,
        verdict: Verdict,
        reason: str,
        draft: Draft | None = None,
        *,
        release: str = "",
        accepted: str = "",
        proven: bool = False,
    ) -> str:
        """Take a person's answer to an open question; return '' where it was accepted, else why not.

        `digest` is that of the request as it was asked; `draft` the person's own version, where that is approved;
        `release` the digest of the outcome that the person was shown, where that is handed over and nothing runs;
        `accepted` the sandbox below the minimum that the person was asked about and accepts for this request;
        `proven`, whether the person's PIN came with it and was right.
        """
        case, question = self._cases.find(request_id), self._desk.question(request_id)
        if case is None or question is None:
            return MEANING[Taken.UNKNOWN]
        if question.digest != digest:
            return MEANING[Taken.STALE]
        if verdict is Verdict.APPROVED:
            now = self._circumstances
            if why := now.unwritable() or now.unready(case.request) or ("" if release else now.held(request_id)):
                return f"Not approved: {why}"  # and it stays open: that may pass before it expires
            if why := self._circumstances.moved(case.request):
                # No answer to this question can be valid any more; what the agent asks again is shown as it would run.
                self._desk.deny(request_id, why)
                return f"Not approved: {why}"
            request, assessment = (
                (case.request, case.assessment) if draft is None else (draft.request, draft.assessment)
            )
            level = None if assessment is None else assessment.level
            if why := unproven(self._circumstances.settings(), level, proven=proven):
                return why
            case.generation = self._modes.generation
            if accepted and (draft is not None or release or question.ask.accepts != accepted):
                return NOT_ASKED
            if (refusal := self._refusal(case, request, assessment, accepted=accepted)) is not None:
                return refusal.reason
            # After the checks: they may have found that rehearsing was switched off for the agent.
            if release and (draft is not None or case.rehearsal is None or case.rehearsal.digest != release):
                return NOT_SHOWN
            case.released = case.rehearsal if release else None
            reason = reason or (HANDED_OVER if release else "")
            if draft is not None:
                case.edited, case.edited_assessment = draft.request, draft.assessment
        edited = "" if draft is None else draft.request.digest
        return MEANING[self._desk.answer(request_id, digest, verdict, reason[:REASON_LENGTH], edited, accepted)]

    def refuses(self, case: Case, decision: Decision) -> Decision | None:
        """Return the decision that replaces an approval which is not valid; None where it is valid.

        Raises AssertionError where the approval is not for exactly what would run.
        """
        request = case.approved
        if decision.digest != request.digest:
            raise AssertionError(f"{request.id}: approved {decision.digest}, would run {request.digest}")
        return self._refusal(case, request, case.weighed, decision, accepted=decision.accepted)

    def require(self, case: Case, decision: Decision) -> None:
        """Raise NotPermitted where an approval may not stand: the last look, with nothing awaited after it."""
        if (refusal := self.refuses(case, decision)) is not None:
            raise NotPermitted(refusal.reason, "Nothing was run.")

    def ended(self, case: Case) -> Decision | None:
        """Return the decision on a request whose caller is gone or that is denied with all others; else None."""
        request = case.request
        if case.gone:
            return Decision(Verdict.WITHDRAWN, Decider.AGENT, case.gone, digest=request.digest)
        if why := self._circumstances.closing() or self._modes.overruled(case.generation, by_trust=False):
            return Decision(Verdict.DENIED, Decider.ENGINE, why, digest=request.digest)
        return None

    def _refusal(
        self,
        case: Case,
        request: Request,
        assessment: Assessment | None,
        approval: Decision | None = None,
        *,
        accepted: str = "",
    ) -> Decision | None:
        """Check the caller, console, mode, agent and its allowance, sandbox, assessment and the present policy.

        `approval` is None while a person is giving it. What was `accepted` counts as long as the policy lets it.
        """
        by_trust = approval is not None and approval.by is Decider.RULE and approval.rule == TRUST_RULE

        def denied(why: str) -> Decision:
            return Decision(Verdict.DENIED, Decider.ENGINE, why, digest=request.digest)

        if (ended := self.ended(case)) is not None:
            return replace(ended, digest=request.digest)
        if by_trust and (why := self._modes.overruled(case.generation, by_trust=True)):
            return denied(why)
        if why := self._circumstances.barred(request.agent, request.received_at):
            return Decision(Verdict.WITHDRAWN, Decider.AGENT, why, digest=request.digest)
        unasked = approval is not None and approval.by is not Decider.PERSON
        if why := self._circumstances.forbids(case.request, unasked):
            return denied(why)
        if why := self._circumstances.moved(request):
            return denied(why)
        if assessment is None:
            return denied("It was never assessed.")
        settled = self._circumstances.policy().decide(request, assessment)
        if isinstance(settled, Decision):
            return settled if settled.verdict is Verdict.DENIED else None
        if settled.blocked and not (accepted and accepted == settled.accepts == request.isolation.value):
            return denied(settled.blocked)
        # Approved without asking; the present policy may no longer allow that.
        if by_trust or (approval is not None and approval.by is Decider.GRANT):
            why = self._circumstances.policy().closed_to_grants(request, assessment.level)
            return denied(f"{why} {RULES_CHANGED}") if why else None
        return denied(RULES_CHANGED) if approval is not None and approval.by is Decider.RULE else None
