"""The five requests that were answered last, by the person or by what passes without asking, and their outcomes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Slot

from app import phrases
from app.parts.amounts import clock
from app.parts.plain import tip
from app.state import attention
from runner.approval.modes import TRUST_RULE
from runner.model.decision import Decider, Verdict
from runner.model.events import (
    RehearsalMoved,
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RequestEdited,
    RunFinished,
    RunStarted,
    TrialMoved,
)
from runner.model.result import Outcome
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.state.cards import Cards
    from runner.model.assessment import Assessment
    from runner.model.decision import Decision
    from runner.model.events import Event
    from runner.model.request import Request
    from runner.model.result import Result

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

ANSWERED = Qt.ItemDataRole.UserRole
SHOWN = 5
OWN = 3
"""Of these the person's own, which what passes unasked does not push out."""
MOST_OPEN = 2000
"""Requests whose answer is awaited. More of them are not followed: the engine bounds them far below."""
LOW_RULE = "low-risk"
"""The rule of a request that passed for its level alone."""


@dataclass(slots=True)
class Answered:
    """One request that was answered, and what came of it."""

    request: Request
    decision: Decision
    assessment: Assessment | None = None
    headline: str = ""
    """What it would do, in short; worked out for those that are listed."""
    started: float = 0.0
    """On the clock of `time.monotonic`; 0 while it has not started."""
    result: Result | None = None
    closed: bool = False
    rehearsed: bool = False
    """Whether its code was started for a rehearsal."""

    @property
    def own(self) -> bool:
        """Whether a person answered it."""
        return self.decision.by is Decider.PERSON

    @property
    def approved(self) -> bool:
        return self.decision.verdict is Verdict.APPROVED

    @property
    def running(self) -> bool:
        return self.started > 0 and self.result is None and not self.closed

    @property
    def ink(self) -> str:
        """The token in which its outcome is painted."""
        if self.decision.verdict is Verdict.DENIED:
            return "muted"  # nothing failed: somebody said no
        if self.result is None:
            return "accent_ink" if self.running else "low" if self.closed else "muted"
        return {Outcome.OK: "low", Outcome.KILLED: "muted"}.get(self.result.outcome, "high")


