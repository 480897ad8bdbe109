"""A card in the corner of the window, for what comes while another page than that of the requests is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.parts.plain import plain_label
from app.prompt.stack import PromptStack
from app.review.giving_way import AFTER_PROMPT_MS
from runner.model.events import QuestionAsked
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.model.events import Event

WIDTH = 400
EDGE = 16


class Toast(QFrame):
    """One card, the most urgent. It lies over the page, moves nothing on it, and can be put away until the next."""

    review = Signal(str)

    def __init__(
        self,
        over: QWidget,
        page: QWidget,
        cases: Cards,
        bridge: EngineLink,
        look: Look,
        elsewhere: Callable[[], bool],
    ) -> None:
        """`page` is the part of `over` that it lies on; `elsewhere` tells whether the requests are not on screen."""
        super().__init__(over)
        self._over = over
        self._page = page
        self._cases = cases
        self._look = look
        self._elsewhere = elsewhere
        self._hidden = False
        """Whether the person has put it away."""
        self.setProperty("toast", True)
        self.setAutoFillBackground(True)
        self.stack = PromptStack(cases, bridge, look, self._may_count, self)
        self.stack.bound(1)
        self.stack.review.connect(self.review)
        self.stack.resized.connect(self._place_later)
        self.away = QPushButton(tr("Hide"))
        self.away.setProperty("kind", "quiet")
        self.away.setToolTip(tr("Until the next request; this one stays in the queue"))
        self.away.setAutoDefault(False)
        self.away.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it lies over a page: Tab goes through that
        self.away.clicked.connect(self._put_away)
        px = look.px
        head = QHBoxLayout()
        head.setContentsMargins(px(6), 0, 0, 0)
        head.addWidget(plain_label(tr("Waits for you"), "heading"), 1)
        head.addWidget(self.away)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(8), px(4), px(8), px(8))
        column.setSpacing(px(4))
        column.addLayout(head)
        column.addWidget(self.stack)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(AFTER_PROMPT_MS)
        self._soon.timeout.connect(self.refresh)
        self._at_left = False
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._give_way_to)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._settle)
        over.installEventFilter(self)
        page.installEventFilter(self)
        cases.happened.connect(self._take)
        self.hide()

    @Slot()
    def refresh(self, *_: object) -> None:
        """Come, or go, as pages and requests do."""
        wanted = self._elsewhere() and self._cases.count_waiting() > 0 and not self._hidden
        if wanted and not self.isVisible():
            self._at_left = False
            self.stack.live(True)
            if not self._place_somehow():
                self.stack.live(False)
                return
            self.show()
            self.raise_()
            self.stack.rest.rearm()
            self._later.start()
        elif wanted:
            self._later.start()
        elif not wanted and self.isVisible():
            self.hide()
            self.stack.live(False)

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, QuestionAsked) for event in events):
            self._hidden = False
        if self.isVisible() or self._over.isActiveWindow():
            self.refresh()
        else:
            self._soon.start()

    @Slot()
    def _put_away(self) -> None:
        self._hidden = True
        self.refresh()

    def _may_count(self) -> bool:
        return self.isVisible() and self.window().isActiveWindow()

    @Slot()
    def _place_later(self) -> None:
        if self.isVisible():
            self._later.start()

    @Slot()
    def _settle(self) -> None:
        """Take the place again; go where there is no room for all of the card any more."""
        if not self.isVisible():
            return
        if not self._place_somehow():
            self.hide()
            self.stack.live(False)
        elif self._choose_corner(self._over.window().focusWidget()):
            self._place()

    @Slot(QWidget, QWidget)
    def _give_way_to(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and self._choose_corner(now):
            self._place()

    def _choose_corner(self, focused: QWidget | None) -> bool:
        """Take the corner where it covers less that a person may want to use; return whether that is another one.

        What has the focus counts first, then the buttons of the page that no scrolling moves. Its
        own buttons rest after a move.
        """
        buttons = [one for one in self._page.findChildren(QAbstractButton) if self._stays_below(one)]
        first = focused if focused is not None and self._over.isAncestorOf(focused) else None
        if first is not None and self.isAncestorOf(first):
            first = None
        covered = [
            (self._covers(left, [first] if first else []), self._covers(left, buttons)) for left in (False, True)
        ]
        other = covered[not self._at_left] < covered[self._at_left]
        if other:
            self._at_left = not self._at_left
            self.stack.rest.rearm()
        return other

    def _covers(self, left: bool, widgets: Sequence[QWidget]) -> int:
        """Return how many of `widgets` it lies over in one of its corners."""
        corner = self._corner(left)
        return sum(corner.intersects(QRect(one.mapTo(self._over, QPoint()), one.size())) for one in widgets)

    def _stays_below(self, button: QAbstractButton) -> bool:
        """Return whether a button of the page is on screen and in nothing that scrolls."""
        if not button.isVisibleTo(self._over):
            return False
        above = button.parentWidget()
        while above is not None and above is not self._page:
            if isinstance(above, QAbstractScrollArea) and above.verticalScrollBar().maximum() > 0:
                return False
            above = above.parentWidget()
        return True

    def _corner(self, left: bool) -> QRect:
        """Return its place in the lower right corner, or in the left one of the page."""
        edge, mine = self._look.px(EDGE), self.geometry()
        right = self._over.width() - edge - mine.width()
        begin = self._page.mapTo(self._over, QPoint()).x()
        return QRect(min(begin, right) if left else right, mine.y(), mine.width(), mine.height())

    def _place_somehow(self) -> bool:
        """Take the place with all of the card, else with its main lines; return False without room for either.

        In a larger window it has to be opened again to be whole.
        """
        if self._place():
            return True
        for card in self.stack.cards:
            card.shorten()
        self.stack.updateGeometry()
        return self._place()

    def _place(self) -> bool:
        """Lie in a lower corner, as high as the card; return False where the window is too small for it."""
        layout = self.layout()
        assert layout is not None
        edge = self._look.px(EDGE)
        width = min(self._look.px(WIDTH), self._over.width() - 2 * edge)
        layout.invalidate()
        layout.activate()
        # In total: with its own frame, which leaves less width for what is inside.
        height = max(layout.totalMinimumHeightForWidth(width), layout.totalHeightForWidth(width))
        self.resize(width, height)
        self.move(self._corner(self._at_left).x(), self._over.height() - edge - height)
        return height <= self._over.height() - 2 * edge

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize or (event.type() is QEvent.Type.LayoutRequest and watched is self._page):
            self._place_later()
        return super().eventFilter(watched, event)
