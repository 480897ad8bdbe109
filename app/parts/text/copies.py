"""A menu on the rows of a list, with what can be copied of a row. Copying decides nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu

from app.parts.text.to_clipboard import to_clipboard
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QAbstractItemView


def offer_copies(view: QAbstractItemView, texts: Callable[[int], list[tuple[str, str]]]) -> None:
    """Give `view` a menu; `texts(row)` returns name and text of what can be copied, '' for what is not there."""

    def show(at: QPoint) -> None:
        if (menu := copies_menu(view, texts(view.indexAt(at).row()))) is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(view.viewport().mapToGlobal(at))

    view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    view.customContextMenuRequested.connect(show)


def copies_menu(view: QAbstractItemView, texts: list[tuple[str, str]]) -> QMenu | None:
    """Return the menu for what can be copied; None where nothing can be."""
    there = [(name, text) for name, text in texts if text]
    if not there:
        return None
    menu = QMenu(view)
    for name, text in there:
        menu.addAction(tr("Copy {name}", name=name), partial(to_clipboard, text))
    return menu
