"""The bar at the foot of the queue, for several requests at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.parts.plain import plain_label
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from app.look.look import Look


class BatchBar(QWidget):
    """Three lines at most: the group of the chosen request, what is selected, and what was missed. Hidden for none."""

    open_group = Signal()
    mark_group = Signal()
    approve = Signal()
    clear = Signal()
    dismiss = Signal()
    """All that was missed is to be dropped from the list."""
    left = Signal()
    """What had the keyboard has gone: it belongs to the list now."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = look.px
        self._alike = plain_label(role="muted")
        self.list = self._button("", tr("List the requests that are alike one by one"), self.open_group)
        self.mark = self._button(tr("Select all"), tr("Select every request that is alike (X)"), self.mark_group)
        self._marked = plain_label(role="strong")
        self.batch = self._button(
            tr("Answer\N{HORIZONTAL ELLIPSIS}"), tr("See exactly what would be answered"), self.approve
        )
        self.batch.setProperty("kind", "")
        self.none = self._button(tr("Clear"), tr("Select nothing"), self.clear)
        self._group = self._row(look, self._alike, self.list, self.mark)
        self._selection = self._row(look, self._marked, self.none, self.batch)
        self._missed = plain_label(role="muted")
        what = tr("Drop from this list what was missed; the history has all of it")
        self.dismiss_all = self._button(tr("Dismiss all"), what, self.dismiss)
        self._over = self._row(look, self._missed, self.dismiss_all)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(12), px(6), px(10), px(4))
        column.setSpacing(px(6))
        column.addWidget(self._group)
        column.addWidget(self._selection)
        column.addWidget(self._over)
        self.show_state(0, False, 0)

    def show_state(self, alike: int, opened: bool, marked: int, missed: int = 0) -> None:
        """Show the counts: `alike` of the chosen request's group, `marked` selected, `missed` over.

        One that was missed has its own button beside it, so the line is for more of them.
        """
        had = (focus := self.window().focusWidget()) is not None and self.isAncestorOf(focus)
        self._alike.setText(tr("{alike} alike", alike=alike))
        self.list.setText(tr("Group") if opened else tr("List"))
        self._marked.setText(tr("{marked} selected", marked=marked))
        self.batch.setAccessibleName(
            plural(
                "Answer {count} selected request, asks first", "Answer {count} selected requests, asks first", marked
            )
        )
        self._group.setVisible(alike > 1)
        self._selection.setVisible(marked > 0)
        self._missed.setText(tr("{missed} missed", missed=missed))
        self._over.setVisible(missed > 1)
        self.setVisible(alike > 1 or marked > 0 or missed > 1)
        if had and focus is not None and not focus.isVisible():
            self.left.emit()

    def _button(self, words: str, what: str, wanted: object) -> QPushButton:
        button = QPushButton(words)
        button.setProperty("kind", "quiet")
        button.setToolTip(what)
        button.setAutoDefault(False)
        button.clicked.connect(wanted)
        return button

    def _row(self, look: Look, *widgets: QWidget) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(4))
        row.addWidget(widgets[0], 1)
        for widget in widgets[1:]:
            row.addWidget(widget)
        return page
