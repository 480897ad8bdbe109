"""One request that waits, as a card: who asks, what it would do, what holds it, and all of it where it is short.

One that was rehearsed is answered by its outcome, which is on the card too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.agent import AgentDot
from app.parts.elide import ElidedLabel
from app.parts.gauges.ring import CountdownRing
from app.parts.plain import plain_label
from app.prompt import words
from app.prompt.chips import CardChips
from app.prompt.content import RequestContent
from app.prompt.touch import ReachedButton
from app.review import approval
from app.review.buttons import DecisionButton
from app.review.handing_over import ANOTHER, EXACTLY
from app.state import rehearsals
from app.state.attention import attention
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Iterable, Mapping

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.prompt.resting import Resting
    from app.state.cards import Card
    from runner.model.events import EngineTroubled
    from runner.model.kept_sandbox import Kept

_BAR = 3
IN_WINDOW = tr("Review it in the window: ")


class PromptCard(QFrame):
    """Approve stands here only where everything that decides is on the card to its end; Deny and Review always."""

    review = Signal(str)
    """The request is wanted in the window."""

    def __init__(self, look: Look, bridge: EngineLink, rest: Resting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._bridge = bridge
        self._rest = rest
        self._tasks = PageTasks("prompt", self)
        self._card: Card | None = None
        self._digest = ""
        self._outcome = ""
        """Digest of the outcome on the card, which is handed over in place of an approval; empty for none."""
        self._sent = False
        self._troubles: Mapping[str, EngineTroubled] = {}
        self.setProperty("card", True)
        self.dot = AgentDot(look)
        # An agent may have a name of forty letters, and clock and buttons have to stay on the card.
        self.who = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.who.setProperty("role", "strong")
        self.wants = ElidedLabel()
        self.wants.setProperty("role", "muted")
        self.ring = CountdownRing(look)
        self.sentence = plain_label(role="title", wrap=True)
        self.title = ElidedLabel()
        self.title.setProperty("role", "muted")
        self.claims = ElidedLabel()
        self.claims.setProperty("role", "muted")
        self.chips = CardChips(look)
        self.content = RequestContent(look)
        self.content.seen.connect(self.show_state)
        self.note = plain_label(role="small", wrap=True)
        self.deny = DecisionButton(tr("Deny"), rest.guard)
        self.deny.setProperty("kind", "danger")
        self.deny.setAccessibleName(tr("Deny this request"))
        self.deny.decided.connect(self._deny)
        self.look_closer = QPushButton(tr("Review"))
        self.look_closer.setAutoDefault(False)
        self.look_closer.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.look_closer.setToolTip(tr("Open it in the window"))
        self.look_closer.clicked.connect(self._review)
        self.approve = ReachedButton(tr("Approve once"), rest.guard)
        self.approve.setProperty("kind", "primary")
        self.approve.decided.connect(self._approve)
        self._lay_out()
        rest.changed.connect(self.show_state)

    def _lay_out(self) -> None:
        px = self._look.px
        head = QHBoxLayout()
        head.setSpacing(px(6))
        head.addWidget(self.dot)
        head.addWidget(self.who)
        head.addWidget(self.wants, 1)
        head.addWidget(self.ring)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(8))
        buttons.addWidget(self.deny)
        buttons.addWidget(self.look_closer)
        buttons.addStretch(1)
        buttons.addWidget(self.approve)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(12), px(14), px(12))
        column.setSpacing(px(7))
        column.addLayout(head)
        for widget in (self.sentence, self.title, self.claims, self.chips, self.content, self.note):
            column.addWidget(widget)
        column.addLayout(buttons)

    # ---- what is shown ----

    @property
    def card(self) -> Card | None:
        return self._card

    def buttons(self) -> tuple[QWidget, ...]:
        """Return the buttons that decide."""
        return (self.deny, self.approve)

    def show_card(self, card: Card, troubles: Mapping[str, EngineTroubled], kept: Iterable[Kept] = ()) -> None:
        """Show `card` as it is now. What is approved or denied from here is exactly this digest.

        `kept` are the sandboxes that agents keep.
        """
        self._card, self._digest, self._sent, self._troubles = card, card.digest, False, troubles
        request = card.request
        found = rehearsals.outcome(card)
        self._outcome = "" if found is None else found.digest
        worst = attention(card)
        self.dot.show_agent(request.agent)
        self.who.setText(phrases.sender(request, card.several))
        self.wants.setText(words.wants(request))
        self.sentence.setText(words.sentence(card))
        self.title.setText(phrases.quoted_title(request))
        self.title.setVisible(bool(request.title) or not request.code)
        said = phrases.claimed(request)
        self.claims.setText(said)
        self.claims.setVisible(bool(said))
        self.take_kept(kept)
        self.content.show_card(card)
        self.look_closer.setProperty("kind", "" if self._may_be_approved() else "primary")
        self.look_closer.style().unpolish(self.look_closer)
        self.look_closer.style().polish(self.look_closer)
        level = "" if worst is None else f"{worst.name}. "
        self.setAccessibleName(f"{self.who.text()} {self.wants.text()}. {level}{self.sentence.text()}")
        self.follow()
        self.show_state()
        self.update()

    def shorten(self) -> None:
        """Show the most important lines alone, without a button that approves: there is no room for all of it."""
        self.content.shorten()
        self.show_state()
        # At once, also for what is not on screen yet: its place is asked for now.
        for part in (self.content, self):
            if (layout := part.layout()) is not None:
                layout.invalidate()
            part.updateGeometry()

    def let_go(self) -> None:
        """Follow nothing any more: it is about to be deleted."""
        self._card = None
        self._rest.changed.disconnect(self.show_state)

    def follow(self) -> None:
        """Take over the countdown."""
        if self._card is not None:
            self.ring.set_deadline(self._card.deadline, self._card.window)

    def take_kept(self, kept: Iterable[Kept]) -> bool:
        """Say what contains the request now that these sandboxes are kept; return whether that is something else."""
        return self._card is not None and self.chips.show_chips(words.chips(self._card, kept))

    def take_troubles(self, troubles: Mapping[str, EngineTroubled]) -> None:
        self._troubles = troubles
        self.show_state()

    @Slot()
    def show_state(self) -> None:
        """Show which buttons count now, and why one does not."""
        card = self._card
        if card is None:
            return
        free = card.waiting and not self._sent and not self._rest.resting
        offered = self._may_be_approved()
        why_not = self._why_not(card)
        self.approve.setVisible(offered)
        self.approve.setEnabled(offered and free and not why_not)
        self.approve.setText(tr("Hand over") if self._outcome else tr("Approve once"))
        exactly = (
            tr("outcome: sha256 {outcome}", outcome=self._outcome)
            if self._outcome
            else tr("this: sha256 {digest}", digest=self._digest)
        )
        self.approve.setToolTip(why_not or tr("With the mouse. Exactly {exactly}", exactly=exactly))
        self.approve.setAccessibleDescription(EXACTLY if self._outcome else "")
        self.deny.setEnabled(free)
        # All of it is on the card: until it is painted a note would come with it, and move the buttons as it goes.
        said = "" if why_not == approval.to_look_at(self.content.unseen) else why_not
        note = tr("Recording your answer\N{HORIZONTAL ELLIPSIS}") if self._sent else said
        if not note and not offered and card.waiting:
            note = self._why_in_window(card)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def _may_be_approved(self) -> bool:
        """Return whether Approve belongs on this card at all, or Hand over where it was rehearsed."""
        return self._card is not None and not self._why_in_window(self._card)

    def _why_in_window(self, card: Card) -> str:
        """Return why a request is approved in the window only; empty where it may be here."""
        if card.level is None:
            return tr("Not assessed yet.")
        if card.level is Level.CRITICAL:
            return tr("{in_window}CRITICAL is never approved here.", in_window=IN_WINDOW)
        if rehearsals.awaited(card):
            return tr("Running without network. The outcome is shown here.")
        by = self._bridge.decisions.approve_by()
        if by.asks_word(card.level) or by.asks_pin(card.level):
            return tr(
                "{in_window}it is approved with a {upper}.",
                in_window=IN_WINDOW,
                upper=by.value.upper() if by.asks_pin(card.level) else by.value,
            )
        return "" if self.content.whole else tr("{in_window}it does not fit here.", in_window=IN_WINDOW)

    def _why_not(self, card: Card) -> str:
        """Return why it cannot be approved now, by the same list as in the window."""
        if card.digest != self._digest:
            return tr("The request changed.")
        if not self._may_be_approved():
            return ""
        if not self._outcome:
            return approval.why_not(card, self.content.unseen, self._troubles)
        found = rehearsals.outcome(card)
        if found is None or found.digest != self._outcome:
            return ANOTHER
        stopped = (words for room, words in approval.STOPPERS.items() if room in self._troubles)
        return next(stopped, "") or approval.to_look_at(self.content.unseen)

    # ---- answers ----

    @Slot()
    def _approve(self) -> None:
        card = self._card
        if card is None or self._sent or not card.waiting or not self._may_be_approved() or self._why_not(card):
            return
        if self._outcome:
            self._send(self._bridge.decisions.hand_over(card.id, self._digest, self._outcome))
        else:
            self._send(self._bridge.decisions.approve(card.id, self._digest))

    @Slot()
    def _deny(self) -> None:
        card = self._card
        if card is not None and card.waiting and not self._sent:
            self._send(self._bridge.decisions.deny(card.id, self._digest, ""))

    @Slot()
    def _review(self) -> None:
        if self._card is not None:
            self.review.emit(self._card.id)

    def _send(self, answer: Future[str]) -> None:
        self._sent = True
        self.show_state()
        self._tasks.start("answer", self._wait_for(self._digest, answer))

    async def _wait_for(self, digest: str, answer: Future[str]) -> None:
        """Say on the card why the engine did not take an answer."""
        try:
            why_not = await answer
        except KnownError as error:
            why_not = str(error)
        if why_not and self._digest == digest:
            self._sent = False
            self._rest.rearm()
            self.show_state()
            self.note.setText(why_not)
            self.note.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._card is None:
            return
        worst = attention(self._card)
        tokens, px = self._look.tokens, self._look.px
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.low if worst is None else tokens.ink(worst)))
        painter.drawRoundedRect(QRectF(px(1), px(12), px(_BAR), self.height() - px(24)), px(1), px(1))
        painter.end()
