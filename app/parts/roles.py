"""Accessible roles of widgets that paint themselves, and news that screen readers speak at once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAccessibleWidget, QStackedWidget, QWidget

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtGui import QAccessibleInterface

Role = QAccessible.Role


@cache
def install() -> None:
    """Make widgets whose class has `accessible_role` known under that role. Once is enough."""
    QAccessible.installFactory(_interface)


def _interface(_class_name: str, target: QObject) -> QAccessibleInterface | None:
    """Return the accessible interface of an object. Qt asks for every object and keeps the answer while it lives."""
    # Of a stack, Orca says "layered pane" whenever the focus comes into it: it is nothing that a person meets.
    role = Role.Client if isinstance(target, QStackedWidget) else getattr(target, "accessible_role", None)
    if isinstance(role, Role) and isinstance(target, QWidget):
        return QAccessibleWidget(target, role)
    return None


class SpokenNews(QWidget):
    """The news of a window, in a place of one pixel: a screen reader speaks a notification that comes on screen.

    Qt has an event for this, which Orca understands since version 45 alone.
    """

    accessible_role = Role.Notification

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setFixedSize(1, 1)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, words: str) -> None:
        """Speak `words`, also where they are the same as before."""
        self.hide()
        self.setAccessibleName(words)
        self.show()


def announce(widget: QWidget, words: str) -> None:
    """Have `words` spoken when the screen reader has finished what it says now. Without one, nothing happens."""
    if not QAccessible.isActive():
        return
    window = widget.window()
    found = window.findChild(SpokenNews, options=Qt.FindChildOption.FindDirectChildrenOnly)
    (found or SpokenNews(window)).say(words)
