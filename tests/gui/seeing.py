"""Scrolls as a person does who has to see the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QAbstractScrollArea
    from pytestqt.qtbot import QtBot


def to_the_end(qtbot: QtBot, area: QAbstractScrollArea, then: Callable[[], object]) -> None:
    """Scroll to the end until `then()` holds: it moves while lines are still laid out."""
    bar = area.verticalScrollBar()

    def there() -> bool:
        bar.setValue(bar.maximum())
        return bool(then())

    qtbot.waitUntil(there)
