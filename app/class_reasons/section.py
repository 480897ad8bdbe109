"""The disclosure "Why this class?": what holds the class, what would be left without it, and what would raise it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.class_reasons.wrong_level import WrongLevel
from app.parts.fold import reveal
from app.parts.link import LinkButton
from app.parts.order import tab_in_reading_order
from app.parts.plain import plain_label
from app.parts.sections import Listed, wrapped_label
from runner.model.translation import plural, tr
from runner.risk.explain import reason_sentences
from runner.risk.explain.class_reasons import reasons_for

if TYPE_CHECKING:
    from app.class_reasons.keeping import CaseKeeping
    from app.look.look import Look
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.risk.explain.class_reasons import ClassReasons, HoldingPlace

QUESTION = tr("Why this class?")
MOST_PLACES = 8
"""Places that are shown; each is enough, and the findings beside the code have all of them."""


class WhySection(QWidget):
    """Closed until somebody asks. Everything in it is plain text; only the person sees it."""

    line_picked = Signal(int)

    def __init__(self, look: Look, keeping: CaseKeeping | None = None, parent: QWidget | None = None) -> None:
        """Without `keeping` nobody can say that the class is wrong."""
        super().__init__(parent)
        self._look = look
        self._subject: tuple[Request, Assessment] | None = None
        self.toggle = QPushButton(QUESTION, self)
        self.toggle.setProperty("kind", "link")
        self.toggle.setCheckable(True)
        self.toggle.setAutoDefault(False)
        self.toggle.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.toggle.setCursor(Qt.CursorShape.PointingHandCursor)
        self.toggle.setToolTip(tr("What holds the class where it is, and what would change it"))
        self.toggle.toggled.connect(self._open)
        self.body = QWidget(self)
        self.summary = wrapped_label(look)
        self.color = wrapped_label(look)
        self.color.setProperty("role", "muted")
        self._places = QVBoxLayout()
        self._places.setSpacing(look.px(8))
        self.rows: list[HeldRow] = []
        self.more = plain_label(role="muted")
        self.not_lower = Listed(look, tr("Why not lower"), self.body)
        self.not_higher = Listed(look, tr("Why not higher"), self.body)
        self.counted = plain_label(role="small", wrap=True)
        self.wrong = WrongLevel(look, keeping, self.body) if keeping is not None else None
        self._lay_out()
        self.body.hide()
        self._point()
        self.hide()

    def _lay_out(self) -> None:
        px = self._look.px
        column = QVBoxLayout(self.body)
        column.setContentsMargins(px(10), px(2), 0, px(4))
        column.setSpacing(px(10))
        for widget in (self.summary, self.color):
            column.addWidget(widget)
        column.addLayout(self._places)
        below: tuple[QWidget, ...] = (self.more, self.not_lower, self.not_higher, self.counted)
        for part in below:
            column.addWidget(part)
        if self.wrong is not None:
            column.addWidget(self.wrong)
            self.wrong.grown.connect(self._reveal)
        head = QHBoxLayout()
        head.addWidget(self.toggle)
        head.addStretch()
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(px(4))
        whole.addLayout(head)
        whole.addWidget(self.body)

    def show_subject(self, request: Request, assessment: Assessment | None) -> None:
        """Be about a request as it was assessed; hidden before that."""
        self.setVisible(assessment is not None)
        subject = None if assessment is None else (request, assessment)
        if subject is not None and self._subject is not None and subject == self._subject:
            return
        self._subject = subject
        if subject is not None and self.wrong is not None:
            self.wrong.show_subject(*subject)
        if not self.body.isHidden():
            self._fill()

    @Slot(bool)
    def _open(self, opened: bool) -> None:
        if opened:
            self._fill()
        self.body.setVisible(opened)
        self._point()
        if opened:
            tab_in_reading_order(self)

    @Slot()
    def _reveal(self) -> None:
        """Scroll to the form, or to what came of it, once it has been laid out."""
        if self.wrong is not None:
            QTimer.singleShot(0, self.wrong, partial(reveal, self.wrong))

    def _point(self) -> None:
        """Turn the arrow; where there is nothing to paint yet it points to the right."""
        self._look.dress(self.toggle, "chevron-down" if self.toggle.isChecked() else "chevron-right", size=14)

    def _fill(self) -> None:
        if self._subject is None:
            return
        reasons = reasons_for(*self._subject)
        self.summary.setText(phrases.visible(reason_sentences.summary(reasons)))
        self.color.setText(phrases.visible(reason_sentences.badge(reasons)))
        self.color.setVisible(bool(self.color.text()))
        shown = reasons.holding[:MOST_PLACES]
        while len(self.rows) < len(shown):
            row = HeldRow(self._look, self.body)
            row.picked.connect(self.line_picked)
            self.rows.append(row)
            self._places.addWidget(row)
        for number, row in enumerate(self.rows):
            row.setVisible(number < len(shown))
            if number < len(shown):
                row.say(reasons, shown[number])
        left = len(reasons.holding) - len(shown)
        self.more.setText(plural("and {count} more place", "and {count} more places", left))
        self.more.setVisible(left > 0)
        self.not_lower.show_lines(reason_sentences.lower(reasons))
        self.not_higher.show_lines(reason_sentences.higher(reasons))
        self.counted.setText(reason_sentences.footnote(reasons))
        self.counted.setVisible(bool(reasons.holding))
        if self.wrong is not None:
            self.wrong.look()


class HeldRow(QWidget):
    """One place that holds the class: the line, the rules that say so, and what would be left without it."""

    picked = Signal(int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line = 0
        self.link = LinkButton(self)
        self.link.clicked.connect(self._pick)
        self.place = plain_label(role="strong", wrap=True)
        self.findings = wrapped_label(look)
        self.left = wrapped_label(look)
        self.left.setProperty("role", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(2))
        for widget in (self.link, self.place, self.findings, self.left):
            column.addWidget(widget)

    def say(self, reasons: ClassReasons, place: HoldingPlace) -> None:
        """Show one of the places of `reasons`."""
        self._line = place.line
        words = phrases.visible(reason_sentences.place(place))
        self.link.say(words)
        self.link.setVisible(bool(place.line))
        self.place.setText(words)
        self.place.setVisible(not place.line)
        said = (reason_sentences.finding_line(finding, place.text) for finding in place.findings)
        self.findings.setText("\n".join(map(phrases.visible, said)))
        self.left.setText(phrases.visible(reason_sentences.without(reasons, place)))

    @Slot()
    def _pick(self) -> None:
        self.picked.emit(self._line)
