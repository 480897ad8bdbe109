"""The verdict band: what would happen in one sentence, the line to look at first, and a picture of its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.parts.chips import ChipRow, Fact
from app.parts.link import LinkButton
from app.parts.plain import plain_label, set_tip
from app.review.containment import about_request, missing, of_card, refusals
from app.review.passage import STOPPED, STOPPED_WHY, passage
from app.review.picture import PassagePicture
from app.state import attention, rehearsals, trials
from runner.model import engine_texts
from runner.model.assessment import Level
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from app.review.containment import Chip
    from app.state.cards import Card
    from runner.model.assessment import Assessment
    from runner.model.kept_sandbox import Kept

LOOK_LENGTH = 160
"""Characters of the line to look at, before it is cut to the width."""


class VerdictBand(QWidget):
    """Tinted by attention, with a bar at its left; calm where what stands out cannot happen. All is plain text.

    `way` is its lower part, for a place below it that may scroll: the picture and the chips.
    """

    line_picked = Signal(int)
    details_wanted = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._level: Level | None = None
        self._line = 0
        self._apart = False
        self.sentence = plain_label(role="verdict", wrap=True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.tried = plain_label(wrap=True)
        self.tried.setAccessibleName(tr("What it asked for when it was tried"))
        self.look_at = LinkButton()
        self.look_at.clicked.connect(self._pick)
        self.picture = PassagePicture(look)
        self.picture.pressed.connect(self.details_wanted)
        self.chips = ChipRow(look)
        self.way = _Way(self)
        self.calm = self._make_calm()
        look_at = QHBoxLayout()
        look_at.setSpacing(look.px(12))
        look_at.addWidget(self.calm)
        look_at.addWidget(self.look_at, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(16), look.px(9), look.px(12), look.px(9))
        column.setSpacing(look.px(5))
        column.addWidget(self.sentence)
        column.addWidget(self.tried)
        column.addLayout(look_at)
        below = QVBoxLayout(self.way)
        below.setContentsMargins(look.px(16), 0, look.px(12), look.px(9))
        below.setSpacing(look.px(5))
        below.addWidget(self.picture)
        below.addWidget(self.chips)
        look.changed.connect(self._paint_calm)

    def _make_calm(self) -> QWidget:
        """Return what says that nothing of what stands out can happen here."""
        calm = QWidget()
        set_tip(calm, STOPPED_WHY)
        self._shield = plain_label()
        words = plain_label(STOPPED, "strong")
        words.setAccessibleDescription(STOPPED_WHY)
        row = QHBoxLayout(calm)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self._look.px(5))
        row.addWidget(self._shield)
        row.addWidget(words)
        row.addStretch()
        self._paint_calm()
        return calm

    @Slot()
    def _paint_calm(self) -> None:
        self._shield.setPixmap(self._look.pixmap("shield-check", "text", 14))
        self.update()
        self.way.update()

    def show_card(self, shown: Card, kept: Iterable[Kept]) -> None:
        """Show the verdict on what would run; `kept` are the sandboxes that agents keep."""
        self._level = attention.attention(shown)
        words = attention.sentence(shown) or tr("Not assessed yet.")
        self.sentence.setText(words)
        set_tip(self.sentence, "\n".join(filter(None, (words, attention.class_words(shown)))))
        self._show_trial(shown)
        self._line, where = _look_at(shown.assessment, shown.request.code)
        self.look_at.say(where)
        self.look_at.setVisible(bool(where))
        kept = tuple(kept)
        way = passage(shown, kept)
        self.picture.setVisible(way is not None)
        if way is not None:
            self.picture.show_passage(way)
        self.calm.setVisible(way is not None and way.stopped)
        contains = () if way is not None else of_card(shown, kept)
        facts = [_fact(chip) for chip in contains]
        tried = refusals(shown, kept) if way is None else missing(shown, kept)
        facts += [Fact(phrases.visible(words), "info", "muted") for words in tried]
        facts += [
            Fact(phrases.visible(words), "info", "muted" if level is Level.LOW else "medium")
            for words, level in about_request(shown)
        ]
        facts += rehearsals.facts(shown)
        self.chips.show_facts(facts)
        self.chips.setVisible(bool(facts))
        self._show_way(way is not None or bool(facts))
        self._fit()
        self.updateGeometry()
        self.update()

    def _show_way(self, shown: bool) -> None:
        """Show the lower part, or end where the sentences do."""
        self.way.setVisible(shown)
        self._end()

    def set_apart(self, apart: bool) -> None:
        """Note that the lower part stands elsewhere than right below."""
        if apart != self._apart:
            self._apart = apart
            self._end()

    @property
    def _goes_on(self) -> bool:
        return not self._apart and not self.way.isHidden()

    def _end(self) -> None:
        """Make the edge between the two parts that of one ground, or of two."""
        px, here, below = self._look.px, self.layout(), self.way.layout()
        assert here is not None and below is not None
        here.setContentsMargins(px(16), px(9), px(12), px(5 if self._goes_on else 9))
        below.setContentsMargins(px(16), px(9 if self._apart else 0), px(12), px(9))
        self.update()
        self.way.update()

    def _show_trial(self, shown: Card) -> None:
        words, found = trials.line(shown), trials.tried(shown)
        self.tried.setText(words)
        set_tip(self.tried, words if found is None else trials.text(found))
        self.tried.setProperty("role", "bad" if trials.level(shown) else "" if found is not None else "muted")
        self.tried.style().unpolish(self.tried)
        self.tried.style().polish(self.tried)
        self.tried.setVisible(bool(words))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All that is said of what contains it, in the picture and beside it."""
        drawn = self.picture.passage.chips if not self.picture.isHidden() else ()
        return (*map(_fact, drawn), *self.chips.facts)

    @property
    def is_calm(self) -> bool:
        """Whether it says that what stands out cannot happen here."""
        return not self.calm.isHidden()

    @property
    def level(self) -> Level | None:
        """The attention that colors it."""
        return self._level

    @Slot()
    def _pick(self) -> None:
        self.line_picked.emit(self._line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Make the sentences as high as their words at this width."""
        margins = self.contentsMargins()
        layout = self.layout()
        assert layout is not None
        inner = self.width() - layout.contentsMargins().left() - layout.contentsMargins().right() - margins.left()
        for label in (self.sentence, self.tried):
            metrics = label.fontMetrics()
            # Not what the label asks for: it never asks for less than it was given before.
            room = QRect(0, 0, max(1, inner), 1 << 16)
            words = metrics.boundingRect(room, int(Qt.TextFlag.TextWordWrap), label.text())
            # All of it, however long an agent's names make it: its end may be the worse half. It has a bound.
            height = max(metrics.lineSpacing(), words.height())
            if label.height() != height or label.minimumHeight() != height:
                label.setFixedHeight(height)
                self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        self.paint_ground(self)

    def paint_ground(self, part: QWidget) -> None:
        """Paint the ground of a part of the band, and the bar where reading begins."""
        tokens, px = self._look.tokens, self._look.px
        # What goes beyond the edge of the part is not painted: there the ground continues.
        above = px(8) if self._goes_on and part is self.way else 0
        below = px(8) if self._goes_on and part is self else 0
        ground = QRectF(part.rect().adjusted(0, -above, 0, below))
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        bar = QRectF(ground.right() - px(4) if mirrored else 0, ground.top(), px(4), ground.height())
        painter = QPainter(part)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.hover if self.is_calm else tokens.tint(self._level)))
        painter.drawRoundedRect(ground, px(6), px(6))
        painter.setBrush(QColor(tokens.ink(self._level)))
        painter.drawRoundedRect(bar, px(2), px(2))
        painter.end()


class _Way(QWidget):
    """The lower part of a band, on the same ground."""

    def __init__(self, band: VerdictBand) -> None:
        super().__init__()
        self._band = band

    def paintEvent(self, event: QPaintEvent) -> None:
        self._band.paint_ground(self)


def _fact(chip: Chip) -> Fact:
    return Fact(chip.words, chip.icon, "low" if chip.holds else "medium")


def _look_at(assessment: Assessment | None, code: str) -> tuple[int, str]:
    """Return the line to look at first, from 1, and what to say of it; (0, '') where no line matters more."""
    span = assessment.verdict.look_at if assessment is not None else None
    if assessment is None or span is None or not code:
        return 0, ""
    found = [one for one in assessment.findings if one.span.line <= span.line <= max(one.span.end_line, one.span.line)]
    reason = max(found, key=lambda one: one.level).reason if found else ""
    why = engine_texts.in_words(reason)
    if not reason or reason.rstrip(".").casefold() in assessment.verdict.sentence.casefold():
        # What the sentence says already is not said twice: the line itself is.
        lines = code.split("\n")
        why = lines[span.line - 1][: LOOK_LENGTH * 2] if 0 < span.line <= len(lines) else ""
    return span.line, tr("Look at line {line}: {why}", line=numeral(span.line), why=phrases.visible(why)[:LOOK_LENGTH])
