"""Opens every combo box and every menu of a window, draws each over it, and says what is wrong with it.

`make gallery` draws them into build/gallery as `opened-...`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QContextMenuEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from app.look.look import Look, Theme
from app.parts.text.code import CodeView
from runner.system.places import Places
from tests.gui.scenes.shots import Scene, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from PySide6.QtGui import QPixmap

SIZE = (1280, 800)
MOST_ROWS = 4
"""Rows of a list whose menu is asked for: the first may be a heading."""


class Opener(NamedTuple):
    """Something that opens a list or a menu."""

    name: str
    owner: QWidget
    open: Callable[[], object]


class Opened(NamedTuple):
    """What was opened: a picture of the window with it, and what is wrong with it."""

    name: str
    picture: QPixmap
    faults: tuple[str, ...]


def opened(scene: Scene) -> Iterator[Opened]:
    """Open one after the other all that the window of `scene`, and the dialogs over it, can open now."""
    top = scene.window.frame
    for one in [*openers(top), Opener("Modes", scene.window.toolbar.mode, scene.window.toolbar.mode.click)]:
        yield from _opened(one, top, inner=True)


def openers(top: QWidget) -> Iterator[Opener]:
    """Yield every visible combo box, every button with a menu, and every list and code with a menu of its own."""
    for box in top.findChildren(QComboBox):
        if _in_use(box) and box.count():
            yield Opener(_name(box), box, box.showPopup)
    buttons: list[QToolButton | QPushButton] = [*top.findChildren(QToolButton), *top.findChildren(QPushButton)]
    for button in buttons:
        if _in_use(button) and (menu := button.menu()) is not None:
            below = button.mapToGlobal(button.rect().bottomLeft())
            yield Opener(_name(button), button, partial(menu.popup, below))
    for view in top.findChildren(QAbstractItemView):
        model = view.model()
        own = view.contextMenuPolicy() is Qt.ContextMenuPolicy.CustomContextMenu
        if own and _in_use(view) and model is not None:
            for row in range(min(MOST_ROWS, model.rowCount())):
                at = view.visualRect(model.index(row, 0)).center()
                yield Opener(f"{_name(view)} menu", view, partial(view.customContextMenuRequested.emit, at))
    for code in top.findChildren(CodeView):
        if _in_use(code) and code.listing.lines:
            yield Opener(f"{_name(code)} menu", code, partial(_ask_for_menu, code))


def _opened(one: Opener, top: QWidget, *, inner: bool) -> Iterator[Opened]:
    one.open()
    popup = QApplication.activePopupWidget()
    if popup is None:
        return  # this row, or this place, has none
    settle(0.05)
    faults = tuple(_faults(one.owner, popup))
    yield Opened(one.name, _picture(top, popup), faults)
    if inner and not isinstance(popup, QMenu) and not isinstance(one.owner, QComboBox):
        for box in popup.findChildren(QComboBox):
            if _in_use(box):
                yield from _opened(Opener(f"{one.name}, {_name(box)}", box, box.showPopup), top, inner=False)
    while (still := QApplication.activePopupWidget()) is not None:
        still.close()
    settle(0.02)


def _faults(owner: QWidget, popup: QWidget) -> Iterator[str]:
    if popup.layoutDirection() is not Qt.LayoutDirection.LeftToRight:
        yield "it is mirrored"
    if isinstance(owner, QComboBox):
        yield from _faults_of_list(owner)
    elif isinstance(popup, QMenu):
        yield from _faults_of_menu(popup)
    elif popup.sizeHint().height() > popup.height() or popup.minimumSizeHint().width() > popup.width():
        yield f"it has {popup.size().toTuple()}, and needs {popup.sizeHint().toTuple()}"


def _faults_of_list(box: QComboBox) -> Iterator[str]:
    view, model = box.view(), box.model()
    room = view.viewport().rect()
    shown = min(box.count(), box.maxVisibleItems())
    rows = [view.visualRect(model.index(row, box.modelColumn(), box.rootModelIndex())) for row in range(box.count())]
    whole = sum(room.contains(QRect(room.left(), row.top(), 1, row.height())) for row in rows)
    if whole < shown:
        yield f"{whole} of {shown} rows are whole"
    if view.verticalScrollBar().isVisible() and box.count() <= box.maxVisibleItems():
        yield "it has a scroll bar that it does not need"
    for row in range(box.count()):
        words, room_for_words = box.itemText(row), rows[row].width() - 16
        shortened = box.itemData(row, Qt.ItemDataRole.ToolTipRole)
        if view.fontMetrics().horizontalAdvance(words) > room_for_words and not shortened:
            yield f"{words!r} is cut off"


def _faults_of_menu(menu: QMenu) -> Iterator[str]:
    actions = [one for one in menu.actions() if one.isVisible()]
    if not any(one.text() for one in actions):
        yield "it is empty"
    for action in actions:
        place = menu.actionGeometry(action)
        if not menu.rect().contains(place) and not menu.property("scrollable"):
            yield f"{action.text()!r} stands outside"
        words = action.text().replace("&&", "&").partition("\t")[0]
        if menu.fontMetrics().horizontalAdvance(words) > place.width():
            yield f"{words!r} is cut off"


def _in_use(widget: QWidget) -> bool:
    return widget.isVisible() and widget.isEnabled() and not widget.visibleRegion().isEmpty()


def _name(widget: QWidget) -> str:
    words = widget.accessibleName() or widget.property("text") or widget.objectName() or type(widget).__name__
    return str(words)


def _ask_for_menu(code: CodeView) -> None:
    at = QPoint(code.viewport().width() // 3, 8)
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(code.viewport(), QContextMenuEvent(reason, at, code.viewport().mapToGlobal(at)))


def _picture(top: QWidget, popup: QWidget) -> QPixmap:
    """Return the window with the dialog over it and what was opened, where it stands."""
    picture = top.grab()
    painter = QPainter(picture)
    origin = top.mapToGlobal(QPoint())
    for dialog in top.findChildren(QDialog):
        if dialog.isVisible():
            painter.drawPixmap(dialog.mapToGlobal(QPoint()) - origin, dialog.grab())
    painter.drawPixmap(popup.mapToGlobal(QPoint()) - origin, popup.grab())
    painter.end()
    return picture


def draw(
    app: QApplication, only: str, out: Path, scenes: Mapping[str, Callable[[Scene], object]], scale: float = 1.0
) -> list[str]:
    """Draw all that every scene opens, each once, light and dark, as files in `out`; return what is wrong."""
    out.mkdir(parents=True, exist_ok=True)
    look = Look(app, scale=scale)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as home:
        places = Places.under(Path(home))
        places.make()
        for theme in (Theme.LIGHT, Theme.DARK):
            look.choose(theme)
            seen: set[str] = set()
            for name, play in scenes.items():
                scene = played(look, places, play)
                for one in opened(scene):
                    what = re.sub(r"[^a-z0-9]+", "-", f"opened-{name}-{one.name}".lower())[:120]
                    if one.name in seen or only not in what:
                        continue
                    seen.add(one.name)
                    large = "-large" if scale > 1 else ""
                    one.picture.save(str(out / f"{what}{large}-{theme}-{SIZE[0]}.png"))
                    wrong += [f"{what} ({theme}): {fault}" for fault in one.faults]
                close(scene)
    return wrong


def played(look: Look, places: Places, play: Callable[[Scene], object]) -> Scene:
    """Return a scene on screen."""
    scene = Scene(look, places)
    scene.window.frame.resize(*SIZE)
    scene.window.frame.show()
    settle(0.05)
    play(scene)
    settle(0.5)
    return scene


def close(scene: Scene) -> None:
    """Take a scene off the screen."""
    for widget in scene.over:
        widget.close()
    scene.window.frame._may_close = True
    scene.window.frame.close()
    scene.window.frame.deleteLater()


def say(wrong: list[str]) -> None:
    """Write what is wrong to the standard error stream."""
    for one in wrong:
        sys.stderr.write(f"{one}\n")
