"""Accessible roles of widgets that paint themselves, and news that screen readers speak at once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAccessibleWidget, QWidget

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
    role = getattr(target, "accessible_role", None)
    if isinstance(role, Role) and isinstance(target, QWidget):
        return QAccessibleWidget(target, role)
    return None


def announce(widget: QWidget, words: str) -> None:
    """Have `words` spoken when the screen reader has finished what it says now. Without one, nothing happens."""
    # Polite is what Qt sends by default.
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, words))
