"""Approves a person's own version of code or limits: assessed again, both versions recorded, the agent informed."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from runner.approval.checkpoint import MEANING
from runner.approval.desk import Taken
from runner.approval.draft import Draft
from runner.audit.history.search import Filter, History
from runner.model.codec import encode
from runner.model.decision import Decision, Verdict
from runner.model.difference import difference
from runner.model.errors import Refused
from runner.model.tool_facts import CLIENT_TOOLS
from runner.requests import bounds, intake

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from pathlib import Path

    from runner.approval.checkpoint import Door
    from runner.approval.circumstances import Circumstances
    from runner.approval.desk import Desk
    from runner.audit.history.search import CaseRecord
    from runner.audit.ledger.row import Row
    from runner.model.assessment import Assessment
    from runner.model.difference import DiffLine
    from runner.model.request import Limits, Request
    from runner.requests.case import Case
    from runner.requests.cases import Cases
    from runner.risk.worker.assessor import Assessor

EDITED = "edited"
"""Kind of the entry that holds the person's version."""
LOOKED_AT = 200
"""Number of approved requests of the agent that are searched for an earlier version."""
NOT_OURS = "The agent's program runs this itself, and would run its own version."
GONE = MEANING[Taken.UNKNOWN]
CHANGED = "Not approved: what would run changed. Look again."


@dataclass(frozen=True, slots=True)
class Version:
    """A person's version of a request: code, limits, and what of a project is sent."""

    code: str
    limits: Limits
    included: tuple[str, ...] = ()
    """Files that may hold a secret and are sent all the same, by name, sorted."""


def entry(case: Case) -> dict[str, object]:
    """Return the body of the ledger entry about the person's version of `case`."""
    assert case.edited is not None
    return {
        "from": case.request.digest,
        "digest": case.edited.digest,
        "code": case.edited.code,
        "limits": asdict(case.edited.limits),
        **({"included": list(included)} if (included := included_files(case.edited)) else {}),
        "assessment": encode(case.edited_assessment),
    }


@dataclass(frozen=True, slots=True)
class Earlier:
    """The last version that was approved for the same agent and purpose."""

    decided_at: float
    """Seconds since the epoch."""
    lines: tuple[DiffLine, ...]
    """Difference from that version to the request; empty where nothing changed."""


class Editing:
    """Drafts and approvals of edited requests. Every method is called on the engine's loop."""

    def __init__(
        self,
        cases: Cases,
        desk: Desk,
        door: Door,
        assess: Callable[[Request], Awaitable[Assessment]],
        assessor: Assessor,
        circumstances: Circumstances,
        ledger: Path,
    ) -> None:
        """`assess` applies the rules, and reads a person's version before what agents sent."""
        self._cases = cases
        self._desk = desk
        self._door = door
        self._assess = assess
        self._assessor = assessor
        self._circumstances = circumstances
        self._ledger = ledger

    async def draft(
        self, request_id: str, code: str, limits: Limits | None = None, included: Collection[str] = ()
    ) -> Draft:
        """Return the draft that replaces an open request's code by `code`, and its limits by `limits` unless None.

        `included` are names of files of a project that may hold a secret, and are to be sent all the same.

        Raises Refused for a version that is not allowed.
        """
        case = self._open(request_id)
        if case is None:
            raise Refused(GONE)
        if case.request.tool in CLIENT_TOOLS:
            raise Refused(NOT_OURS, "Deny it and say what to do instead.")
        settings = self._circumstances.settings()
        request = intake.edited(case.request, code, settings)
        if limits is not None:
            request = replace(request, limits=bounds.checked(case.request, limits, settings))
        if request.sends is not None:
            request = replace(request, sends=request.sends.including(included))
        elif included:
            raise Refused("No files are sent with this request.", "Look again.")
        assessment = await self._assess(request)
        settled = self._circumstances.policy().decide(request, assessment)
        if isinstance(settled, Decision):
            blocked = settled.reason if settled.verdict is Verdict.DENIED else ""
        else:
            blocked = settled.blocked
        return Draft(request, assessment, blocked)

    async def approve(
        self,
        request_id: str,
        digest: str,
        code: str,
        edited_digest: str,
        limits: Limits | None = None,
        included: Collection[str] = (),
        *,
        proven: bool = False,
    ) -> str:
        """Approve a version in place of the request; return '' where accepted, else why not.

        The version is `code` with `limits`, and with the files `included`, as in `draft`.
        `digest` is that of the request as it was asked, `edited_digest` that of the version on screen.
        """
        try:
            draft = await self.draft(request_id, code, limits, included)
        except Refused as refused:
            return str(refused)
        if draft.request.digest != edited_digest:
            return CHANGED
        return self._door.take(request_id, digest, Verdict.APPROVED, "", draft, proven=proven)

    async def earlier(self, request_id: str) -> Earlier | None:
        """Return the change since the last approval for the same agent and purpose; None where there was none."""
        case = self._cases.find(request_id)
        found = None if case is None else await asyncio.to_thread(self._approved, case.request)
        if case is None or found is None:
            return None
        decided_at, before = found
        now = case.request.code
        changes = await self._assessor.compare(before, now)
        return Earlier(decided_at, await asyncio.to_thread(difference, before, now, changes=changes))

    def _open(self, request_id: str) -> Case | None:
        case = self._cases.find(request_id)
        return case if case is not None and self._desk.position(request_id) else None

    def _approved(self, request: Request) -> tuple[float, str] | None:
        """Return when code for the same purpose was last approved, and that code. Reads the history: off the loop."""
        history = History(self._ledger)
        try:
            rows = history.page(Filter(agent=request.agent, verdict=Verdict.APPROVED), limit=LOOKED_AT)
            row = next((row for row in rows if _same_purpose(row, request)), None)
            record = None if row is None or history.removed(row.seq) is not None else history.case(row.id)
        finally:
            history.close()
        if row is None or record is None:
            return None
        return row.decided_at or row.arrived_at, approved_code(record)


def approved_code(record: CaseRecord) -> str:
    """Return the code that was approved: a person's version only where the decision is for that one."""
    approved = "" if record.decision is None else record.decision.digest
    edits = (step.body for step in record.steps if step.entry.kind == EDITED)
    return next((str(body["code"]) for body in edits if body["digest"] == approved), record.request.code)


def approved_limits(record: CaseRecord) -> str:
    """Return the limits that a person approved in place of those asked for, in words; empty where there are none."""
    approved = "" if record.decision is None else record.decision.digest
    edits = (step.body for step in record.steps if step.entry.kind == EDITED)
    found = next((body.get("limits") for body in edits if body["digest"] == approved), None)
    known = {name: found[name] for name in bounds.NAMES if name in found} if isinstance(found, dict) else {}
    try:
        return bounds.changed_limits(record.request.limits, replace(record.request.limits, **known))
    except (TypeError, ValueError):
        return ""  # damaged: Verify says so


def included_files(request: Request) -> tuple[str, ...]:
    """Return the files that may hold a secret and are sent all the same, by name."""
    return () if request.sends is None else request.sends.included


def _same_purpose(row: Row, request: Request) -> bool:
    """Return whether both are for the same purpose: same agent, same kind of action, same title."""
    same_kind = row.tool is request.tool and row.language is request.language
    return same_kind and row.title == request.title and row.id != request.id
