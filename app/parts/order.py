"""The order in which Tab goes: that of reading, left to right and downwards, and not that of making."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QScrollArea, QSplitter, QStackedWidget, QTabWidget, QWidget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def tab_in_reading_order(root: QWidget) -> None:
    """Let Tab go through everything inside `root` in the order of the layouts. Call it when all is in place."""
    for one, after in pairwise(_stops(root)):
        QWidget.setTabOrder(one, after)


def tab_in_before(parts: Sequence[QWidget], end: QWidget) -> None:
    """Let Tab go through `parts` in their order, and through what is in each as it is laid out, right before `end`."""
    before = end.previousInFocusChain()
    while before is not None and any(part is before or part.isAncestorOf(before) for part in parts):
        before = before.previousInFocusChain()
    if before is None:
        return
    for part in parts:
        for stop in _stops(part):
            QWidget.setTabOrder(before, stop)
            before = stop


def _stops(root: QWidget) -> list[QWidget]:
    return [widget for widget in _walk(root) if widget.focusPolicy() & Qt.FocusPolicy.TabFocus]


def _walk(widget: QWidget) -> Iterator[QWidget]:
    for part in _parts(widget):
        yield part
        yield from _walk(part)


def _parts(widget: QWidget) -> Iterator[QWidget]:
    match widget:
        case QTabWidget():
            yield widget.tabBar()
            yield from _pages(widget)
        case QSplitter() | QStackedWidget():
            yield from _pages(widget)
        case QScrollArea():
            if (inside := widget.widget()) is not None:
                yield inside
        case _:
            if (layout := widget.layout()) is not None:
                yield from _laid_out(layout)


def _pages(widget: QTabWidget | QSplitter | QStackedWidget) -> Iterator[QWidget]:
    for number in range(widget.count()):
        if (page := widget.widget(number)) is not None:
            yield page


def _laid_out(layout: QLayout) -> Iterator[QWidget]:
    for number in range(layout.count()):
        item = layout.itemAt(number)
        if item is None:
            continue
        if (part := item.widget()) is not None:
            yield part
        elif (inner := item.layout()) is not None:
            yield from _laid_out(inner)
