"""The icon in the system tray: how many wait, and the mode. It cannot decide anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from runner.approval.modes import Mode

if TYPE_CHECKING:
    from app.cards import Cards
    from app.chrome.window import Window
    from app.look.look import Look

NOTICE_MS = 8000
NO_TRAY = "No system tray here: notices appear on the desktop and in this window."


_PICTURES = {
    Mode.GUARDED: ("shield-check", "accent"),
    Mode.LOCKDOWN: ("lock", "high"),
    Mode.TRUST: ("shield-alert", "medium"),
}
"""The icon of a mode, and its color: not the color alone."""


class Tray(QObject):
    """A click brings the queue to the front; what its menu can do asks in the window first."""

    def __init__(self, cases: Cards, look: Look, window: Window, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._look = look
        self._window = window
        self._shown: tuple[int, str] = (-1, "")
        self._icon: QSystemTrayIcon | None = None
        self._menu = QMenu()
        if QSystemTrayIcon.isSystemTrayAvailable():
            self._icon = self._make_icon()
        else:
            window.toolbar.say(NO_TRAY)
        cases.happened.connect(self._show_count)
        look.changed.connect(self._repaint)
        self._show_count()

    @Slot(str, str)
    def say(self, title: str, text: str) -> None:
        """Show a notice by the tray, where the desktop has no other way."""
        if self._icon is not None:
            self._icon.showMessage(title, text, self._icon.icon(), NOTICE_MS)

    # ---- the icon ----

    @Slot()
    def _show_count(self) -> None:
        count, mode = self._cases.count_waiting(), self._cases.mode.mode
        if self._icon is not None and (count, mode) != self._shown:
            self._shown = (count, mode)
            self._icon.setIcon(self._picture(count, Mode(mode)))
            self._icon.setToolTip(self.words())

    def words(self) -> str:
        """Return the tool tip: mode and number."""
        mode = Mode(self._cases.mode.mode).value.capitalize()
        count = self._cases.count_waiting()
        return f"Assent, {mode}: {count} waiting" if count else f"Assent, {mode}"

    @Slot()
    def _repaint(self) -> None:
        self._shown = (-1, "")
        self._show_count()

    def _picture(self, count: int, mode: Mode) -> QIcon:
        picture = QPixmap(64, 64)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.drawPixmap(picture.rect(), self._look.pixmap(*_PICTURES[mode], 64))
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
        self._menu.addAction("Stop all\N{HORIZONTAL ELLIPSIS}", self._window.stop_all_in_front)
        self._menu.addAction("Lockdown\N{HORIZONTAL ELLIPSIS}", self._window.lock_in_front)
        self._menu.addAction("Quit", self._window.frame.close_wanted.emit)
        icon.setContextMenu(self._menu)
        icon.setIcon(self._picture(0, Mode.GUARDED))
        icon.activated.connect(self._clicked)
        icon.messageClicked.connect(self._window.review)
        icon.show()
        return icon

    @Slot(QSystemTrayIcon.ActivationReason)
    def _clicked(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is not QSystemTrayIcon.ActivationReason.Context:
            self._window.review()
