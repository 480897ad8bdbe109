"""The icon in the system tray, and notices while the window is not in front. Neither can decide anything."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from app.parts.amounts import counted
from runner.events import QuestionAsked

if TYPE_CHECKING:
    from app.cases import Card, Cases
    from app.look import Look
    from app.window import Window
    from runner.events import Event

NOTICE_MS = 8000
QUIET_SECONDS = 3.0
"""Between two notices: a burst of requests is one of them."""
NO_TRAY = "There is no system tray here, so notices appear only in this window and in the task bar."


class Tray(QObject):
    """A click on icon or notice brings the queue to the front, and that is all it does."""

    def __init__(self, cases: Cases, look: Look, window: Window, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._look = look
        self._window = window
        self._told_at = float("-inf")
        self._count = -1
        self._icon: QSystemTrayIcon | None = None
        self._menu = QMenu()
        self._half = QTimer(self)
        self._half.setSingleShot(True)
        self._half.timeout.connect(self._remind)
        if QSystemTrayIcon.isSystemTrayAvailable():
            self._icon = self._make_icon()
        else:
            window.toolbar.say(NO_TRAY)
        cases.happened.connect(self._take)
        look.changed.connect(self._repaint)
        self._show_count()

    # ---- notices ----

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        asked = [event for event in events if isinstance(event, QuestionAsked)]
        if asked and not self._window.isActiveWindow():
            self._tell(self._cases.card(asked[-1].request_id))
        self._show_count()

    def _tell(self, card: Card | None) -> None:
        """No text by the agent: a notice may be shown by something that takes markup (spec K4)."""
        if card is None or not card.waiting:
            return
        QApplication.alert(self._window.frame, 0)
        self._half.start(max(1, round(card.window * 500)))
        if self._icon is None or time.monotonic() - self._told_at < QUIET_SECONDS:
            return
        self._told_at = time.monotonic()
        level = card.level.name if card.level else "A"
        others = self._cases.count_waiting() - 1
        more = f" {counted(others, 'other')} waiting." if others else ""
        what = f"{card.request.agent} asks to run code.{more} Click to review."
        self._icon.showMessage(f"{level} request", what, self._icon.icon(), NOTICE_MS)

    @Slot()
    def _remind(self) -> None:
        """Half of the window has passed and nobody has come."""
        card = self._cases.most_urgent()
        if card is not None and not self._window.isActiveWindow():
            self._told_at = float("-inf")
            self._tell(card)

    # ---- the icon ----

    @Slot()
    def _show_count(self) -> None:
        count = self._cases.count_waiting()
        if self._icon is not None and count != self._count:
            self._count = count
            self._icon.setIcon(self._picture(count))
            self._icon.setToolTip(f"Assent, Guarded: {count} waiting" if count else "Assent, Guarded")

    @Slot()
    def _repaint(self) -> None:
        self._count = -1
        self._show_count()

    def _picture(self, count: int) -> QIcon:
        picture = QPixmap(64, 64)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.drawPixmap(picture.rect(), self._look.pixmap("shield-check", "accent", 64))
        if count:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._look.tokens.high))
            room = QRectF(24, 24, 40, 40)
            painter.drawEllipse(room)
            font = self._look.font(0, bold=True)
            font.setPixelSize(26)
            painter.setFont(font)
            painter.setPen(QColor(self._look.tokens.on_accent))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, str(count) if count < 100 else "99")
        painter.end()
        return QIcon(picture)

    def _make_icon(self) -> QSystemTrayIcon:
        icon = QSystemTrayIcon(self)
        self._menu.addAction("Open Assent", self._window.review)
        self._menu.addAction("Quit", self._window.frame.close_wanted.emit)
        icon.setContextMenu(self._menu)
        icon.setIcon(self._picture(0))
        icon.activated.connect(self._clicked)
        icon.messageClicked.connect(self._window.review)
        icon.show()
        return icon

    @Slot(QSystemTrayIcon.ActivationReason)
    def _clicked(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is not QSystemTrayIcon.ActivationReason.Context:
            self._window.review()
