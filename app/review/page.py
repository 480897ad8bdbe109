"""Where the parts of a review stand: the header, the code beside what is known of it, and the foot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.parts.fold import Folding
from app.parts.notice import Notice, Tone
from app.review.facts import Facts
from app.review.foot import Foot
from app.review.header import Header
from app.review.limits import LimitsSection
from app.review.reading import ReadingPane

if TYPE_CHECKING:
    from app.look.look import Look
    from app.review.guard import ClickGuard
    from app.review.under_review import UnderReview

_ANY_WIDTH = (1 << 24) - 1


class RequestPage(QWidget):
    """All widgets of a request under review."""

    def __init__(self, look: Look, under_review: UnderReview, guard: ClickGuard) -> None:
        super().__init__()
        self._look = look
        self.header = Header(look)
        self.reading = ReadingPane(look, under_review)
        self.facts = Facts(look)
        self.limits = LimitsSection(look)
        # What a person may change stands above what is the same each time.
        self.facts.column.insertWidget(self.facts.column.count() - 2, self.limits)
        self.notice = Notice(look, Tone.WARN, "", closable=True)
        self.foot = Foot(look, guard, self)
        self.split = Folding(look, 430, (200, 170))
        self.split.addWidget(self.reading)
        self.split.addWidget(self.facts)
        self.split.setStretchFactor(0, 1)
        self.split.setStretchFactor(1, 0)
        self._lay_out()
        self.facts.line_picked.connect(self.reading.go_to)
        self.limits.opened.connect(self._reveal_limits)

    def _lay_out(self) -> None:
        px = self._look.px
        foot = QVBoxLayout()
        foot.setContentsMargins(px(14), px(8), px(12), px(10))
        foot.setSpacing(px(8))
        foot.addWidget(self.notice)
        foot.addWidget(self.foot)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.split, 1)
        column.addLayout(foot)

    def warn(self, why: str) -> None:
        """Say above the buttons what could not be done, and why."""
        self.notice.say(Tone.WARN, why)
        self.notice.show()

    def leave(self, focus: bool) -> None:
        """Go back to the buttons and the code, from the reason or the editor."""
        self.reading.read()
        self.foot.show_buttons()
        if focus:
            self.reading.focus()

    def fit_facts(self, width: int) -> None:
        """Make the facts a column at the right of a review of `width` pixels, or all of the width below the code."""
        px = self._look.px
        if self.split.folded:
            self.facts.setMinimumWidth(0)
            self.facts.setMaximumWidth(_ANY_WIDTH)
        else:
            self.facts.setFixedWidth(min(px(340), max(px(224), round(width * 0.3))))

    @Slot()
    def _reveal_limits(self) -> None:
        """Scroll to the limits once they have been laid out."""
        QTimer.singleShot(0, self, lambda: self.facts.ensureWidgetVisible(self.limits, 0, 0))
