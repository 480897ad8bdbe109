"""One request under review, and the two answers to it: deny with a reason, or approve once exactly what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from app.parts.code import CodeView
from app.parts.empty import EmptyState
from app.parts.notice import Notice, Tone
from app.parts.plain import plain_label
from app.review import approval
from app.review.buttons import ApproveButton, DecisionButton
from app.review.denial import Denial
from app.review.facts import Facts
from app.review.guard import REST_SECONDS, Guard
from app.review.header import Header
from app.review.steady import Steady
from runner.decision import Decider
from runner.events import EngineTroubled, RequestAssessed, RequestDecided, RunFinished, TroubleCleared

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.bridge import Bridge
    from app.cases import Card, Cases
    from app.look import Look
    from runner.events import Event

HOLD_WORDS = "Hold the button for a second, or hold Ctrl+Shift+A."
_REST_MS = round(REST_SECONDS * 1000) + 10
"""A little longer than the guard rests: a button that looks ready takes the click."""


class ReviewPanel(QFrame):
    """Shows one card at a time. Answers carry the digest of the card that is on screen, and nothing else's."""

    answered = Signal(str)
    """The person's answer to this request has been recorded: time for the next."""
    remember_wanted = Signal()
    """What is on screen is to be remembered; that answers nothing."""
    move_on = Signal()
    """The person is through with a request that is over."""

    def __init__(self, cases: Cases, bridge: Bridge, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._card: Card | None = None
        self._sent = False
        self._page_layout: QVBoxLayout | None = None
        self.guard = Guard(self._can_be_answered)
        self.setProperty("card", True)
        self.header = Header(look)
        self.tabs = QTabBar()
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.code = CodeView(look)
        self.facts = Facts(look)
        self.told = Notice(look, Tone.WARN, "", closable=True)
        self._make_answers()
        self._steady = Steady((self.deny, self.approve), self)
        self.nothing = EmptyState(look, "shield-check", "Nothing to review", "The next request opens here.")
        self.nothing.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setTimerType(Qt.TimerType.PreciseTimer)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._show_state)
        self._lay_out()
        self._connect()
        self.clear()

    # ---- what is shown ----

    @property
    def card(self) -> Card | None:
        return self._card

    def show_card(self, card: Card) -> None:
        """Put `card` on screen; answers to it count after the guard's rest. The focus stays where it is."""
        if card is self._card:
            return
        focused = self._has_focus_inside()
        self._card, self._sent = card, False
        self.told.hide()
        self.header.show_card(card)
        self._show_tabs(card)
        self._show_code()
        self.facts.show_card(card, self._cases.sandbox)
        self._stack.setCurrentWidget(self._page)
        self._leave_denial(focused)
        self.rearm()

    def clear(self) -> None:
        """Nothing is under review."""
        self._card, self._sent = None, False
        self._stack.setCurrentWidget(self.nothing)
        self._leave_denial(False)
        self.rearm()

    def focus_neutral(self) -> None:
        """Put the focus where no key decides anything."""
        target = self.code if self._card is not None else self.nothing
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _can_be_answered(self) -> bool:
        """Asked at every press: a move that nobody has been told of yet is told first."""
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def rearm(self) -> None:
        """Ignore input for a moment: a prompt appeared, changed, or the window was activated."""
        self.guard.rearm()
        self._rest.start()
        self._show_state()

    # ---- answers ----

    def press_approve(self) -> None:
        """The key of Approve: never enough where the button is to be held."""
        self.approve.press_key()

    def press_deny(self) -> None:
        """The key of Deny: asks for the reason."""
        if self.deny.isEnabled() and self.deny.isVisible():
            self._ask_reason()

    @Slot()
    def press_remember(self) -> None:
        """The button or its key: opens a dialog and answers nothing."""
        if self.remember.isEnabled() and self.remember.isVisible():
            self.remember_wanted.emit()

    @Slot()
    def _approve(self) -> None:
        card = self._card
        if card is None or self._sent or approval.why_not(card, self.code.is_seen_to_end, self._cases.troubles):
            return
        self._sent = True
        self._show_state()
        self._bridge.approve(card.id, card.digest)

    @Slot(str)
    def _deny(self, reason: str) -> None:
        card = self._card
        if card is None or self._sent or not card.waiting:
            return
        self._sent = True
        self._leave_denial(True)
        self._show_state()
        self._bridge.deny(card.id, card.digest, reason)

    @Slot()
    def _ask_reason(self) -> None:
        self._answers.setCurrentWidget(self.denial)
        self.denial.open()

    @Slot()
    def _back(self) -> None:
        self._leave_denial(True)

    def _leave_denial(self, focus: bool) -> None:
        self._answers.setCurrentWidget(self._buttons)
        if focus:
            self.code.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(str, str)
    def declined(self, request_id: str, why: str) -> None:
        """The engine did not take the answer."""
        if self._card is None or self._card.id != request_id:
            return
        self._sent = False
        self.told.say(Tone.WARN, why)
        self.told.show()
        self.rearm()

    @Slot(str)
    def failed(self, why: str) -> None:
        """Something asked for could not be done; an answer under way did not arrive."""
        if self._sent and self._card is not None:
            self.declined(self._card.id, why)

    # ---- what happens meanwhile ----

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        """Follow what becomes of the request on screen."""
        card = self._card
        if card is None:
            return
        for event in events:
            match event:
                case RequestDecided(request_id, decision) if request_id == card.id:
                    self._decided(card, decision.by is Decider.PERSON)
                    return
                case RequestAssessed(request_id) if request_id == card.id:
                    self._reassessed(card)
                case RunFinished(request_id) if request_id == card.id:
                    self._show_state()
                case EngineTroubled() | TroubleCleared():
                    self._show_state()
                case _:
                    pass
        self.header.show_card(card)

    def _decided(self, card: Card, by_person: bool) -> None:
        mine, self._sent = self._sent and by_person, False
        self._leave_denial(self._has_focus_inside())
        self.header.show_card(card)
        self._show_state()
        if mine:
            self.answered.emit(card.id)

    def _reassessed(self, card: Card) -> None:
        self._show_code()
        self.facts.show_card(card, self._cases.sandbox)
        self.rearm()

    @Slot()
    def _sandbox_known(self) -> None:
        if self._card is not None:
            self.facts.show_card(self._card, self._cases.sandbox)

    # ---- painting the state ----

    @Slot()
    def _show_state(self) -> None:
        """Buttons and the sentence beside them."""
        card = self._card
        if card is None:
            return
        why_not = approval.why_not(card, self.code.is_seen_to_end, self._cases.troubles)
        holding = approval.needs_holding(card)
        resting = self._rest.isActive()
        sentence = why_not or (HOLD_WORDS if holding else "")
        if resting and not self.code.is_seen_to_end and card.waiting:
            # Whether it fits is known once it has been painted.
            sentence = card.blocked
        if self._sent:
            sentence = "Recording your answer\N{HORIZONTAL ELLIPSIS}"
        self.sentence.setText(sentence)
        self.approve.setEnabled(not why_not and not self._sent and not resting)
        self.approve.set_holding(holding)
        self.approve.setToolTip(why_not or ("Hold Ctrl+Shift+A" if holding else "A"))
        self.approve.setAccessibleDescription(sentence)
        self.approve.setText("Hold to approve once" if holding else "Approve once  A")
        self.deny.setEnabled(card.waiting and not self._sent and not resting)
        self.deny.setVisible(card.waiting)
        self.approve.setVisible(card.waiting)
        never = approval.never_remembered(card, why_not)
        self.remember.setVisible(card.waiting)
        self.remember.setEnabled(not never and not self._sent and not resting)
        self.remember.setToolTip(never or "Do not ask for this again for a while (R)")
        self.remember.setAccessibleDescription(never)
        self.next.setVisible(not card.waiting)
        self.next.setText("Next  J" if self._cases.count_waiting() else "Close")

    def _show_tabs(self, card: Card) -> None:
        """Variables and input decide as well; they get tabs where there are any."""
        self.tabs.blockSignals(True)
        while self.tabs.count():
            self.tabs.removeTab(0)
        for name, text in _parts(card):
            self.tabs.setTabData(self.tabs.addTab(name), text)
        self.tabs.setCurrentIndex(0)
        self.tabs.setVisible(self.tabs.count() > 1)
        self.tabs.blockSignals(False)
        self.extra.hide()
        self.code.show()

    def _show_code(self) -> None:
        card = self._card
        if card is not None:
            language = card.request.language.value if card.request.language else ""
            self.code.set_code(card.request.code, language, card.assessment.findings if card.assessment else ())

    @Slot(int)
    def _show_part(self, tab: int) -> None:
        if tab > 0:
            self.extra.set_code(self.tabs.tabData(tab), "", ())
        self.extra.setVisible(tab > 0)
        self.code.setVisible(tab <= 0)

    @Slot(int)
    def _go_to(self, line: int) -> None:
        self.tabs.setCurrentIndex(0)
        self.code.scroll_to(line)

    @Slot()
    def _fit_answers(self) -> None:
        """As high as the page on top, so that the code has the rest."""
        ignored, fixed = QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed
        for number in range(self._answers.count()):
            page = self._answers.widget(number)
            assert page is not None
            on_top = page is self._answers.currentWidget()
            page.setSizePolicy(QSizePolicy.Policy.Preferred, fixed if on_top else ignored)
        self._answers.setSizePolicy(QSizePolicy.Policy.Preferred, fixed)
        self._answers.adjustSize()
        if (layout := self._page_layout) is not None:
            # At once: buttons that are placed only later look as if something had moved them.
            layout.activate()

    # ---- building ----

    def _make_answers(self) -> None:
        px = self._look.px
        self.sentence = plain_label(role="muted", wrap=True)
        # Room for two lines at any time: the buttons stay where they are when the sentence changes.
        self.sentence.setMinimumHeight(2 * self.sentence.fontMetrics().lineSpacing())
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.deny = DecisionButton("Deny\N{HORIZONTAL ELLIPSIS}  D", self.guard)
        self.deny.setProperty("kind", "danger")
        self.deny.setAccessibleName("Deny, asks for a reason, D")
        self.approve = ApproveButton("Approve once  A", self.guard, self._look)
        self.approve.setProperty("kind", "primary")
        self.approve.setAccessibleName("Approve once")
        self.remember = QPushButton("Remember\N{HORIZONTAL ELLIPSIS}")
        self.remember.setAutoDefault(False)
        self.remember.clicked.connect(self.press_remember)
        self.next = QPushButton("Next  J")
        self.next.setAutoDefault(False)
        self.next.clicked.connect(self.move_on)
        self._buttons = QWidget()
        row = QHBoxLayout(self._buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self.sentence, 1)
        for button in (self.deny, self.approve, self.remember, self.next):
            row.addWidget(button, alignment=Qt.AlignmentFlag.AlignBottom)
        self.denial = Denial(self._look, self.guard)
        self._answers = QStackedWidget()
        self._answers.addWidget(self._buttons)
        self._answers.addWidget(self.denial)
        self._answers.currentChanged.connect(self._fit_answers)
        self._fit_answers()

    def _lay_out(self) -> None:
        px = self._look.px
        self.extra = CodeView(self._look)
        self.extra.setAccessibleName("Variables or input")
        left = QWidget()
        middle = QVBoxLayout(left)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(self.tabs)
        middle.addWidget(self.code, 1)
        middle.addWidget(self.extra, 1)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(left)
        self.split.addWidget(self.facts)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        foot = QVBoxLayout()
        foot.setContentsMargins(px(14), px(8), px(12), px(10))
        foot.setSpacing(px(8))
        foot.addWidget(self.told)
        foot.addWidget(self._answers)
        self._page = QWidget()
        column = self._page_layout = QVBoxLayout(self._page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.split, 1)
        column.addLayout(foot)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(1, 1, 1, 1)
        whole.addWidget(self._stack)

    def _connect(self) -> None:
        self.approve.decided.connect(self._approve)
        self._steady.moved.connect(self.rearm)
        self.deny.decided.connect(self._ask_reason)
        self.denial.denied.connect(self._deny)
        self.denial.back.connect(self._back)
        self.code.seen_to_end.connect(self._show_state)
        self.tabs.currentChanged.connect(self._show_part)
        self.facts.line_picked.connect(self._go_to)
        self._cases.happened.connect(self.take)
        self._cases.sandbox_known.connect(self._sandbox_known)
        self._bridge.declined.connect(self.declined)
        self._bridge.failed.connect(self.failed)

    def _has_focus_inside(self) -> bool:
        focus = self.window().focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.window().installEventFilter(self)
        self._steady.watch()
        self.rearm()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.guard.rearm()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The click that brings the window to the front answers nothing."""
        if event.type() == QEvent.Type.WindowActivate:
            self.rearm()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = self._look.px
        self.facts.setFixedWidth(min(px(340), max(px(224), round(self.width() * 0.3))))


def _parts(card: Card) -> list[tuple[str, str]]:
    """The tabs: code, and what else decides."""
    request = card.request
    parts = [("Code", request.code)]
    if request.context not in ("", "{}"):
        parts.append(("Variables", request.context))
    if request.stdin:
        parts.append(("Input", request.stdin))
    return parts
