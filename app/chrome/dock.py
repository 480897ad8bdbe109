"""The window as a narrow column beside an editor: the cards of what waits, and below them what came of the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.chrome.banners import GRAVE, silence
from app.chrome.modes import ModeButton
from app.parts.column import ScrollColumn
from app.parts.empty import EmptyState
from app.parts.notice import Notice, Tone
from app.parts.plain import plain_label
from app.prompt.stack import PromptStack
from app.queue.answers import JustNowList
from app.queue.held_at_work import HeldAtWork
from app.queue.panel import NOBODY, NOTHING, nothing_waits
from app.running.outcome import OutcomeView
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from app.state.recent_answers import JustNowModel
    from app.state.work_cards import WorkCards

MOST = 8
"""Cards; further ones are counted."""


class Dock(QWidget):
    """Everything else is in the window when it is wide again; Stop all has its key here too."""

    review = Signal(str)
    """The request is wanted in the whole window."""
    run_wanted = Signal(str)
    widen = Signal()
    first_steps = Signal()
    """The page of the first start is wanted, in the whole window."""

    def __init__(
        self,
        cases: Cards,
        work: WorkCards,
        answers: JustNowModel,
        bridge: EngineLink,
        look: Look,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._cases = cases
        self._work = work
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Requests that wait, as cards"))
        px = look.px
        self.mode = ModeButton(cases, look)
        self.count = plain_label(role="muted")
        self.wider = QPushButton(tr("Whole window"))
        self.wider.setProperty("kind", "quiet")
        self.wider.setAutoDefault(False)
        self.wider.clicked.connect(self.widen)
        self.stack = PromptStack(cases, bridge, look, self._may_count)
        self.stack.put_urgent_first()
        self.stack.bound(MOST)
        self.stack.review.connect(self.review)
        self.none = EmptyState(look, "inbox", *NOTHING)
        self.nobody = EmptyState(look, "plug", *NOBODY, tr("First steps"))
        self.nobody.pressed.connect(self._begin)
        self.answers = JustNowList(answers, look)
        self.answers.setProperty("card", True)
        self.outcome = OutcomeView(cases, answers, bridge, look)
        self.outcome.setMinimumHeight(px(180))
        self.outcome.hide()
        self.outcome.closed.connect(self.outcome.hide)
        self.outcome.all_wanted.connect(self.run_wanted)
        self.outcome.shown_changed.connect(self.answers.mark)
        self.outcome.closed.connect(self.outcome.clear)
        self.answers.wanted.connect(self.show_outcome)
        self._silent = 0.0
        self.trouble = Notice(look, Tone.BAD, "", tr("Show"))
        self.trouble.acted.connect(self.widen)
        self.held = HeldAtWork(look, work)
        self.column = ScrollColumn(tr("Requests that wait"))
        inside = self.column.column
        inside.setContentsMargins(0, 0, px(4), 0)
        inside.setSpacing(px(8))
        for widget in (self.stack, self.none, self.nobody, self.answers, self.outcome):
            inside.addWidget(widget)
        self._lay_out(px(8))
        bridge.silent.connect(self._know_silence)
        cases.happened.connect(self.refresh)
        cases.agents_known.connect(self.refresh)
        work.moved.connect(self.refresh)
        answers.rowsInserted.connect(self._follow_newest)
        self.refresh()

    def _lay_out(self, gap: int) -> None:
        head = QHBoxLayout()
        head.setSpacing(gap)
        head.addWidget(self.mode)
        head.addWidget(self.count, 1)
        head.addWidget(self.wider)
        column = QVBoxLayout(self)
        column.setContentsMargins(gap, 0, 0, 0)
        column.setSpacing(gap)
        column.addLayout(head)
        column.addWidget(self.trouble)
        column.addWidget(self.column, 1)
        column.addWidget(self.held)

    @Slot()
    def refresh(self) -> None:
        """Say how many wait."""
        waiting = self._cases.count_waiting()
        self.count.setText(tr("{waiting} waiting", waiting=numeral(waiting)) if waiting else "")
        self.none.say(*nothing_waits(self._cases, self._work))
        nobody = self._cases.agents == ()
        self.none.setHidden(bool(waiting) or nobody)
        self.nobody.setHidden(bool(waiting) or not nobody)
        self.stack.setHidden(not waiting)
        self._show_trouble()

    @Slot(float)
    def _know_silence(self, seconds: float) -> None:
        self._silent = seconds
        self._show_trouble()

    def _show_trouble(self) -> None:
        """Say here too why nothing can be approved; what can be done about it is in the whole window."""
        grave = next((one for room, one in self._cases.troubles.items() if room in GRAVE), None)
        words = silence(self._silent) if self._silent else grave.what if grave is not None else ""
        if words != self.trouble.text:
            self.trouble.say(Tone.BAD, words, tr("Show"))
        self.trouble.setVisible(bool(words))

    @Slot()
    def _begin(self) -> None:
        self.widen.emit()
        self.first_steps.emit()

    @Slot(str)
    def show_outcome(self, request_id: str) -> None:
        """Show the output of a request below the list."""
        if self.outcome.show_request(request_id):
            self.outcome.show()

    @Slot(QModelIndex, int, int)
    def _follow_newest(self, _parent: QModelIndex, first: int, last: int) -> None:
        """Follow what the person approved last, also where other answers came with it."""
        new = filter(None, map(self.answers.model.answered, range(first, last + 1)))
        if self.isVisible() and (one := next((one for one in new if one.approved and one.own), None)):
            self.show_outcome(one.request.id)

    def _may_count(self) -> bool:
        return self.isVisible() and self.window().isActiveWindow()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.stack.live(True)
        self.stack.rest.rearm()
        self.setFocus()  # where no key does anything

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.stack.live(False)
