"""The list of what a run did; live while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from app.behaviour import words
from app.parts.empty import EmptyState
from app.parts.plain import plain_label, say
from app.parts.summaries import SummaryModel
from app.parts.text.lines import list_view
from runner.model.events import RunFinished, RunObserved, SandboxesChanged
from runner.model.kept_sandbox import changes_of
from runner.model.translation import tr
from runner.risk.explain.foreseen import outcomes, with_removal

if TYPE_CHECKING:
    from app.look.look import Look
    from app.parts.text.lines import Summary
    from app.state.cards import Card, Cards
    from runner.model.assessment import Assessment
    from runner.model.behaviour import Behaviour
    from runner.model.events import Event
    from runner.model.file_changes import FileChanges
    from runner.model.request import Request
    from runner.model.result import Result


class BehaviourView(QWidget):
    """What was not foreseen and where the list has gaps, above the list; or a sentence where it would be empty."""

    foreseen = Signal(str, str)
    """Whether a run that is over did what was foreseen, and the role of the words; no words where nobody can say."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.behaviour: Behaviour | None = None
        self.model = SummaryModel(self)
        self.view = list_view(look, self.model, tr("What the run did"))
        self.summary = plain_label(wrap=True)
        self.none = EmptyState(look, "activity", *words.NOTHING_KNOWN)
        self._place = QStackedWidget()
        self._place.addWidget(self.none)
        self._place.addWidget(self.view)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, look.px(8), 0, 0)
        column.setSpacing(look.px(6))
        column.addWidget(self.summary)
        column.addWidget(self._place, 1)
        self.summary.hide()

    def show_result(
        self,
        result: Result | None,
        assessment: Assessment | None,
        request: Request,
        changes: FileChanges | None = None,
    ) -> None:
        """Show what a run did that is over, and what came of what `assessment` had foreseen.

        `changes` are those among the files of its kept sandbox, where they are known.
        """
        observed = None if result is None else result.observed
        acts = outcomes(result, assessment, request, changes) if result is not None and assessment is not None else ()
        if assessment is not None and changes is not None:
            observed = with_removal(observed, assessment, changes)
        self._show(observed, () if observed is None else words.rows(observed, acts), running=False)
        self.foreseen.emit(*words.foreseen(observed, assessed=result is not None and assessment is not None))

    def show_running(self, behaviour: Behaviour | None) -> None:
        """Show what a run has done by now; None for nothing yet."""
        self._show(behaviour, () if behaviour is None else words.rows(behaviour), running=True)
        self.foreseen.emit("", "muted")

    @property
    def title(self) -> str:
        """For a tab."""
        return words.title(self.behaviour)

    def _show(self, behaviour: Behaviour | None, rows: tuple[Summary, ...], *, running: bool) -> None:
        self.behaviour = behaviour
        self.model.show(rows)
        self.none.say(*words.nothing(behaviour, running=running))
        self._place.setCurrentWidget(self.view if rows else self.none)
        text, role = (
            words.summary(behaviour) if behaviour is not None and (rows or behaviour.unforeseen) else ("", "muted")
        )
        say(self.summary, text, role)


class BehaviourOfRun(BehaviourView):
    """The tab of one run at a time, kept up to date by what happens."""

    def __init__(self, cases: Cards, look: Look, tabs: QTabWidget) -> None:
        """Add it to `tabs`, which keep it."""
        super().__init__(look)
        self._cases = cases
        self._tabs = tabs
        self._card: Card | None = None
        tabs.addTab(self, self.title)
        cases.happened.connect(self._take)

    def show_run(self, card: Card) -> None:
        """Show another run."""
        self._card = card
        self._refresh()

    def _refresh(self) -> None:
        card = self._card
        if card is None:
            return
        if card.result is None:
            self.show_running(card.observed)
        else:
            run = changes_of(self._cases.kept, card.id)
            self.show_result(card.result, card.assessment, card.request, None if run is None else run.changes)
        self._tabs.setTabText(self._tabs.indexOf(self), self.title)

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        mine = "" if self._card is None else self._card.id
        for event in events:
            ours = isinstance(event, RunObserved | RunFinished) and event.request_id == mine
            if ours or (isinstance(event, SandboxesChanged) and self._card is not None and self._card.request.sandbox):
                self._refresh()
                return
