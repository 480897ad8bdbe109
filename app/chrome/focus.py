"""Shows where the keyboard is: a ring around lists, texts and columns, which by themselves would show nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QApplication, QPlainTextEdit, QWidget
from shiboken6 import isValid

from app.parts.empty import EmptyState
from app.parts.row_background import RowDelegate
from app.parts.text.code import CodeView
from app.parts.text.pane import OutputPane
from app.review.changes import ChangesView

if TYPE_CHECKING:
    from app.look.look import Look

_OWN = (CodeView, OutputPane, QPlainTextEdit)
"""Scroll areas that show it themselves. Buttons and fields have a border for it in the style sheet."""


class Focus(QObject):
    """Follows the focus through the window and its dialogs."""

    def __init__(self, look: Look, window: QWidget) -> None:
        super().__init__(window)
        self._look = look
        self._ring: _Ring | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._moved)

    @Slot(QWidget, QWidget)
    def _moved(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self._ring is not None and isValid(self._ring):
            self._ring.hide()
            self._ring.deleteLater()
        self._ring = None
        alone = isinstance(now, _OWN) and not isinstance(now, ChangesView)
        if isinstance(now, (QAbstractScrollArea, EmptyState)) and not alone and _is_wanted(now):
            self._ring = _Ring(self._look, now)
        elif isinstance(now, QAbstractItemView) and _shows_it_on_its_row(now) and not _by_mouse():
            now.scrollTo(now.currentIndex())


def _is_wanted(now: QWidget) -> bool:
    """Return whether a ring says anything: not after a click, and not where the window put the focus by itself.

    In lists that show it the row that has the keyboard says so; in an open combo box that is all there is.
    """
    in_popup = now.window().windowType() is Qt.WindowType.Popup
    if in_popup or (isinstance(now, QAbstractItemView) and _shows_it_on_its_row(now)):
        return False
    return not _by_mouse() and (not isinstance(now, (ChangesView, EmptyState)) or now.by_keyboard)


def _shows_it_on_its_row(view: QAbstractItemView) -> bool:
    return isinstance(view.itemDelegate(), RowDelegate) and view.currentIndex().isValid()


def _by_mouse() -> bool:
    return QApplication.mouseButtons() != Qt.MouseButton.NoButton


class _Ring(QWidget):
    """Lies over `target`, of its size, and lets the mouse through."""

    def __init__(self, look: Look, target: QWidget) -> None:
        super().__init__(target)
        self._look = look
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._place(target)
        target.installEventFilter(self)
        look.changed.connect(self.update)
        self.raise_()
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and isinstance(watched, QWidget):
            self._place(watched)
        return False

    def _place(self, target: QWidget) -> None:
        room = target.rect()
        if isinstance(target, EmptyState):
            # Around its words: around all of a page with nothing on it, a ring says nothing.
            edge = self._look.px(16)
            room = target.words().adjusted(-edge, -edge, edge, edge).intersected(room)
        self.setGeometry(room)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._look.tokens.accent), 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        painter.end()
