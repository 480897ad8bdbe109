"""A strip above the page on which one decides, while something else there is about to expire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app import phrases
from app.parts.elide import ElidedLabel
from app.parts.gauges.ring import CountdownRing
from app.parts.plain import plain_label
from app.review.deciding import HURRY_SECONDS
from app.state.attention import attention, headline
from runner.model.assessment import Level
from runner.model.translation import tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.look.look import Look
    from app.state.cards import Card, Cards

TICK_MS = 250
TONES = {Level.MEDIUM: "warn", Level.HIGH: "bad", Level.CRITICAL: "critical"}
"""What the style sheet calls the colors of attention; all else has that of a note."""


class ExpiryStrip(QFrame):
    """One line: how bad, what, how long, and a button that shows it. It takes no key and decides nothing."""

    wanted = Signal(str)
    """The request is wanted on screen."""

    def __init__(
        self, cases: Cards, look: Look, shown: Callable[[], str | None], parent: QWidget | None = None
    ) -> None:
        """`shown` returns the request that is on screen, empty for none; None where the strip is not wanted."""
        super().__init__(parent)
        self._cases = cases
        self._shown = shown
        self._about = ""
        self.setProperty("tone", "info")
        self.level = plain_label(role="strong")
        self.what = ElidedLabel()
        self.left = CountdownRing(look)
        self.show_it = QPushButton(tr("Show"))
        self.show_it.setProperty("kind", "quiet")
        self.show_it.setAutoDefault(False)
        # It comes and goes by itself: Tab would come to other things each time. The list has the request too.
        self.show_it.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.show_it.clicked.connect(self._ask)
        px = look.px
        row = QHBoxLayout(self)
        row.setContentsMargins(px(12), px(2), px(6), px(2))
        row.setSpacing(px(10))
        row.addWidget(self.level)
        row.addWidget(self.what, 1)
        row.addWidget(self.left)
        row.addWidget(self.show_it)
        self.hide()
        self._ticker = QTimer(self)
        self._ticker.setInterval(TICK_MS)
        self._ticker.timeout.connect(self.refresh)
        cases.happened.connect(self._take)

    @Slot()
    def _take(self) -> None:
        if self._cases.count_waiting() > 1:
            self._ticker.start()
        self.refresh()

    @Slot()
    def refresh(self, *_: object) -> None:
        """Show what expires first, unless it is on screen, looked at, or has time."""
        card = self._soonest()
        if self._cases.count_waiting() < 2:
            self._ticker.stop()
        if card is None:
            self._about = ""
            self.left.set_deadline(None, 0.0)
            self.hide()
            return
        self._about = card.id
        worst = attention(card)
        self._take_tone("info" if worst is None else TONES.get(worst, "info"))
        self.level.setText(tr("Soon over") if worst is None else worst.name)
        self.what.setText(f"{headline(card)} \N{MIDDLE DOT} {phrases.claim_of(card.request)}")
        self.left.set_deadline(card.deadline, card.window)
        self.show_it.setAccessibleName(tr("Show {headline}, which is about to expire", headline=headline(card)))
        self.show()

    def _take_tone(self, tone: str) -> None:
        """Have the color of what was found."""
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            self.style().unpolish(self)
            self.style().polish(self)

    def _soonest(self) -> Card | None:
        now, on_screen = since_boot(), self._shown()
        if on_screen is None:
            return None
        soon = [
            card
            for card in self._cases.waiting()
            if card.id != on_screen and not card.paused and (card.deadline or 0.0) - now < HURRY_SECONDS
        ]
        return min(soon, key=lambda card: card.deadline or 0.0, default=None)

    @Slot()
    def _ask(self) -> None:
        if self._about:
            self.wanted.emit(self._about)
