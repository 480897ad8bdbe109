"""The answer to the request under review: when a press counts, what the buttons say, and what is sent."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.link.page_tasks import PageTasks
from app.parts.key_names import key_text
from app.review import approval
from app.review.buttons import show_kind
from app.review.editing import ASSESSING
from app.review.foot import ALLOW, ALLOW_NOT
from app.review.guard import GRAVER_SECONDS, REST_SECONDS
from app.review.handing_over import HandingOver
from app.review.remembered_approval import LastingApproval
from app.state import trials
from runner.approval.deliberate import ApproveBy
from runner.approval.editing import Version, included_files
from runner.identity.pin import PinRefused
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from app.link.bridge import EngineLink
    from app.review.editing import VersionEditing
    from app.review.guard import ClickGuard
    from app.review.page import RequestPage
    from app.review.under_review import UnderReview
    from app.state.cards import Card, Cards
    from runner.policy.grants import Choice

HOLD_WORDS = tr("Hold the button for a second, or hold {key}.", key=key_text("Ctrl+Shift+A"))
HOLD_BY_MOUSE_WORDS = tr("Hold the button for a second with the mouse.")
MOUSE_WORDS = tr("Only the mouse approves (Settings, Approve with).")
TRY_WORDS = tr("Runs it now among decoys, without network, and says what it asks for. That answers nothing.")
LATER_WORDS = tr("Too late to run now. Approve the next identical request, for 10 minutes.")
UNFINISHED = tr("One of the limits is not a number that can be taken.")
PASSING_MS = 4000
"""How long news stays that is none when somebody comes back."""
_LATER_MS = 10
"""A little longer than the guard rests: a button that looks ready takes the click."""


class Answering(QObject):
    """Owns the rest of the guard and the sentence beside the buttons. An answer carries the digest of what is shown."""

    declined = Signal(str, str)
    """Request id, and why the person's answer to it was not taken."""
    remember_wanted = Signal()
    """What is on screen is to be remembered; that answers nothing."""

    def __init__(
        self,
        under_review: UnderReview,
        page: RequestPage,
        guard: ClickGuard,
        editing: VersionEditing,
        bridge: EngineLink,
        cards: Cards,
    ) -> None:
        super().__init__(page)
        self._under_review = under_review
        self._page = page
        self._foot = page.foot
        self._guard = guard
        self._editing = editing
        self._bridge = bridge
        self._tasks = PageTasks("answering", self)
        self._answers = 0
        """How often an answer was sent: what comes of an earlier one does not count for the newest."""
        self._cards = cards
        self._invited = False
        """A key for a request that was not on screen has brought it here."""
        self._hint = ""
        self._said = ""
        """Of the request on screen, beside the hint."""
        self._late = False
        """What was pressed last approves for later: a press meant for now never does."""
        self._again: Choice | None = None
        """What is remembered together with the approval that was pressed."""
        self._outcome = ""
        """Digest of the outcome that was pressed to be handed over; empty for an approval."""
        self.passing = QTimer(self, singleShot=True, interval=PASSING_MS)
        self.passing.timeout.connect(self._pass)
        self._rest = _rest_timer(self)
        self._rest.timeout.connect(self.show_state)
        foot = page.foot
        foot.approve.decided.connect(self._approve_now)
        foot.later.decided.connect(self._approve_later)
        foot.hand_over.decided.connect(self._hand_over)
        foot.take_back.clicked.connect(self._take_back)
        foot.accept.clicked.connect(self._accept)
        foot.deny.decided.connect(self.ask_reason)
        self.handing = HandingOver(under_review, page)
        self._lasting = LastingApproval(under_review, foot, bridge, self)
        self._lasting.chosen.connect(self._approve_again)
        foot.again.more.connect(self.press_remember)
        foot.denial.denied.connect(self._deny)
        foot.denial.back.connect(partial(page.leave, True))
        for proof in (foot.word, foot.pin):
            proof.approved.connect(self._send_approval)
            proof.back.connect(partial(page.leave, True))
        foot.try_wanted.connect(self.press_try)
        page.reading.seen.connect(self.show_state)
        page.limits.typing.connect(self.show_state)
        editing.assessing_changed.connect(self.show_state)

    # ---- when a press counts ----

    @property
    def resting(self) -> bool:
        """Whether it is too early for a press to count."""
        return self._rest.isActive()

    @Slot()
    def rearm(self, seconds: float = REST_SECONDS) -> None:
        """Ignore input for `seconds`: a prompt appeared, changed, or the window was activated."""
        self._rest.start(round(self._guard.rearm(seconds) * 1000) + _LATER_MS)
        self.show_state()

    def forget(self) -> None:
        """Drop what was said of one request: another is shown."""
        self._invited = False
        self._hint = ""
        self._said = ""

    def invite(self) -> None:
        """Ask without deciding: a key meant for a request that was not on screen has brought it here."""
        self._invited = True
        self.show_state()

    def hint(self, words: str, *, passing: bool = False) -> None:
        """Say `words` before what is said of the request, until a key counts or another request is shown.

        `passing`: what is news now and is none when somebody comes back is gone by itself after a while.
        """
        self._hint = words
        self.passing.stop()
        if passing:
            self.passing.start()
        self.show_state()

    @Slot()
    def _pass(self) -> None:
        self._hint = ""
        self.show_state()

    # ---- answers ----

    @property
    def can_approve(self) -> bool:
        """Whether the key of Approve stands for something, at once or in a moment."""
        return self._foot.approve.isVisible() and not self._under_review.sent

    @property
    def holding(self) -> bool:
        """Whether what is under review is approved by holding, for which the letter does nothing."""
        card = self._under_review.card
        return card is not None and approval.needs_holding(card)

    def help_along(self, *, real: bool = False) -> bool:
        """Where A cannot approve yet, show more of what is unseen, or point at the words that say why.

        Return whether that was so.
        """
        shown = self._under_review.shown
        if shown is None or self.resting or self._under_review.sent:
            return False
        if self.handing.offered and not real:
            return self.handing.help_along(self._cards.troubles)
        why_not, unseen = self._why_not(shown), self._page.reading.unseen
        if why_not and unseen and why_not == approval.to_look_at(unseen):
            self._page.reading.look_further(unseen[0])
        elif why_not or self.holding:
            self._foot.flash()
        return bool(why_not)

    @Slot()
    def press_try(self) -> None:
        """Have the code tried among decoys; that answers nothing."""
        card = self._under_review.card
        if card is not None and self._foot.try_it.isVisible() and self._foot.try_it.isEnabled():
            self._under_review.pause_countdown()
            self._tasks.start("try", self._try(card.id))
        elif card is not None and card.blocked:
            self._foot.flash()  # the sentence there says why

    async def _try(self, request_id: str) -> None:
        try:
            why = await self._bridge.decisions.try_it(request_id)
        except KnownError as error:
            why = str(error)
        card = self._under_review.card
        if why and card is not None and card.id == request_id:
            self.hint(tr("Not tried: {why}", why=why))

    def press_approve(self, *, real: bool = False) -> bool:
        """Approve by key, never where the button is to be held; return False where it came too early to count.

        `real`: also where the outcome of a rehearsal could be handed over.
        """
        self._hint = ""
        button = self._foot.hand_over if self.handing.offered and not real else self._foot.approve
        if button.mouse_only:
            self.hint(MOUSE_WORDS)
            return True
        return not self.resting and button.press_key()

    def press_deny(self) -> None:
        """Ask for the reason of a denial. That decides nothing, so it counts while the guard rests as well."""
        card = self._under_review.card
        if card is not None and card.waiting and not self._under_review.sent and self._foot.deny.isVisible():
            self.ask_reason()
        else:
            self._foot.flash()

    @Slot()
    def press_remember(self) -> None:
        """Open the dialog of remembering, by button or key; this answers nothing."""
        card = self._under_review.card
        if card is None or self._under_review.sent or not self._foot.remember.isVisible():
            return
        if not approval.never_remembered(card, self._why_not(self._under_review.shown or card)):
            self.remember_wanted.emit()

    @Slot()
    def _approve_now(self) -> None:
        """Approve what waits. Nothing that is over is approved by this button or its key."""
        card = self._under_review.card
        if card is not None and card.waiting:
            self._late, self._again, self._outcome = False, None, ""
            self._approve()

    @Slot()
    def _hand_over(self) -> None:
        """Give the agent the outcome on screen."""
        if not self.handing.why_not(self._cards.troubles):
            self._late, self._again, self._outcome = False, None, self.handing.digest
            self._approve()

    @Slot()
    def _approve_later(self) -> None:
        """Approve what was missed, for when its agent comes back."""
        card = self._under_review.card
        if card is not None and card.missed and card.armed is None:
            self._late, self._again, self._outcome = True, None, ""
            self._approve()

    @Slot(object)
    def _approve_again(self, choice: Choice) -> None:
        """Approve what waits as it was sent, and remember `choice` of it."""
        card = self._under_review.card
        if card is not None and card.waiting and self._under_review.shown is card:
            never = approval.never_remembered(card, self._why_not(card))
            if not never:
                self._late, self._again, self._outcome = False, choice, ""
                self._approve()

    def _approve(self) -> None:
        """Send the approval that was pressed, or ask for a word or the PIN first."""
        shown, by = self._under_review.shown, self._bridge.decisions.approve_by()
        # What lets code run unasked is proven as that, whatever the level.
        level = shown.level if shown is not None and self._again is None else None
        if shown is not None and by.asks_word(level):
            self._under_review.pause_countdown()
            self._foot.show_word()
        elif shown is not None and by.asks_pin(level):
            self._under_review.pause_countdown()
            self._foot.show_pin()
        else:
            self._send_approval()

    @Slot(str)
    def _send_approval(self, pin: str = "") -> None:
        card, shown = self._under_review.card, self._under_review.shown
        if card is None or shown is None or self._under_review.sent:
            return
        if self._foot.currentWidget() in (self._foot.word, self._foot.pin):
            # Also where it cannot be sent any more: the reason stands on the page below.
            self._page.leave(True)
        handed = bool(self._outcome)
        why_not = self.handing.why_not(self._cards.troubles, self._outcome) if handed else self._why_not(shown)
        if self._page.reading.editing or why_not or card.missed is not self._late:
            return
        self._under_review.sent = True
        self.show_state()
        if self._late:
            answer = self._bridge.decisions.arm(card.id, card.digest, pin)
        elif self._outcome:
            answer = self._bridge.decisions.hand_over(card.id, card.digest, self._outcome, pin)
        elif self._again is not None and shown is card:
            self._wait_for(card.id, self._lasting.approve(card, self._again, pin))
            return
        elif self._under_review.accepted and card.blocked:
            answer = self._bridge.decisions.approve_below_minimum(
                card.id, card.digest, self._under_review.accepted, pin
            )
        elif shown is not card:
            version = Version(shown.request.code, shown.request.limits, included_files(shown.request))
            answer = self._bridge.decisions.approve_edited(card.id, card.digest, version, shown.digest, pin)
        else:
            answer = self._bridge.decisions.approve(card.id, card.digest, pin)
        self._wait_for(card.id, answer)

    @Slot()
    def _accept(self) -> None:
        """Offer Approve for a sandbox below the minimum, or not any more. That approves nothing."""
        card, under_review = self._under_review.card, self._under_review
        if card is None or not card.waiting or not card.accepts or under_review.sent or self.resting:
            return
        under_review.accepted = "" if under_review.accepted or under_review.shown is not card else card.accepts
        under_review.pause_countdown()
        self._hint = ""
        self.rearm(GRAVER_SECONDS)

    @Slot()
    def _take_back(self) -> None:
        """Revoke the approval for later of what is shown."""
        card = self._under_review.card
        if card is not None and card.armed is not None and not self._under_review.sent:
            self._under_review.sent = True
            self.show_state()
            self._wait_for(card.id, self._bridge.decisions.take_back(card.id))

    @Slot()
    def ask_reason(self) -> None:
        """Put the reason for a denial in the place of the buttons."""
        self._hint = ""
        self._under_review.pause_countdown()
        self._foot.show_reason()

    @Slot(str)
    def _deny(self, reason: str) -> None:
        card = self._under_review.card
        if card is None or self._under_review.sent or not card.waiting:
            return
        self._under_review.sent = True
        self._page.leave(True)
        self.show_state()
        self._wait_for(card.id, self._bridge.decisions.deny(card.id, card.digest, reason))

    def _wait_for(self, request_id: str, answer: Awaitable[str]) -> None:
        self._answers += 1
        self._tasks.start("answer", self._await_answer(self._answers, request_id, answer))

    async def _await_answer(self, number: int, request_id: str, answer: Awaitable[str]) -> None:
        """Say why the engine did not take an answer: here where it is on screen, and to whoever listens."""
        mistyped = False
        try:
            why_not = await answer
        except KnownError as error:
            why_not, mistyped = str(error), isinstance(error, PinRefused)
        if not why_not:
            return
        card = self._under_review.card
        if number == self._answers and card is not None and card.id == request_id:
            self._under_review.sent = False
            self._page.warn(why_not)
            self.rearm()
            if mistyped and (card.waiting or card.missed) and self._foot.currentWidget() is self._foot.buttons:
                self._foot.show_pin()
        self.declined.emit(request_id, why_not)

    # ---- what the buttons say ----

    def _why_not(self, shown: Card) -> str:
        if shown.waiting and self._editing.assessing:
            return ASSESSING
        if shown.waiting and not self._page.limits.whole:
            return UNFINISHED
        return approval.why_not(shown, self._page.reading.unseen, self._cards.troubles, self._under_review.accepted)

    @Slot()
    def show_state(self) -> None:
        """Show buttons, the sentence beside them, and which parts have still to be looked at."""
        card, shown = self._under_review.card, self._under_review.shown
        if card is None or shown is None:
            return
        self._page.reading.mark_unseen(card, painted=not self.resting)
        why_not = self._why_not(shown)
        holding = (card.waiting or card.missed) and approval.needs_holding(shown)
        words = self._sentence(shown, why_not, holding)
        self._said = "" if self._under_review.sent else words
        self._foot.say(f"{self._hint} {words}".strip())
        self._show_approve(card, shown, why_not, holding)
        self.handing.show_button(self._cards.troubles, free=self._free, mouse_only=self._mouse_only)
        self._show_others(card, shown, why_not)

    def _show_approve(self, card: Card, shown: Card, why_not: str, holding: bool) -> None:
        approve, later = self._foot.approve, self._foot.later
        approve.mouse_only = later.mouse_only = self._mouse_only
        rehearsed = self.handing.offered
        for button, ways in ((approve, approval.ways(holding, approve.mouse_only, rehearsed)), (later, tr("By mouse"))):
            button.setEnabled(not why_not and self._free)
            button.set_holding(holding)
            button.setToolTip(why_not or tr("{ways}. Exactly this: sha256 {digest}", ways=ways, digest=shown.digest))
            button.setAccessibleDescription(self._foot.sentence.text())
        approve.setText(approval.button_words(shown, holding, approve.mouse_only, rehearsed))
        show_kind(approve, "" if rehearsed else "primary")
        later.setText(approval.later_words(holding))
        approve.setVisible(card.waiting and not self._walled(shown))
        later.setVisible(card.missed and card.armed is None)

    def _walled(self, shown: Card) -> bool:
        """Whether it cannot run here whatever one does with it, so that Approve would be a button for nothing."""
        return shown.waiting and bool(shown.blocked) and not self._under_review.accepted

    def _show_others(self, card: Card, shown: Card, why_not: str) -> None:
        foot = self._foot
        foot.stronger.setVisible(self._walled(shown))
        foot.accept.setVisible(card.waiting and bool(card.accepts) and shown is card)
        foot.accept.setEnabled(self._free)
        foot.accept.setText(ALLOW_NOT if self._under_review.accepted else ALLOW)
        foot.deny.setEnabled(card.waiting and self._free)
        foot.deny.setVisible(card.waiting)
        foot.try_it.setVisible(trials.offered(shown))
        may_try = not (self._under_review.sent or trials.awaited(card) or card.blocked)
        foot.try_it.setEnabled(may_try and trials.tried(card) is None)
        foot.try_it.setToolTip("" if trials.tried(card) is not None else trials.why_not(card) or TRY_WORDS)
        foot.edit.setEnabled(card.waiting and not self._under_review.sent)
        foot.edit.setVisible(card.waiting and bool(card.request.code) and card.request.client is None)
        never = approval.never_remembered(card, why_not)
        foot.remember.setVisible(card.waiting and shown is card and not shown.blocked)
        foot.remember.setEnabled(not never and self._free)
        foot.remember.setToolTip(never or tr("Approve and do not ask again for a while (R: all choices)"))
        foot.remember.setAccessibleDescription(never)
        foot.take_back.setVisible(card.armed is not None)
        foot.take_back.setEnabled(not self._under_review.sent)
        foot.next.setVisible(not card.waiting)
        foot.next.setText(approval.next_words(card, self._cards.count_waiting() > 0))

    @property
    def _mouse_only(self) -> bool:
        """Whether neither a key nor a screen reader approves."""
        return self._bridge.decisions.approve_by() is ApproveBy.MOUSE

    @property
    def _free(self) -> bool:
        """Whether an answer could be given now."""
        return not self._under_review.sent and not self.resting

    def _sentence(self, shown: Card, why_not: str, holding: bool) -> str:
        if self._under_review.sent:
            return tr("Recording your answer\N{HORIZONTAL ELLIPSIS}")
        if self.resting and self._page.reading.unseen and (shown.waiting or shown.missed):
            # Whether it fits is known once it has been painted. What was said of it stays until then: in a low window
            # its line coming and going moves the buttons, and each move begins the rest again.
            return shown.blocked or self._said
        if self.handing.offered:
            return self.handing.sentence(self._cards.troubles)
        hold = HOLD_BY_MOUSE_WORDS if self._mouse_only else HOLD_WORDS
        if self._under_review.accepted and not why_not:
            return f"{approval.below_minimum(self._under_review.accepted)} {hold}"
        words = why_not or (LATER_WORDS if shown.missed else hold if holding else "")
        return tr("Approve? {words}", words=words).strip() if self._invited and shown.waiting and not why_not else words


def _rest_timer(parent: QObject) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.setInterval(round(REST_SECONDS * 1000) + _LATER_MS)
    return timer
