"""The list of sections beside the form of the settings: one click, or one key, from the first to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QScrollArea, QWidget

from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.look.look import Look

WIDTH = 176


class SectionList(QListWidget):
    """Follows the form as it is scrolled; going through it scrolls the form."""

    def __init__(self, look: Look, scroll: QScrollArea, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scroll = scroll
        self._frames: list[QWidget] = []
        self.setAccessibleName(tr("Sections of the settings"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("sections", True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedWidth(look.px(WIDTH))
        self.currentRowChanged.connect(self._go)
        # A click on the current one goes there again.
        self.itemClicked.connect(lambda item: self._go(self.row(item)))
        scroll.verticalScrollBar().valueChanged.connect(self.follow)

    def show_sections(self, sections: Iterable[tuple[str, QWidget]]) -> None:
        """Show these, names and what they stand for in the form, in this order."""
        self.blockSignals(True)
        self.clear()
        self._frames.clear()
        for name, frame in sections:
            item = QListWidgetItem(name)
            item.setToolTip(name)
            self.addItem(item)
            self._frames.append(frame)
        self.setCurrentRow(0)
        self.blockSignals(False)

    @Slot()
    def follow(self) -> None:
        """Mark the section that is read, and leave out those that are not shown."""
        shown = [number for number, frame in enumerate(self._frames) if frame.isVisibleTo(self._scroll)]
        for number in range(self.count()):
            self.setRowHidden(number, number not in shown)
        bar = self._scroll.verticalScrollBar()
        if not bar.maximum() and self.currentRow() in shown:
            return  # all of it is in view, or nothing has a place yet
        line = reading_line(bar.value(), bar.maximum(), self._scroll.viewport().height())
        reached = [number for number in shown if self._frames[number].y() <= line]
        if shown:
            self._mark(reached[-1] if reached else shown[0])

    def reach(self, widget: QWidget) -> None:
        """Mark the section that `widget`, which was just brought into view, is in."""
        self._mark(next((number for number, frame in enumerate(self._frames) if frame.isAncestorOf(widget)), -1))

    def _mark(self, number: int) -> None:
        self.blockSignals(True)
        self.setCurrentRow(number)
        self.blockSignals(False)
        self.viewport().update()

    @Slot(int)
    def _go(self, number: int) -> None:
        if 0 <= number < len(self._frames):
            self._scroll.verticalScrollBar().setValue(self._frames[number].y())
            # Where the form ends it stands too far down to reach the top.
            self._mark(number)


def reading_line(value: int, maximum: int, height: int) -> int:
    """Return how far down the form, of which `height` is in view from `value` on, somebody reads.

    That is a third below the upper edge; at the beginning the edge itself and at the end the lower one, so that every
    section is reached. Where there is nothing to scroll it is the edge.
    """
    above, last = min(value, height // 3), min(height, maximum)
    return value + above + (max(0, last - (maximum - value)) * (height - above) // last if last > 0 else 0)
