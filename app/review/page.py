"""The layout of a review: header, verdict, the code with its tabs, the details, and the foot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.parts.column import Centred
from app.parts.fold import Room
from app.parts.notice import Notice, Tone
from app.review.band import VerdictBand
from app.review.facts import Facts
from app.review.foot import Foot
from app.review.header import Header
from app.review.limits import LimitsSection
from app.review.reading import ReadingPane
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.class_reasons.keeping import CaseKeeping
    from app.look.look import Look
    from app.review.guard import ClickGuard
    from app.review.under_review import UnderReview

WIDE = 1270
"""Width from which the details stand beside the code: a window of 1700 pixels."""
DETAILS_WIDTH = 360
LOW = 360
"""Height below which what scrolls begins with the code."""
LEAST_BETWEEN, LEAST_CODE = 10, 66
"""Height of what scrolls, and of the code with its tabs in it."""
CODE_WIDTH = 960
"""Most of the code, however wide the window: longer lines are not read at one glance."""


class RequestPage(QWidget):
    """All widgets of a request under review. The details are a tab, or a third column where there is room.

    What decides stays in sight: class, clock and sentence above, the answers below. Where the text is too large for
    the window, what is between them scrolls, and begins with the code.
    """

    def __init__(
        self,
        look: Look,
        under_review: UnderReview,
        guard: ClickGuard,
        keeping: CaseKeeping,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self.header = Header(look)
        self.band = VerdictBand(look, self)
        self.reading = ReadingPane(look, under_review, self)
        self.facts = Facts(look, keeping)
        self.limits = LimitsSection(look)
        # What a person may change stands above what is the same each time.
        self.facts.column.insertWidget(self.facts.column.count() - 2, self.limits)
        self.notice = Notice(look, Tone.WARN, "", closable=True)
        self.foot = Foot(look, guard, self)
        self._low = False
        self._lay_out()
        self.facts.line_picked.connect(self.reading.go_to)
        self.band.line_picked.connect(self.reading.go_to)
        self.band.details_wanted.connect(self.reading.show_details)
        self.limits.opened.connect(self._reveal_limits)

    def minimumSizeHint(self) -> QSize:
        """Return the room for every part at this width: less would be taken off the verdict, whose words wrap."""
        least, layout = super().minimumSizeHint(), self.layout()
        return least if layout is None else least.expandedTo(QSize(0, layout.minimumHeightForWidth(self.width())))

    def _lay_out(self) -> None:
        px = self._look.px
        foot = QVBoxLayout()
        foot.setContentsMargins(px(14), px(8), px(12), px(10))
        foot.setSpacing(px(8))
        foot.addWidget(self.notice)
        foot.addWidget(self.foot)
        above = QHBoxLayout()
        above.setContentsMargins(px(14), 0, px(12), 0)
        above.addWidget(self.band)
        self._way = QHBoxLayout()
        self._way.setContentsMargins(px(14), 0, px(12), px(4))
        self._way.addWidget(self.band.way)
        self._body = QHBoxLayout()
        self._body.setSpacing(0)
        self._body.addWidget(self.reading, 1)
        inside = self.reading.details.layout()
        assert inside is not None
        inside.addWidget(self.facts)
        between = QWidget()
        self._inner = QVBoxLayout(between)
        self._inner.setContentsMargins(0, 0, 0, 0)
        self._inner.setSpacing(0)
        self._inner.addLayout(self._way)
        self._inner.addLayout(self._body, 1)
        self.between = Room(between)
        self.between.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.between.setAccessibleName(tr("Request"))
        self.between.setMinimumHeight(px(LEAST_BETWEEN))
        self.between.viewport().installEventFilter(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addLayout(above)
        column.addWidget(self.between, 1)
        column.addLayout(foot)
        # A screen reader goes through a page in the order of its widgets.
        self.header.lower()
        self.notice.raise_()
        self.foot.raise_()
        Centred(self, px(CODE_WIDTH + DETAILS_WIDTH))

    def keep_free(self, height: int) -> None:
        """Leave so many pixels free at the top, for what lies over it: the answers stay where they are."""
        layout = self.layout()
        assert layout is not None
        margins = layout.contentsMargins()
        if margins.top() != height:
            layout.setContentsMargins(margins.left(), height, margins.right(), margins.bottom())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self.between.viewport():
            self._fit_height()
        return super().eventFilter(watched, event)

    def _fit_height(self) -> None:
        """Begin what scrolls with the code where there is little height, and give the code all that is in sight."""
        low = self.height() < self._look.px(LOW)
        if low is not self._low:
            self._low = low
            self.band.set_apart(low)
            self._inner.removeItem(self._way)
            self._inner.insertLayout(1 if low else 0, self._way)
            self.foot.set_low(low)
        least = max(self.between.viewport().height(), self._look.px(LEAST_CODE)) if low else 0
        if self.reading.minimumHeight() != least:
            self.reading.setMinimumHeight(least)

    @property
    def wide(self) -> bool:
        """Whether the details stand beside the code."""
        return self._body.indexOf(self.facts) >= 0

    def warn(self, why: str) -> None:
        """Say above the buttons what could not be done, and why."""
        self.notice.say(Tone.WARN, why)
        self.notice.show()

    def leave(self, focus: bool) -> None:
        """Go back to the buttons and the code, from the reason or the editor."""
        self.reading.read()
        self.foot.show_buttons()
        self.foot.again.hide()
        if focus:
            self.reading.focus()

    def open_limits(self) -> None:
        """Bring the limits into view as fields."""
        self.reading.show_details()
        self.limits.open()

    def fit_details(self, width: int) -> None:
        """Make the details a column in a review of at least `WIDE` pixels, else a tab."""
        wide = width >= self._look.px(WIDE)
        if wide is self.wide:
            return
        inside = self.reading.details.layout()
        assert inside is not None
        if wide:
            self.reading.offer_details(False)
            self.facts.setFixedWidth(self._look.px(DETAILS_WIDTH))
            self._body.addWidget(self.facts)
        else:
            self._body.removeWidget(self.facts)
            self.facts.setMinimumWidth(0)
            self.facts.setMaximumWidth((1 << 24) - 1)
            inside.addWidget(self.facts)
            self.reading.offer_details(True)
        # A widget that was given another parent stays hidden.
        self.facts.show()

    @Slot()
    def _reveal_limits(self) -> None:
        """Scroll to the limits once they have been laid out."""
        QTimer.singleShot(0, self, lambda: self.facts.ensureWidgetVisible(self.limits, 0, 0))
