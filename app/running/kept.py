"""The sandboxes that agents keep: whose they are, how long they stay, and a way to remove one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.back import back_button
from app.parts.plain import plain_label, tip
from app.parts.text.lines import HEIGHT, SUMMARY, Summary, list_view
from app.undo.dialog import FilesDialog
from runner.model.events import SandboxesChanged
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.model.events import Event
    from runner.model.kept_sandbox import Kept

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_DOT = " \N{MIDDLE DOT} "
SHOWN_ROWS = 3
TICK_MS = 5_000


class KeptModel(QAbstractTableModel):
    """One column, oldest first."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._kept: tuple[Kept, ...] = ()

    def show_kept(self, kept: tuple[Kept, ...]) -> None:
        if [one.id for one in kept] != [one.id for one in self._kept]:
            self.beginResetModel()
            self._kept = kept
            self.endResetModel()
        else:
            self._kept = kept
            self.tick()

    def tick(self) -> None:
        """Update the times."""
        if self._kept:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._kept) - 1, 0))

    def kept(self, row: int) -> Kept | None:
        return self._kept[row] if 0 <= row < len(self._kept) else None

    def row_of(self, id: str) -> int:
        """Return the row of a sandbox; -1 where it is not there."""
        return next((row for row, one in enumerate(self._kept) if one.id == id), -1)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._kept)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        kept = self.kept(index.row())
        if kept is None:
            return None
        if role == SUMMARY:
            return summary(kept)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return summary(kept).spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(description(kept))
        return None


class KeptSandboxList(QWidget):
    """Hidden while there are none."""

    failed = Signal(str)
    """Why one could not be removed."""

    def __init__(self, cases: Cards, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._tasks = PageTasks("kept sandboxes", self)
        self.model = KeptModel(self)
        self.view = list_view(look, self.model, tr("Sandboxes that agents keep"))
        self.view.setFixedHeight(look.px(HEIGHT))
        self._look = look
        self.remove = QPushButton(tr("Remove\N{HORIZONTAL ELLIPSIS}"))
        self.remove.setAccessibleName(tr("Remove the chosen sandbox, asks first"))
        self.files = QPushButton(tr("Files and Undo\N{HORIZONTAL ELLIPSIS}"))
        self.files.setAccessibleName(tr("What runs changed in the chosen sandbox, and Undo"))
        self.sure = QPushButton(tr("Remove with its files"))
        self.sure.setProperty("kind", "danger")
        self.back = back_button()
        for button in (self.sure, self.back):
            button.hide()  # before they come into a layout, which would make room for all of them
        self._ticker = QTimer(self)
        self._ticker.setInterval(TICK_MS)
        self._lay_out()
        self.remove.clicked.connect(self._ask)
        self.files.clicked.connect(self._show_files)
        self.sure.clicked.connect(self._remove)
        self.back.clicked.connect(self._rest)
        self._ticker.timeout.connect(self.model.tick)
        self.view.selectionModel().currentChanged.connect(self._rest)
        cases.happened.connect(self._take)
        self._refresh()

    def _lay_out(self) -> None:
        px = self._look.px
        buttons = QHBoxLayout()
        buttons.setContentsMargins(px(12), 0, px(12), px(6))
        buttons.addStretch(1)
        for button in (self.files, self.back, self.remove, self.sure):
            buttons.addWidget(button)
        inset = QHBoxLayout()
        inset.setContentsMargins(px(12), 0, px(12), 0)
        inset.addWidget(plain_label(tr("Kept sandboxes"), "title"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(8), 0, 0)
        column.setSpacing(px(6))
        column.addLayout(inset)
        column.addWidget(self.view)
        column.addLayout(buttons)

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, SandboxesChanged) for event in events):
            self._refresh()

    def _refresh(self) -> None:
        before = self.model.kept(self.view.currentIndex().row())
        # That others come and go is no reason to take a question away.
        self.view.selectionModel().blockSignals(True)
        self.model.show_kept(self._cases.kept)
        rows = self.model.rowCount()
        if rows and not self.view.currentIndex().isValid():
            row = max(0, self.model.row_of(before.id)) if before else 0
            self.view.setCurrentIndex(self.model.index(row, 0))
        self.view.selectionModel().blockSignals(False)
        self.view.setFixedHeight(self._look.px(HEIGHT) * max(1, min(rows, SHOWN_ROWS)))
        self.setVisible(rows > 0)
        if rows:
            self._ticker.start()
        else:
            self._ticker.stop()
        if before is None or self.model.row_of(before.id) < 0:
            self._rest()

    @Slot()
    def _rest(self, *_: object) -> None:
        self._show(asking=False)

    @Slot()
    def _ask(self) -> None:
        self._show(asking=True)
        self.back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self, *, asking: bool) -> None:
        self.remove.setVisible(not asking)
        self.files.setVisible(not asking)
        self.sure.setVisible(asking)
        self.back.setVisible(asking)

    @Slot()
    def _show_files(self) -> None:
        if (kept := self.model.kept(self.view.currentIndex().row())) is not None:
            FilesDialog(self, self._cases, self._bridge, self._look, kept.id).open()

    @Slot()
    def _remove(self) -> None:
        if (kept := self.model.kept(self.view.currentIndex().row())) is not None:
            self._tasks.attempt("remove", self._bridge.runs.remove_sandbox(kept.id), self.failed.emit)
        self._rest()


def summary(kept: Kept) -> Summary:
    """Return one sandbox in a row."""
    title = phrases.visible(kept.title) or tr("Sandbox {id}", id=kept.id)
    below = _DOT.join((phrases.visible(kept.agent), phrases.language(kept.language), phrases.clock(kept.made_at)))
    return Summary(title, below, tr("{ends_at} left", ends_at=phrases.span(max(0, kept.ends_at - time.time()))))


def description(kept: Kept) -> str:
    """Return a sandbox in words: its kind, its use, and when it is removed."""
    used = plural("used {count} time", "used {count} times", kept.uses) if kept.uses else tr("not used yet")
    left = phrases.span(max(0, kept.ends_at - time.time()))
    back = (
        tr(" Its files were put back to before run {put_back_to}.", put_back_to=kept.put_back_to)
        if kept.put_back_to
        else ""
    )
    return tr(
        "{id}, {isolation}, {used}.{back} It is removed in {left} unless it is used.",
        id=kept.id,
        isolation=phrases.isolation(kept.isolation),
        used=used,
        back=back,
        left=left,
    )
