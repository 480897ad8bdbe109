"""Queue and review side by side: the page on which requests are answered, with its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSplitter, QWidget

from app.link.page_tasks import PageTasks
from app.parts.fold import Pages, in_sight, reveal
from app.queue.panel import QueuePanel
from app.review.giving_way import AFTER_PROMPT_MS, GivingWay
from app.review.guard import GRAVER_SECONDS
from app.review.key_repeat import KeyHold
from app.review.keystrokes import Keystrokes
from app.review.panel import ReviewPanel
from app.state.attention import rank
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import QuestionAsked
from runner.model.translation import tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Card, Cards
    from app.state.work_cards import WorkCards
    from runner.model.events import Event
    from runner.system.places import Places

HURRY_SECONDS = 15.0
"""What is left of a request that goes before the next in the list."""
LEAST = 600
"""Width below which the queue and the request take turns."""
WITHDRAWN = tr("The agent withdrew the request that was here before.")
OVER = tr("The request that was here before is over.")


class Deciding(QWidget):
    """Nothing that arrives takes the place of a question. One that is over, and that nobody touches, gives way."""

    add_agent = Signal()
    opened = Signal(str)
    """A request was brought under review."""
    declined = Signal(str, str)
    """Request id, and why an answer to it was not taken."""

    def __init__(
        self,
        cases: Cards,
        work: WorkCards,
        bridge: EngineLink,
        look: Look,
        places: Places,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._tasks = PageTasks("deciding", self)
        self._look = look
        self.split = QSplitter(Qt.Orientation.Horizontal, self)
        self.split.setChildrenCollapsible(False)
        self.split.setHandleWidth(look.px(6))
        self.queue = QueuePanel(cases, work, look, self.split)
        self.beside = Pages(self.split)
        """The review, or what else is shown in its place."""
        self.review = ReviewPanel(cases, bridge, look, places.disputed, self.beside)
        self.beside.addWidget(self.review)
        self.split.setStretchFactor(0, 0)
        self.split.setStretchFactor(1, 1)
        self._sized = False
        self._narrow = False
        self._listing = False
        """Where there is room for one of them: the queue is shown and not the request."""
        self._occupied = False
        self._lay_out()
        self.queue.chosen.connect(self.show_request)
        self.queue.view.clicked.connect(self._leave_list)
        self.review.page.header.back.clicked.connect(self._show_list)
        self.queue.batch.connect(self._ask_batch)
        self.queue.add_agent.connect(self.add_agent)
        self.review.answered.connect(self._after_answer)
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
        """The request that came on screen in place of one that was over."""
        self._giving_way = GivingWay(self, self._keeps_others_waiting)
        self._soon = QTimer(self, singleShot=True, interval=AFTER_PROMPT_MS)
        self._soon.timeout.connect(self._take_over)
        self._giving_way.due.connect(self._give_way)
        self._bind()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.split)
        self.queue.lower()  # first for a screen reader, as on the screen

    def _bind(self) -> None:
        """Give the letters that are printed on the buttons their meaning."""
        self._key("A", lambda: self._answer(self._press_approve))
        self._key("Shift+A", lambda: self._answer(self._press_for_real))
        self._key("D", lambda: self._answer(self.review.answering.press_deny))
        self._key("T", lambda: self._answer(self._press_try))
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
            self._leave_list()
            self.opened.emit(request_id)

    @Slot()
    def _show_list(self) -> None:
        self._listing = True
        self._take_turns()

    @Slot()
    def _leave_list(self) -> None:
        """Show the request where the queue has been shown in its place."""
        self._listing = False
        self._take_turns()

    def occupy(self, occupied: bool) -> None:
        """Note whether something else than a request stands beside the queue, which then is shown."""
        self._occupied = occupied
        self._leave_list()

    def _take_turns(self) -> None:
        """Show both, or where there is little room one of them."""
        listing = self._narrow and (self._listing or (self.review.card is None and not self._occupied))
        focus = self.window().focusWidget()
        inside = focus is not None and self.isAncestorOf(focus)
        self.review.page.header.back.setVisible(self._narrow)
        self.queue.setVisible(not self._narrow or listing)
        if self.beside.isHidden() is not listing:  # Qt would send show events to all children again
            self.beside.setVisible(not listing)
        if inside and focus is not None and not focus.isVisible():
            # Qt would give it to whatever comes next, in another part of the window.
            self._focus_neutral()

    def _answer(self, press: Callable[[], None]) -> None:
        """Answer what is on screen; where nothing there can be answered, only bring the next request there."""
        shown = self.review.card
        urgent = self._cases.most_urgent()
        if urgent is not None and (shown is None or not shown.waiting):
            self.show_request(urgent.id)
            self._invite()
        elif shown is not None and shown.id == self._replaced and self.review.answering.resting:
            self._invite()  # the key was meant for the request that was withdrawn at this moment
        elif shown is not None and not in_sight(self.review.page.foot):
            # Large text: what the key would do has been scrolled away, or the list is in its place.
            self._leave_list()
            reveal(self.review.page.foot)
            self._invite()
        else:
            press()

    def _invite(self) -> None:
        """Bring the next request on screen and swallow the text that follows the key, which decided nothing."""
        self._too_quick = ""
        self.keystrokes.swallow()
        self.review.answering.invite()

    def _press_for_real(self) -> None:
        """Approve a request that was rehearsed, in place of handing over its outcome; of others this is no key."""
        if self.review.answering.handing.offered:
            self._press_approve(real=True)

    def _press_try(self) -> None:
        """Have the code tried when T was pressed by itself: in a text that is typed without looking it is a letter."""
        if self.keystrokes.alone:
            self.review.answering.press_try()

    def _press_approve(self, *, real: bool = False) -> None:
        """Approve when A was pressed by itself: in a text that is typed without looking it is a letter."""
        answering = self.review.answering
        if not answering.can_approve:
            self.review.page.foot.flash()
        elif self.keystrokes.alone and answering.help_along(real=real):
            pass  # more of the code is on screen, or it was said why not
        elif not (self.keystrokes.alone and answering.press_approve(real=real)):
            self._too_quick = "A"
            self.keystrokes.swallow()
            self._swallowed()

    @Slot()
    def _swallowed(self) -> None:
        """Say that nothing was decided."""
        if self._too_quick == "A" and self.review.answering.holding:
            # The letter is not the way here: what is, the sentence after the hint says.
            self.review.answering.hint(tr("Too quick."))
        else:
            self.review.answering.hint(
                tr("Too quick: press {too_quick} again.", too_quick=self._too_quick or tr("the key"))
            )

    @Slot(object)
    def _ask_batch(self, chosen: tuple[str, ...]) -> None:
        """Put the list over the window; only its own button approves."""
        from app.review.batch import Batch

        by = self._bridge.decisions.approve_by()
        batch = Batch(self, self._cases, self._approve_one, self._look, chosen, by, self._deny_one)
        batch.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        batch.open()

    def _approve_one(self, request_id: str, digest: str) -> None:
        """Approve one request of a batch, which is closed before the engine answers."""
        answer = self._bridge.decisions.approve(request_id, digest)
        self._tasks.start("approve", self._wait_for(request_id, answer))

    def _deny_one(self, request_id: str, digest: str, reason: str) -> None:
        """Deny one request of a batch."""
        answer = self._bridge.decisions.deny(request_id, digest, reason)
        self._tasks.start("deny", self._wait_for(request_id, answer))

    async def _wait_for(self, request_id: str, answer: Future[str]) -> None:
        try:
            why_not = await answer
        except KnownError as error:
            why_not = str(error)
        if why_not:
            self.declined.emit(request_id, why_not)

    @Slot(str)
    def _after_answer(self, request_id: str) -> None:
        """Show the next request; into one that is worth more of a look the hand does not slide."""
        answered = self._cases.card(request_id)
        self._next()
        following = self.review.card
        if answered is not None and following is not None and following.waiting and rank(following) > rank(answered):
            self.review.answering.rearm(GRAVER_SECONDS)

    def _next_card(self) -> Card | None:
        """Return the request that is next in the list; one that is about to expire goes before it."""
        urgent = self._cases.most_urgent()
        if urgent is None or (not urgent.paused and (urgent.deadline or 0.0) - since_boot() < HURRY_SECONDS):
            return urgent
        return self._cases.card(self.queue.following) or urgent

    @Slot()
    def _next(self) -> None:
        """Show the next request, or nothing."""
        if card := self._next_card():
            self.show_request(card.id)
        else:
            self.queue.choose("")
            self.review.clear()
            self._take_turns()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        """Show the most urgent question in place of nothing, or of a request that the agent withdrew."""
        if QApplication.activeWindow() is not None:
            self._take_over(any(isinstance(event, QuestionAsked) for event in events))
        else:
            self._soon.start()  # another program is in front: the compact prompt comes on screen first

    @Slot()
    def _take_over(self, asked: bool = True) -> None:
        card = self.review.card
        if card is None and asked:
            self._next()
        elif card is not None and _is_withdrawn(card) and self._cases.count_waiting():
            self._replace(WITHDRAWN)
        else:
            self._giving_way.look()

    def _keeps_others_waiting(self) -> bool:
        """Return whether what is on screen is over while others wait, or was answered elsewhere, as on its card."""
        card = self.review.card
        if card is None or card.decision is None or not _is_over(card):
            return False
        missed = card.decision.verdict is Verdict.EXPIRED  # and can still be approved for later, here
        return (card.decision.by is Decider.PERSON and not missed) or self._cases.count_waiting() > 0

    @Slot()
    def _give_way(self) -> None:
        self._replace(OVER)

    def _replace(self, why: str) -> None:
        """Show the most urgent question in place of what is over: else the others would count down unseen."""
        self._next()
        self._replaced = self.queue.shown
        # What is typed at this moment was meant for the one before.
        self.keystrokes.swallow()
        self.review.answering.hint(why, passing=True)

    def _key(self, letter: str, act: Callable[[], None]) -> None:
        shortcut = QShortcut(QKeySequence(letter), self)
        # Wherever the focus is in the window, and only while this page can be seen: the keys are printed on it.
        shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
        shortcut.setAutoRepeat(letter in "JK")
        shortcut.activated.connect(act)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if (window := self.window().windowHandle()) is not None:
            window.installEventFilter(self.keystrokes)
        focus = self.window().focusWidget()
        # Whoever goes along the pages with the arrow keys stays there.
        here = focus is not None and self.isAncestorOf(focus) and focus.isVisible()
        if not here and (focus is None or focus.property("kind") != "page"):
            self._focus_neutral()

    def _focus_neutral(self) -> None:
        """Put the focus where no key decides anything: the request, or the list where that is in its place."""
        if self.review.isVisibleTo(self):
            self.review.focus_neutral()
        else:
            self.queue.view.setFocus(Qt.FocusReason.OtherFocusReason)

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
        narrow = self.width() < self._look.px(LEAST)
        if narrow is not self._narrow:
            self._narrow = narrow
            self._take_turns()
        if not self._sized and self.width() >= self._look.px(LEAST):
            self._sized = True
            queue = min(self._look.px(300), max(self._look.px(230), round(self.width() * 0.25)))
            self.split.setSizes([queue, self.width() - queue])


def _is_over(card: Card) -> bool:
    """Return whether nothing can be answered; what its agent has not been asked about yet is not over."""
    return card.decision is not None and not card.waiting


def _is_withdrawn(card: Card) -> bool:
    return card.decision is not None and card.decision.verdict is Verdict.WITHDRAWN


def _is_hold(event: QKeyEvent) -> bool:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return event.key() == Qt.Key.Key_A and event.modifiers() == both