class JustNowModel(QAbstractTableModel):
    """One column, newest first. It goes by events alone: what passes unasked is over before anybody could look."""

    def __init__(self, cases: Cards, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open: dict[str, Request] = {}
        self._assessed: dict[str, Assessment] = {}
        self._rows: list[Answered] = []
        self._rehearsed: set[str] = set()
        """Open requests whose code was started for a rehearsal."""
        cases.happened.connect(self._take)

    def answered(self, row: int) -> Answered | None:
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def find(self, request_id: str) -> Answered | None:
        """Return what is listed of a request; None where it is not."""
        return next((one for one in self._rows if one.request.id == request_id), None)

    @property
    def any_running(self) -> bool:
        """Whether a time in a row still runs."""
        return any(one.running for one in self._rows)

    def tick(self) -> None:
        """Update the times."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0))

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        one = self.answered(index.row())
        if one is None:
            return None
        if role == ANSWERED:
            return one
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{one.headline}, {words(one)}, {phrases.claim_of(one.request)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{one.headline}\n{words(one)}\n{phrases.claim_of(one.request)}")
        return None

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        """Take a batch in. Views hear of its outcome alone: what came and gave way within it costs them nothing."""
        before, self._rows = self._rows, self._rows.copy()
        changed = False
        for event in events:
            match event:
                case RequestArrived(request) if len(self._open) < MOST_OPEN:
                    self._open[request.id] = request
                case RequestEdited(request_id, request) if request_id in self._open:
                    self._open[request_id] = request
                case RequestAssessed(request_id, assessment) if request_id in self._open:
                    self._assessed[request_id] = assessment
                case RehearsalMoved(request_id) | TrialMoved(request_id) if event.began and request_id in self._open:
                    self._rehearsed.add(request_id)
                case RequestDecided(request_id, decision):
                    changed = self._decided(request_id, decision) or changed
                case RunStarted(request_id):
                    changed = self._note(request_id, started=time.monotonic()) or changed
                case RunFinished(request_id, result):
                    changed = self._note(request_id, result=result) or changed
                case RequestClosed(request_id):
                    self._open.pop(request_id, None)
                    self._assessed.pop(request_id, None)
                    self._rehearsed.discard(request_id)
                    changed = self._note(request_id, closed=True) or changed
                case _:
                    pass
        after, self._rows = self._rows, before
        self._show(after)
        if changed:
            self.tick()

    def _show(self, after: list[Answered]) -> None:
        """Turn the rows into `after`: what is new stands above the rest, and those that gave way are removed.

        In this order: a list that is empty in between is hidden and shown again, which lays out all around it twice.
        """
        before, stays = {id(one) for one in self._rows}, {id(one) for one in after}
        if new := [one for one in after if id(one) not in before]:
            for one in new:
                one.headline = attention.headline_of(one.assessment, one.request)
            self.beginInsertRows(QModelIndex(), 0, len(new) - 1)
            self._rows = [*new, *self._rows]
            self.endInsertRows()
        row = len(self._rows)
        for gone, together in groupby(reversed(self._rows), lambda one: id(one) not in stays):
            last, row = row - 1, row - sum(1 for _ in together)
            if gone:
                self.beginRemoveRows(QModelIndex(), row, last)
                self._rows = self._rows[:row] + self._rows[last + 1 :]
                self.endRemoveRows()

    def _decided(self, request_id: str, decision: Decision) -> bool:
        """List what was approved or denied; what expired is under Missed, and what was withdrawn is nobody's answer."""
        request = self._open.get(request_id)
        if request is None or decision.verdict not in (Verdict.APPROVED, Verdict.DENIED):
            return False
        assessment = self._assessed.get(request_id)
        self._rows.insert(0, Answered(request, decision, assessment, rehearsed=request_id in self._rehearsed))
        if len(self._rows) > SHOWN:
            del self._rows[self._surplus()]
        return True

    def _surplus(self) -> int:
        """Return the row that gives way: what passed unasked first, however much of it there is."""
        unasked = [row for row, one in enumerate(self._rows) if not one.own]
        own = len(self._rows) - len(unasked)
        return unasked[-1] if unasked and own <= OWN else len(self._rows) - 1

    def _note(self, request_id: str, **what: Any) -> bool:
        one = self.find(request_id)
        if one is None:
            return False
        for name, value in what.items():
            setattr(one, name, value)
        return True


def words(one: Answered) -> str:
    """Return what came of a request: `ok 0.4 s, 5 files`, `failed, exit 1: KeyError 'a'`, `passed: trust, ok 0.4 s`."""
    decision = one.decision
    if decision.verdict is Verdict.DENIED:
        who = (
            tr("denied") if one.own else tr("denied by rule") if decision.by is Decider.RULE else tr("denied by Assent")
        )
        reason = phrases.short(decision.reason)
        return f"{who}: {reason}" if reason and decision.reason != phrases.NO_REASON else who
    handed = tr("handed over") if one.result is not None and one.result.meta.rehearsed else ""
    return ", ".join(filter(None, (handed, _passed(decision), _outcome(one))))


def _passed(decision: Decision) -> str:
    """Return what let it pass without asking; empty where the person was asked."""
    match decision.by:
        case Decider.RULE if decision.rule == TRUST_RULE:
            return tr("passed: trust")
        case Decider.RULE if decision.rule == LOW_RULE:
            return tr("passed: LOW")
        case Decider.RULE:
            return tr("passed: rule {rule}", rule=phrases.visible(decision.rule)).strip()
        case Decider.GRANT:
            return tr("passed: remembered")
        case _:
            return ""


def _outcome(one: Answered) -> str:
    result = one.result
    if result is None:
        return (
            tr("running {clock}", clock=clock(time.monotonic() - one.started))
            if one.running
            else tr("done")
            if one.closed
            else tr("approved")
        )
    took = phrases.span(result.duration)
    files = f", {plural('{count} file', '{count} files', len(result.files))}" if result.files else ""
    match result.outcome:
        case Outcome.OK:
            return tr("ok {took}{files}", took=took, files=files)
        case Outcome.FAILED:
            said = phrases.error_line(result.stderr)
            return (
                tr("failed, exit {exit_code}: {said}", exit_code=result.exit_code, said=said)
                if said
                else tr("failed, exit {exit_code}", exit_code=result.exit_code)
            )
        case Outcome.KILLED:
            return tr("stopped after {took}", took=took)
        case _:
            return phrases.short(phrases.ended(result))
