"""The head of a request under review: what it is called, who sent it, how bad, how long there is, and its digest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app import phrases
from app.parts.agent import AgentDot
from app.parts.badge import Badge
from app.parts.elide import ElidedLabel
from app.parts.gauges.ring import CountdownRing
from app.parts.plain import set_tip
from app.parts.text.to_clipboard import to_clipboard
from app.state import attention
from runner.approval.editing import included_files
from runner.model.translation import plural, tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from app.look.look import Look
    from app.state.cards import Card

_DOT = "  \N{MIDDLE DOT}  "


class Header(QWidget):
    """What the agent calls it in quotes, badge and countdown; agent, language and digest; what it says of why."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = look.px
        self._digest = ""
        self._low = False
        self.title = ElidedLabel()
        self.title.setProperty("role", "muted")
        self.badge = Badge(look, None)
        self.ring = CountdownRing(look)
        self.below = ElidedLabel()
        self.below.setProperty("role", "muted")
        self.dot = AgentDot(look)
        self.claims = ElidedLabel()
        self.claims.setProperty("role", "muted")
        self.claims.hide()
        self.copy = QToolButton()
        self.copy.setToolTip(tr("Copy the whole digest"))
        self.copy.setAccessibleName(tr("Copy the digest of this request"))
        self.copy.clicked.connect(self._copy)
        look.dress(self.copy, "copy", size=14)
        self.back = QToolButton()
        self.back.setText("\N{LEFTWARDS ARROW}")
        self.back.setToolTip(tr("Back to the list"))
        self.back.setAccessibleName(tr("Back to the list of requests"))
        self.back.hide()
        upper = QHBoxLayout()
        upper.setSpacing(px(10))
        upper.addWidget(self.back)
        upper.addWidget(self.title, 1)
        upper.addWidget(self.badge)
        upper.addWidget(self.ring)
        lower = QHBoxLayout()
        lower.setSpacing(px(6))
        lower.addWidget(self.dot)
        lower.addWidget(self.below)
        lower.addWidget(self.copy)
        lower.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(14), px(10), px(12), px(6))
        column.setSpacing(px(2))
        column.addLayout(upper)
        column.addLayout(lower)
        column.addWidget(self.claims)

    def set_low(self, low: bool) -> None:
        """Show the first line alone where there is little height; the others are in the tool tip of the level then."""
        self._low = low
        for widget in (self.dot, self.below, self.copy):
            widget.setVisible(not low)
        self.claims.setVisible(not low and bool(self.claims.text()))

    def show_card(self, card: Card) -> None:
        request = card.request
        self._digest = card.digest
        self.dot.show_agent(request.agent)
        self.title.setText(phrases.quoted_title(request))
        self.title.setAccessibleName(tr("Request: {title}", title=phrases.title(request)))
        # A line break at the end ends the last line, and begins no other.
        lines = (
            plural("{count} line", "{count} lines", request.code.removesuffix("\n").count("\n") + 1)
            if request.code
            else ""
        )
        states = (*_changed(card), tr("asked again") if card.again else "", phrases.times(card.asked))
        paused = _paused(card) if card.waiting and card.paused else ""
        short = tr("sha256 {digest}…{digest_2}", digest=card.digest[:8], digest_2=card.digest[-4:])
        kept = (
            tr("in a kept sandbox")
            if request.sandbox
            else tr("over a working copy")
            if request.work is not None
            else ""
        )
        sender = phrases.sender(request, card.several)
        said = phrases.claimed(request) if request.claim.said else ""
        parts = (sender, phrases.asks_for(request), kept, lines, *states, short, paused)
        self.below.setText(_DOT.join(part for part in parts if part))
        self.claims.setText(said)
        self.claims.setVisible(bool(said) and not self._low)
        self.badge.setVisible(card.assessment is not None)
        self.badge.set_level(attention.attention(card), attention.found(card))
        set_tip(self.badge, f"{attention.class_words(card)}\n{self.below.text()}\n{said}".strip())
        self.ring.set_ink("muted" if paused else attention.ink(card))
        deadline = card.deadline if card.waiting else card.armed
        self.ring.setVisible(deadline is not None)
        self.ring.set_deadline(deadline, card.window)

    @Slot()
    def _copy(self) -> None:
        to_clipboard(self._digest)


def _paused(card: Card) -> str:
    """Return until when a request whose countdown is paused stays open."""
    ends = time.time() + max(0.0, (card.deadline or 0.0) - since_boot())
    return tr("Paused, asks until {clock}", clock=phrases.clock(ends))


def _changed(card: Card) -> tuple[str, ...]:
    """Return what the person changed, in words for code, limits and files."""
    if card.original is None:
        return ()
    code = tr("edited by you") if card.original.code != card.request.code else ""
    limits = tr("limits changed by you") if card.original.limits != card.request.limits else ""
    files = tr("files included by you") if included_files(card.original) != included_files(card.request) else ""
    return code, limits, files
