"""Offers to remember from the latest answers: each with its bounds, and what it would have answered before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app.parts.column import ScrollColumn, readable
from app.parts.empty import EmptyState
from app.parts.plain import plain_label
from app.parts.roles import Role
from app.remembering import words
from app.remembering.dialog import About
from app.remembering.rows import RuleRow, offer_row
from runner.approval.learning import Learned
from runner.model.decision import Verdict
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from app.look.look import Look
    from runner.approval.learning import Offer
    from runner.approval.past import Past

CELL, DOT = 12, 7
"""Pixels from dot to dot, and across one."""
BOUNDED = tr(
    "Each offer covers no more than you could remember by hand, for a number of uses and a time. Nothing is remembered "
    "until you say so in the next window. CRITICAL is never offered."
)


class LearnedView(QWidget):
    """Everything in it is plain text. It decides nothing: an offer opens the dialog in which a person decides."""

    remember = Signal(object)
    """About: an offer was taken up."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        px = look.px
        self.rows: list[RuleRow] = []
        self.sentence = plain_label(role="strong", wrap=True)
        self.dots = AnswerDots(look)
        self.none = EmptyState(look, "list", *words.nothing_learned(Learned()))
        self._offers = QVBoxLayout()
        scroll = ScrollColumn(tr("Offers from your answers"))
        scroll.column.setContentsMargins(0, px(6), px(6), 0)
        scroll.column.setSpacing(px(10))
        for text in (self.sentence, self.dots, plain_label(BOUNDED, "muted", wrap=True)):
            scroll.column.addLayout(readable(look, text))
        scroll.column.addLayout(self._offers)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.none)
        self._pages.addWidget(scroll)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._pages)

    def show_learned(self, found: Learned) -> None:
        """Show other offers."""
        for row in self.rows:
            self._offers.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = []
        for offer in found.offers:
            row = offer_row(self._look, offer, len(found.looked_at))
            row.acted.connect(lambda one=offer: self.remember.emit(about(one)))
            self._offers.addWidget(row)
            self.rows.append(row)
        self.sentence.setText(words.learned(found))
        self.none.say(*words.nothing_learned(found))
        self.dots.show_answers(found)
        self._pages.setCurrentIndex(int(bool(found.offers)))


def about(offer: Offer) -> About:
    """Return an offer, for the dialog."""
    past = offer.latest
    return About(past.id, past.digest, past.agent, past.title, past.level, offered=offer.may, choice=offer.choice)


class AnswerDots(QWidget):
    """A mark for each of the latest requests, oldest first: how it was answered, and whether an offer covers it."""

    accessible_role = Role.Graphic

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._answers: tuple[Past, ...] = ()
        self._covered: frozenset[str] = frozenset()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self.update)

    def show_answers(self, found: Learned) -> None:
        self._answers = tuple(reversed(found.looked_at))
        self._covered = frozenset(one.id for offer in found.offers for one in offer.covered)
        counts = Counter(words.kind_of_answer(one) for one in self._answers)
        said = ", ".join(f"{numeral(number)} {kind}" for kind, number in counts.most_common())
        self.setAccessibleName(
            tr(
                "The latest requests: {said}; {count} of them an offer would cover",
                said=said,
                count=numeral(len(self._covered)),
            )
        )
        self.setToolTip(
            tr(
                "Filled: you approved it. Cross: you denied it. Small: it passed without asking. "
                "Ring: nobody answered. A line below: an offer would cover it."
            )
        )
        self._fit()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Be as high as the rows that the marks take at this width."""
        cell = self._look.px(CELL)
        self.setFixedHeight(-(-len(self._answers) // max(1, self.width() // cell)) * (cell + self._look.px(3)))

    def paintEvent(self, event: QPaintEvent) -> None:
        cell, dot = self._look.px(CELL), float(self._look.px(DOT))
        across = max(1, self.width() // cell)
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for place, one in enumerate(self._answers):
                down, right = divmod(place, across)
                box = QRectF(right * cell, down * (cell + self._look.px(3)), dot, dot)
                self._draw(painter, box, one)
                if one.id in self._covered:
                    painter.fillRect(QRectF(box.left(), box.bottom() + 2, dot, 2), QColor(tokens.accent))
        finally:
            painter.end()

    def _draw(self, painter: QPainter, box: QRectF, one: Past) -> None:
        tokens = self._look.tokens
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if one.refused:
            painter.setPen(QPen(QColor(tokens.high), 2))
            painter.drawLine(box.topLeft(), box.bottomRight())
            painter.drawLine(box.topRight(), box.bottomLeft())
        elif one.answered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.low))
            painter.drawEllipse(box)
        elif one.verdict is Verdict.APPROVED:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.muted))
            painter.drawEllipse(QPointF(box.center()), box.width() / 4, box.width() / 4)
        else:
            painter.setPen(QPen(QColor(tokens.muted), 1))
            painter.drawEllipse(box.adjusted(1, 1, -1, -1))
