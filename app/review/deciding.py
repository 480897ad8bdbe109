"""Queue and review side by side: the page on which requests are answered, with its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.page_tasks import PageTasks
from app.parts.fold import Folding, in_sight, reveal
from app.queue.panel import QueuePanel
from app.review.holding import KeyHold
from app.review.keystrokes import Keystrokes
from app.review.panel import ReviewPanel
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import QuestionAsked

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from app.bridge import EngineLink
    from app.cards import Card, Cards
    from app.look.look import Look
    from runner.model.events import Event

LEAST = 600
"""Width below which the queue stands above the request."""
WITHDRAWN = "The agent withdrew the request that was here before."


class Deciding(QWidget):
    """Nothing that arrives changes what is under review; only an answer or the person moves on."""

    add_agent = Signal()
    opened = Signal(str)
    """A request was brought under review."""
    declined = Signal(str, str)
    """Request id, and why an answer to it was not taken."""

    def __init__(self, cases: Cards, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._tasks = PageTasks("deciding", self)
        self._look = look
        self.queue = QueuePanel(cases, look)
        self.review = ReviewPanel(cases, bridge, look)
        self.split = Folding(look, LEAST, (200, 0))
        self.split.setHandleWidth(look.px(8))
        self.split.addWidget(self.queue)
        self.split.addWidget(self.review)
        self.split.setStretchFactor(0, 0)
        self.split.setStretchFactor(1, 1)
        self._sized = False
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.split)
        self.queue.chosen.connect(self.show_request)
        self.queue.batch.connect(self._ask_batch)
        self.queue.add_agent.connect(self.add_agent)
        self.review.answered.connect(self._next)
        self.review.answer_declined.connect(self.declined)
        self.review.move_on.connect(self._next)
        cases.happened.connect(self._take)
        self.keystrokes = Keystrokes(self)
        self.keystrokes.swallowed.connect(self._swallowed)
        self._hold = KeyHold(self)
        approve = self.review.page.foot.approve
        self._hold.begun.connect(self._begin_hold)
        self._hold.paused.connect(approve.pause_hold)
        self._hold.resumed.connect(approve.resume_hold)
        self._hold.ended.connect(approve.release_hold)
        self._too_quick = ""
        """The key that was ignored last, by its letter."""
        self._replaced = ""
        """The request that came on screen in place of one that was withdrawn."""
        self._key("A", lambda: self._answer(self._press_approve))
        self._key("D", lambda: self._answer(self.review.answering.press_deny))
        self._key("E", lambda: self._answer(self.review.editing.press))
        self._key("L", lambda: self._answer(self.review.press_limits))
        self._key("R", self.review.answering.press_remember)
        self._key("X", self.queue.toggle_mark)
        self._key("J", lambda: self.queue.step(1))
        self._key("K", lambda: self.queue.step(-1))

    @Slot(str)
    def show_request(self, request_id: str) -> None:
        """Bring one request under review."""
        if card := self._cases.card(request_id):
            self.queue.choose(request_id)
            self.review.show_card(card)
            self.opened.emit(request_id)

    def _answer(self, press: Callable[[], None]) -> None:
        """Answer what is on screen; where nothing there can be answered, only bring the next request there."""
        shown = self.review.card
        urgent = self._cases.most_urgent()
        if urgent is not None and (shown is None or not (shown.waiting or shown.missed)):
            self.show_request(urgent.id)
            self._invite()
        elif shown is not None and shown.id == self._replaced and self.review.answering.resting:
            self._invite()  # the key was meant for the request that was withdrawn at this moment
        elif shown is not None and not in_sight(self.review.page.foot):
            # Large text: what the key would do has been scrolled away.
            reveal(self.review.page.foot)
            self._invite()
        else:
            press()

    def _invite(self) -> None:
        """Bring the next request on screen and swallow the text that follows the key, which decided nothing."""
        self._too_quick = ""
        self.keystrokes.swallow()
        self.review.answering.invite()

    def _press_approve(self) -> None:
        """Approve when A was pressed by itself: in a text that is typed without looking it is a letter."""
        if self.review.answering.can_approve and not (self.keystrokes.alone and self.review.answering.press_approve()):
            self._too_quick = "A"
            self.keystrokes.swallow()
            self._swallowed()

    @Slot()
    def _swallowed(self) -> None:
        """Say that nothing was decided."""
        if self._too_quick == "A" and self.review.answering.holding:
            # The letter is not the way here: what is, the sentence after the hint says.
            self.review.answering.hint("Too quick.")
        else:
            self.review.answering.hint(f"Too quick: press {self._too_quick or 'the key'} again.")

    @Slot(object)
    def _ask_batch(self, chosen: tuple[str, ...]) -> None:
        """Put the list over the window; only its own button approves."""
        from app.review.batch import Batch

        by = self._bridge.decisions.approve_by()
        batch = Batch(self, self._cases, self._approve_one, self._look, chosen, by)
        batch.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        batch.open()

    def _approve_one(self, request_id: str, digest: str) -> None:
        """Approve one request of a batch, which is closed before the engine answers."""
        answer = self._bridge.decisions.approve(request_id, digest)
        self._tasks.start("approve", self._wait_for(request_id, answer))

    async def _wait_for(self, request_id: str, answer: Future[str]) -> None:
        try:
            why_not = await answer
        except KnownError as error:
            why_not = str(error)
        if why_not:
            self.declined.emit(request_id, why_not)

    @Slot()
    def _next(self) -> None:
        """Show the next most urgent request, or nothing."""
        if card := self._cases.most_urgent():
            self.show_request(card.id)
        else:
            self.queue.choose("")
            self.review.clear()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        """Show the most urgent question in place of nothing, or of a request that the agent withdrew."""
        card = self.review.card
        if card is None and any(isinstance(event, QuestionAsked) for event in events):
            self._next()
        elif card is not None and _is_withdrawn(card) and self._cases.count_waiting():
            # Else the others would count down unseen. What is typed at this moment was meant for the one before.
            self._next()
            self._replaced = self.queue.shown
            self.keystrokes.swallow()
            self.review.answering.hint(WITHDRAWN)

    def _key(self, letter: str, act: Callable[[], None]) -> None:
        shortcut = QShortcut(QKeySequence(letter), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.setAutoRepeat(letter in "JK")
        shortcut.activated.connect(act)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if (window := self.window().windowHandle()) is not None:
            window.installEventFilter(self.keystrokes)

    # ---- holding Approve by keyboard ----

    @Slot()
    def _begin_hold(self) -> None:
        if in_sight(self.review.page.foot.approve):
            self.review.page.foot.approve.press_hold()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_hold(event):
            self._hold.press(event)
            event.accept()
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_A, Qt.Key.Key_Control, Qt.Key.Key_Shift):
            self._hold.release(event, Qt.Key.Key_A)
        super().keyReleaseEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._sized and self.width() >= self._look.px(LEAST):
            self._sized = True
            queue = min(self._look.px(310), max(self._look.px(230), round(self.width() * 0.25)))
            self.split.setSizes([queue, self.width() - queue])


def _is_withdrawn(card: Card) -> bool:
    return card.decision is not None and card.decision.verdict is Verdict.WITHDRAWN


def _is_hold(event: QKeyEvent) -> bool:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return event.key() == Qt.Key.Key_A and event.modifiers() == both
