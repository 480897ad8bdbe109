"""The changed files of a sandbox: a list, and the chosen file before and after."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.link.background import Errands
from app.link.page_tasks import PageTasks
from app.parts.amounts import size
from app.parts.empty import EmptyState
from app.parts.fold import Folding
from app.parts.plain import plain_label
from app.parts.summaries import SummaryModel
from app.parts.text.differences import MOST_TEXT, DifferenceView
from app.parts.text.lines import list_view
from app.undo import words
from runner.model.difference import DiffLine, Side, difference
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from app.look.look import Look
    from runner.model.file_changes import FileChanges, FilePreview

    Read = Callable[[int], Awaitable[FilePreview]]

CHOOSE = (tr("Nothing chosen"), tr("Choose a file to see how it changed."))
NO_TEXT = tr("Not shown")
GONE = tr("Contents are shown while the sandbox is kept: Running, Kept sandboxes, Files and Undo.")


class ChangedFilesView(QWidget):
    """Names and contents are shown letter by letter; texts are compared on a thread of its own."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._read: Read | None = None
        self._chosen = -1
        self._serial = 0
        self._tasks = PageTasks("changed files", self)
        self.errands = Errands("changed files", self)
        self.model = SummaryModel(self)
        self.view = list_view(look, self.model, tr("Changed files"))
        self.summary = plain_label(role="muted", wrap=True)
        self.text = DifferenceView(look, tr("What changed in the file"))
        self.nothing = EmptyState(look, "file-code", *CHOOSE)
        self._lay_out()
        self.view.selectionModel().currentChanged.connect(self._moved)

    def show_changes(self, changes: FileChanges | None, read: Read | None = None, *, undoing: bool = False) -> None:
        """Show changes; `read` gives a file of them by its place and raises KnownError, None where nothing does."""
        self._serial += 1
        self._chosen = -1
        self._read = read
        named = changes.changes if changes is not None else ()
        self.summary.setText("" if changes is None or undoing else words.sentence(changes))
        self.summary.setVisible(bool(self.summary.text()))
        self.model.replace(tuple(words.row(one, undoing=undoing) for one in named))
        self._split.setVisible(bool(named))
        self._aside.setVisible(not undoing)
        self.nothing.say(*CHOOSE)
        self._stack.setCurrentWidget(self.nothing)
        if named:
            self.view.setCurrentIndex(self.model.index(0, 0))

    @property
    def shown(self) -> QWidget | None:
        """What stands beside the list: the difference, or words in its place."""
        return self._stack.currentWidget()

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.row() in (-1, self._chosen) or not self._aside.isVisibleTo(self):
            return
        self._chosen = current.row()
        self._serial += 1
        # What is on screen is another file's content: it goes before the new one has been read.
        self.nothing.say(NO_TEXT, tr("Reading\N{HORIZONTAL ELLIPSIS}") if self._read is not None else GONE)
        self._stack.setCurrentWidget(self.nothing)
        if self._read is not None:
            self._tasks.start("read", self._show(self._read(self._chosen), self._serial))

    async def _show(self, reading: Awaitable[FilePreview], serial: int) -> None:
        try:
            found = await reading
        except KnownError as error:
            if serial == self._serial:
                self.nothing.say(NO_TEXT, str(error))
            return
        if serial != self._serial:
            return
        old, new = _text(found.before), _text(found.after)
        if old is None or new is None:
            sizes = tr(" and ").join(size(len(one)) for one in (found.before, found.after) if one is not None)
            self.nothing.say(
                NO_TEXT, tr("This is not text ({sizes}{rest}).", sizes=sizes, rest=tr(" and more") if found.cut else "")
            )
            return
        self.errands.send(
            partial(lines_of, old, new),
            partial(self._came, serial, found.cut),
            partial(self._failed, serial),
        )

    def _came(self, serial: int, cut: bool, lines: tuple[DiffLine, ...]) -> None:
        if serial == self._serial:
            self.text.show_lines(lines, cut)
            self._stack.setCurrentWidget(self.text)

    def _failed(self, serial: int, error: Exception) -> None:
        if serial == self._serial:
            self.nothing.say(NO_TEXT, tr("The texts cannot be compared: {error}", error=f"{error!r}"))

    def _lay_out(self) -> None:
        px = self._look.px
        self._stack = QStackedWidget()
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self.text)
        self._aside = QWidget()
        aside = QVBoxLayout(self._aside)
        aside.setContentsMargins(px(8), 0, 0, 0)
        aside.addWidget(self._stack)
        self._split = Folding(self._look, 420, (70, 110))
        self._split.addWidget(self.view)
        self._split.addWidget(self._aside)
        self._split.setStretchFactor(1, 1)
        self._split.setSizes([px(240), px(460)])
        self.view.setMinimumWidth(px(130))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(6), 0, 0)
        column.setSpacing(px(6))
        column.addWidget(self.summary)
        column.addWidget(self._split, 1)
        column.addStretch(0)


def lines_of(old: str, new: str) -> tuple[DiffLine, ...]:
    """Return the difference. A file that is not there on one side has no line there, not an empty one."""
    if old and new:
        return difference(old, new)
    lines = (old or new).removesuffix("\n").split("\n") if old or new else []
    return tuple(
        DiffLine(Side.REMOVED, text, old=number) if old else DiffLine(Side.ADDED, text, new=number)
        for number, text in enumerate(lines, 1)
    )


def _text(data: bytes | None) -> str | None:
    """Return a text to compare; None for what is none."""
    if data is None:
        return ""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")[:MOST_TEXT]
    except UnicodeDecodeError as error:
        # The beginning of a long file may end within a letter.
        return data[: error.start].decode("utf-8") if error.start and len(data) - error.start < 4 else None
