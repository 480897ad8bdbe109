"""The compact prompt: cards in a corner of the screen, above all other windows, while Assent is not in front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCursor, QGuiApplication, QRegion
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.prompt.stack import MOST, PromptStack
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards

WIDTH = 440
EDGE = 20
"""Pixels between the cards and the edges of the screen."""
ROUND = 8
MASKED = frozenset({"xcb", "wayland"})
"""Platforms of Qt that can cut a window to a shape."""


class PromptWindow(QWidget):
    """It never takes the focus: no key reaches it, and what a person types stays where it was typed.

    It comes where the pointer is not, and it stays in that corner until it is empty.
    """

    review = Signal(str)
    """A request is wanted in the window."""

    def __init__(
        self,
        cases: Cards,
        bridge: EngineLink,
        look: Look,
        wanted: Callable[[], bool],
        in_front: Callable[[], bool] | None = None,
    ) -> None:
        """`wanted` tells whether the prompt may be shown now: the setting, and that nobody wants quiet.

        `in_front` tells whether Assent has the focus, so that no prompt is needed.
        """
        kind = Qt.WindowType
        flags = kind.Tool | kind.FramelessWindowHint | kind.WindowStaysOnTopHint | kind.WindowDoesNotAcceptFocus
        super().__init__(None, flags)
        self._cases = cases
        self._look = look
        self._wanted = wanted
        self._in_front = in_front or has_focus
        self._at_top = False
        self.setWindowTitle(tr("A request waits"))
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_X11NetWmWindowTypeNotification)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.stack = PromptStack(cases, bridge, look, self._may_count, self)
        self.stack.review.connect(self.review)
        self.stack.resized.connect(self._fit_later)
        self.stack.rest.watch(self)
        self.stack.rest.looked.connect(self._shape)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.stack)
        self.setFixedWidth(look.px(WIDTH))
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._fit)
        cases.happened.connect(self.refresh)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        # Queued: only then it is known which of our windows is the active one.
        app.focusWindowChanged.connect(self.refresh, Qt.ConnectionType.QueuedConnection)

    @Slot()
    def refresh(self, *_: object) -> None:
        """Come where something waits and Assent is not in front; go where not."""
        wanted = not self._in_front() and self._wanted() and self._cases.count_waiting() > 0
        if wanted and not self.isVisible():
            self.stack.bound(MOST)
            self.stack.live(True)
            self._choose_corner()
            self._fit()
            self.show()
        elif not wanted and self.isVisible():
            self.hide()

    def _may_count(self) -> bool:
        """Return whether a click counts: all of the cards is on the screen."""
        return self.isVisible() and self._room().contains(self.geometry())

    # ---- where it is ----

    def _room(self) -> QRect:
        return self.screen().availableGeometry()

    def _choose_corner(self) -> None:
        """Take the lower right corner of the screen with the pointer, or the upper one where the pointer is below."""
        pointer = QCursor.pos()  # asked for once: each time is a trip to the X server
        screen = QGuiApplication.screenAt(pointer) or QGuiApplication.primaryScreen()
        if self.screen() is not screen:
            self.setScreen(screen)
        room = screen.availableGeometry()
        self._at_top = pointer.y() > room.center().y() and pointer.x() > room.center().x()

    @Slot()
    def _fit_later(self) -> None:
        self._later.start()

    @Slot()
    def _fit(self) -> None:
        """Make it as high as the cards, and put it into its corner; cards for which there is no room go."""
        room, edge = self._room(), self._look.px(EDGE)
        while (height := self._height()) > room.height() - 2 * edge and len(self.stack.cards) > 1:
            self.stack.bound(len(self.stack.cards) - 1)
        top = room.top() + edge if self._at_top else room.bottom() + 1 - edge - height
        left = room.right() + 1 - edge - self.width()
        self._later.stop()
        self.setFixedHeight(height)
        self.move(QPoint(left, max(room.top(), top)))
        # What is not on the screen yet is laid out only as it comes there: the shape would be of cards without a size.
        for widget in (self, self.stack):
            layout = widget.layout()
            assert layout is not None
            layout.invalidate()
            layout.activate()
        self._shape()

    def _height(self) -> int:
        """Return the height of the cards at this width."""
        layout = self.stack.layout()
        assert layout is not None
        layout.invalidate()
        layout.activate()
        height = layout.totalHeightForWidth(self.width()) if layout.hasHeightForWidth() else -1
        return max(height, layout.totalMinimumSize().height()) if height < 0 else height

    @Slot()
    def _shape(self) -> None:
        """Cut out what is between the cards: not every desktop can show a window that is transparent in parts."""
        region = QRegion()
        radius = self._look.px(ROUND)
        widgets = [*self.stack.cards, *([self.stack.more] if self.stack.more.isVisibleTo(self) else [])]
        for widget in widgets:
            region += rounded(QRect(widget.mapTo(self, QPoint()), widget.size()), radius)
        if not region.isEmpty() and QGuiApplication.platformName() in MASKED:
            self.setMask(region)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.stack.rest.rearm()
        self._later.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.stack.live(False)


def has_focus() -> bool:
    """Return whether a window of Assent has the focus, a dialog included."""
    return QApplication.activeWindow() is not None


def rounded(room: QRect, radius: int) -> QRegion:
    """Return `room` with round corners."""
    if min(room.width(), room.height()) < 2 * radius:
        return QRegion(room)
    across = QRegion(room.adjusted(0, radius, 0, -radius))
    down = QRegion(room.adjusted(radius, 0, -radius, 0))
    side = 2 * radius
    ellipse = QRegion.RegionType.Ellipse
    corners = (
        QRect(room.left(), room.top(), side, side),
        QRect(room.right() + 1 - side, room.top(), side, side),
        QRect(room.left(), room.bottom() + 1 - side, side, side),
        QRect(room.right() + 1 - side, room.bottom() + 1 - side, side, side),
    )
    for corner in corners:
        across += QRegion(corner, ellipse)
    return across + down
