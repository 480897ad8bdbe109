"""One request under review, and the answers to it: deny with a reason, or approve once exactly what is shown."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.class_reasons.keeping import CaseKeeping
from app.parts.empty import EmptyState
from app.parts.fold import Pages
from app.parts.order import tab_in_reading_order
from app.review.answering import Answering
from app.review.comparing import Comparing
from app.review.editing import VersionEditing
from app.review.folding import PictureFolding
from app.review.guard import ClickGuard
from app.review.interest import Interest
from app.review.moved_target import Steady
from app.review.page import RequestPage
from app.review.reading import CODE
from app.review.under_review import UnderReview
from app.state import rehearsals, trials
from runner.approval.modes import Mode
from runner.model.decision import Decider
from runner.model.events import (
    ApprovalArmed,
    ApprovalSpent,
    EngineTroubled,
    ModeChanged,
    QuestionAsked,
    QuestionsMoved,
    RehearsalMoved,
    RequestAssessed,
    RequestDecided,
    RunFinished,
    SandboxesChanged,
    TrialMoved,
    TroubleCleared,
)
from runner.model.tool_facts import NEW_PLACE
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Card, Cards
    from runner.model.events import Event


LOW = 400
"""Height of the window below which the header has one line: with large text in a small window."""
NOTHING = (tr("Nothing to review"), tr("The next request opens here."))
LOCKED = (tr("Nothing to review"), tr("In Lockdown no request opens here: each is denied at once."))
NOT_SHOWN = (
    tr("This request cannot be shown"),
    tr("What happened is in the fault log. It is not approved, and ends by itself."),
)


class ReviewPanel(QFrame):
    """Shows one card at a time and follows what becomes of it."""

    answer_declined = Signal(str, str)
    """Request id, and why the person's answer to it was not taken."""
    answered = Signal(str)
    """The person's answer to this request has been recorded: time for the next."""
    remember_wanted = Signal()
    """What is on screen is to be remembered; that answers nothing."""
    stronger_wanted = Signal()
    """A stronger sandbox than there is here."""
    move_on = Signal()
    """The person is through with a request that is over."""

    def __init__(
        self, cards: Cards, bridge: EngineLink, look: Look, disputed: Path, parent: QWidget | None = None
    ) -> None:
        """`disputed` is the file of requests of which the person says that their level is wrong."""
        super().__init__(parent)
        self._cards = cards
        self._bridge = bridge
        self._look = look
        self._under_review = UnderReview(bridge)
        self.guard = ClickGuard(self._can_be_answered)
        self.setProperty("card", True)
        self._stack = Pages(self)
        self.page = RequestPage(look, self._under_review, self.guard, CaseKeeping(disputed, self), self._stack)
        reading, foot = self.page.reading, self.page.foot
        self.editing = VersionEditing(self._under_review, reading, foot, bridge, self)
        self.answering = Answering(self._under_review, self.page, self.guard, self.editing, bridge, cards)
        self.comparing = Comparing(self._under_review, reading, bridge, self)
        self._folding = PictureFolding(self._under_review, reading, bridge, self)
        self._steady = Steady((foot.deny, foot.accept, foot.approve, foot.hand_over, foot.later), self)
        self.nothing = EmptyState(look, "mark-open", *NOTHING)
        self.nothing.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self.page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(1, 1, 1, 1)
        whole.addWidget(self._stack)
        self._interest = Interest(self)
        self._connect()
        tab_in_reading_order(self)
        self.clear()

    def _connect(self) -> None:
        reading = self.page.reading
        self.page.foot.next.clicked.connect(self._go_on)
        self.page.foot.stronger.clicked.connect(self.stronger_wanted)
        self.page.limits.changed.connect(self.editing.choose_limits)
        reading.sent.included_changed.connect(self.editing.choose_files)
        self._steady.moved.connect(self.rearm)
        self._folding.folded.connect(self.rearm)
        self._interest.shown.connect(self._under_review.pause_countdown)
        self.answering.declined.connect(self.answer_declined)
        self.answering.remember_wanted.connect(self.remember_wanted)
        self.editing.limits_chosen.connect(self.rearm)
        self.editing.version_changed.connect(self._show_version)
        self.editing.limits_refused.connect(self._show_refusal)
        self.editing.impossible.connect(self.page.warn)
        self.editing.ended.connect(self._leave_editor)
        self._cards.happened.connect(self.take)
        self._cards.sandbox_known.connect(self._sandbox_known)

    # ---- what is shown ----

    @property
    def card(self) -> Card | None:
        return self._under_review.card

    @property
    def shown(self) -> Card | None:
        """What would run: the card, or the person's version of it."""
        return self._under_review.shown

    def show_card(self, card: Card) -> None:
        """Put `card` on screen; answers to it count after the guard's rest. The focus stays where it is.

        Where that fails nothing is under review.
        """
        if card is self.card:
            return
        focused = self._has_focus_inside()
        with self._whole_or_nothing():
            self._change(card)
            self.page.notice.hide()
            self.page.reading.open(card)
            self.page.leave(focused)
            self._show_subject()
            self.page.reading.show_tried(trials.tried(card))
            self.page.reading.show_outcome(rehearsals.outcome(card))
            self.page.reading.bring_outcome()
            self._stack.setCurrentWidget(self.page)
            self.comparing.start()
            self.rearm()

    @contextlib.contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        """Put nothing under review where showing it fails: the code on screen may be that of another request."""
        try:
            yield
        except Exception:
            self.clear(NOT_SHOWN)
            raise

    def clear(self, words: tuple[str, str] | None = None) -> None:
        """Put nothing under review; title and sentence say why, those of the mode where none are given."""
        self._change(None)
        self.nothing.say(*(words or self._nothing_waits))
        self._stack.setCurrentWidget(self.nothing)
        self.page.leave(False)
        self.rearm()

    @property
    def _nothing_waits(self) -> tuple[str, str]:
        return LOCKED if self._cards.mode.mode == Mode.LOCKDOWN else NOTHING

    def _change(self, card: Card | None) -> None:
        self._under_review.change(card)
        self.editing.forget()
        self.answering.forget()

    def focus_neutral(self) -> None:
        """Put the focus where no key decides anything."""
        target = self.page.reading.subject if self.card is not None else self.nothing
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _can_be_answered(self) -> bool:
        """Return whether an answer counts now. Asked at every press, after noticing a move that was not noticed yet."""
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def rearm(self) -> None:
        """Ignore input for a moment: a prompt appeared, changed, or the window was activated."""
        self.answering.rearm()

    @Slot()
    def press_limits(self) -> None:
        """Open the fields of the limits, at their key."""
        if self.card is not None and self.card.waiting and not self._under_review.sent:
            self.page.open_limits()

    def _show_subject(self) -> None:
        """Show header, code and facts of what would run."""
        shown = self.shown
        if shown is None:
            return
        self.page.header.show_card(shown)
        self.page.reading.show_request(shown)
        self._folding.start()
        self.page.limits.setVisible(shown.request.tool in NEW_PLACE)
        self._show_facts(shown)

    def _show_facts(self, shown: Card) -> None:
        card = self.card
        assert card is not None
        self.page.band.show_card(shown, self._cards.kept)
        self.page.facts.show_card(shown, self._cards.sandbox, self._cards.kept)
        offered = card.waiting and not self._under_review.sent
        self.page.reading.show_sent(shown, offered=offered)
        allowed = self._bridge.decisions.bounds(card.request) if offered else {}
        self.page.limits.offer(card, shown, allowed)

    # ---- a person's version ----

    @Slot()
    def _show_version(self) -> None:
        """Show header and facts of another version; its code is in the editor, or is the same."""
        shown = self.shown
        assert shown is not None
        with self._whole_or_nothing():
            self.page.header.show_card(shown)
            self._show_facts(shown)
        if not self.page.reading.editing:
            self.rearm()

    @Slot(str)
    def _show_refusal(self, why: str) -> None:
        """Say why there is no such version, and show the limits as they are."""
        shown = self.shown
        assert shown is not None
        self.page.warn(why)
        with self._whole_or_nothing():
            self._show_facts(shown)
        self.rearm()

    @Slot()
    def _leave_editor(self) -> None:
        self.page.leave(True)
        with self._whole_or_nothing():
            self._show_subject()
        self.comparing.compare_version()
        self.rearm()

    # ---- what happens meanwhile ----

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        """Follow what becomes of the request on screen."""
        card = self.card
        if card is None:
            if any(isinstance(event, ModeChanged) for event in events):
                self.nothing.say(*self._nothing_waits)
            return
        with self._whole_or_nothing():
            self._take(card, events)

    def _take(self, card: Card, events: tuple[Event, ...]) -> None:
        concerned = False
        for event in events:
            concerned = concerned or getattr(event, "request_id", "") == card.id
            match event:
                case RequestDecided(request_id, decision) if request_id == card.id:
                    self._decided(card, decision.by is Decider.PERSON)
                    return
                case RehearsalMoved(request_id) if request_id == card.id:
                    self._follow_rehearsal(card)
                case TrialMoved(request_id) if request_id == card.id:
                    self.page.reading.show_tried(trials.tried(card))
                    self._folding.follow()
                    self._show_facts(self.shown or card)
                    self.rearm()
                case RequestAssessed(request_id) if request_id == card.id:
                    self._show_subject()
                    self.rearm()
                case ApprovalArmed(request_id) | ApprovalSpent(request_id) if request_id == card.id:
                    self._under_review.sent = False
                    self.answering.show_state()
                case RunFinished(request_id) if request_id == card.id:
                    self.answering.show_state()
                case EngineTroubled() | TroubleCleared():
                    self.answering.show_state()
                case SandboxesChanged() if card.request.sandbox:
                    # A sandbox that was empty when it was asked for may have been used since.
                    self._show_facts(self.shown or card)
                    self.rearm()
                case QuestionAsked() | QuestionsMoved() | RequestDecided():
                    # Another session of the same agent may have come or gone, or its time is another one.
                    concerned = True
                case _:
                    pass
        if concerned:
            self._under_review.follow_countdown()
            self.page.header.show_card(self.shown or card)

    def _follow_rehearsal(self, card: Card) -> None:
        """Show how far the rehearsal is; its outcome comes to the front where nobody has begun to read the code."""
        reading = self.page.reading
        untouched = not card.paused and reading.tabs.currentIndex() == CODE
        reading.show_outcome(rehearsals.outcome(card))
        if untouched and not reading.editing:
            reading.bring_outcome()
        self._show_facts(self.shown or card)
        self.rearm()

    def _decided(self, card: Card, by_person: bool) -> None:
        under_review = self._under_review
        changed = self.page.reading.editing or under_review.draft is not None
        mine = under_review.sent and by_person
        under_review.sent, under_review.draft = False, None
        self.editing.forget()
        self.page.leave(self._has_focus_inside())
        if changed:
            self._show_subject()
        else:
            self._show_facts(card)
        self.page.header.show_card(card)
        # An expired request can be approved for later at the same place: not by a click meant for now.
        self.rearm()
        if mine:
            self.answered.emit(card.id)

    @Slot()
    def _go_on(self) -> None:
        card = self.card
        if card is not None and card.missed and card.armed is None:
            self._cards.dismiss(card.id)
        self.move_on.emit()

    @Slot()
    def _sandbox_known(self) -> None:
        if (shown := self.shown) is not None:
            with self._whole_or_nothing():
                self._show_facts(shown)

    # ---- the window ----

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
        """Ignore the click that brings the window to the front."""
        if event.type() == QEvent.Type.WindowActivate:
            self.rearm()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.page.fit_details(self.width())
        self.page.header.set_low(self.window().height() < self._look.px(LOW))
