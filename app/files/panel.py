"""The files of one run: a list, a look into the chosen one, and buttons to save."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, Qt, Slot
from PySide6.QtWidgets import (
    QFileDialog,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.files import saving
from app.files.apart import ReadingProcess
from app.files.found import Picture, Table, Text
from app.files.listing import FilesModel
from app.files.picture import PictureView
from app.files.table import TableView
from app.link.background import Errands
from app.parts.empty import EmptyState
from app.parts.flow import FlowRow
from app.parts.fold import Folding
from app.parts.plain import plain_label
from app.parts.text.code import CodeView
from app.parts.text.lines import list_view
from app.parts.text.visible_characters import expose
from runner.model import engine_texts
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QShowEvent

    from app.files.found import Preview
    from app.look.look import Look
    from runner.model.result import CapturedFile, Result

NO_FILES = (tr("No files"), tr("This run created no files."))
NOT_OVER = (tr("No files yet"), tr("What the run creates is shown here when it is over."))
LEFT_OUT = (tr("No files collected"), tr("What this run created was left out; below it says why."))
NOTHING = (tr("Nothing chosen"), tr("Choose a file to look into it."))


class FilesView(QWidget):
    """Reads in a process of its own. Names and contents are shown letter by letter."""

    def __init__(
        self,
        look: Look,
        read: Callable[[CapturedFile], bytes],
        parent: QWidget | None = None,
        *,
        open_first: bool = True,
    ) -> None:
        """`read` gives the content of a file; raises KnownError where it is gone or was altered.

        `open_first`: the first file is shown without being chosen, once the list is on the screen.
        """
        super().__init__(parent)
        self._look = look
        self._read = read
        self._open_first = open_first
        self._chosen: CapturedFile | None = None
        self._reading = ReadingProcess()
        self._errands = Errands("files", self)
        self.model = FilesModel(self)
        self.view = list_view(look, self.model, tr("Files"))
        self.said = plain_label(role="muted", wrap=True)
        self.left_out = plain_label(role="muted", wrap=True)
        self.left_out.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message = plain_label(role="muted", wrap=True)
        self.text = CodeView(look)
        self.table = TableView(look)
        self.picture = PictureView(look)
        self.none = EmptyState(look, "file-code", *NO_FILES)
        self.nothing = EmptyState(look, "file-code", *NOTHING)
        self.save = QPushButton(tr("Save as\N{HORIZONTAL ELLIPSIS}"))
        self.save_all = QPushButton(tr("Save all\N{HORIZONTAL ELLIPSIS}"))
        self._lay_out()
        # Not what has the focus: a list gives it to its first row as soon as it comes to the list.
        self.view.selectionModel().selectionChanged.connect(self._moved)
        self.save.clicked.connect(self._ask_save)
        self.save_all.clicked.connect(self._ask_save_all)
        self.show_result(None)

    # ---- what is shown ----

    def show_result(self, result: Result | None) -> None:
        """Show the files of a run; None while it is not over."""
        files = result.files if result else ()
        left_out = result.files_left_out if result else ""
        self._leave()
        self.model.replace(files)
        self._say("")
        self.left_out.setText(tr("Left out: {words}.", words=expose(left_out).text) if left_out else "")
        self.left_out.setVisible(bool(left_out))
        self.save.setEnabled(False)
        self.said.setText("")
        self.nothing.say(*NOTHING)
        self._show(self.nothing)
        self.none.say(*(NOT_OVER if result is None else LEFT_OUT if left_out else NO_FILES))
        self._whole.setCurrentWidget(self._page if files else self.none)
        if self.isVisible():
            self._show_first()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_first()

    def _show_first(self) -> None:
        if self._open_first and self._chosen is None and self.model.files:
            self.view.setCurrentIndex(self.model.index(0, 0))

    def _leave(self) -> None:
        """Drop what is shown, and end the reading of it."""
        self._chosen = None
        self._reading.end()

    def choose(self, file: CapturedFile) -> None:
        """Look into `file`, where it is one of those that are listed."""
        if file in self.model.files:
            self.view.setCurrentIndex(self.model.index(self.model.files.index(file), 0))

    @property
    def title(self) -> str:
        """For a tab: `Files`, with their number."""
        count = self.model.rowCount()
        return tr("Files ({count})", count=count) if count else tr("Files")

    @Slot(QItemSelection, QItemSelection)
    def _moved(self, chosen: QItemSelection, _before: QItemSelection) -> None:
        rows = [index.row() for index in chosen.indexes()]
        file = self.model.file(rows[0]) if rows else None
        if file is None or file is self._chosen:
            return
        self._leave()
        self._chosen = file
        self._say("")
        # What is on screen is another file's content: it goes before the new one has been read.
        self.nothing.say(*NOTHING)
        self._show(self.nothing)
        self.save.setEnabled(False)
        self.said.setText(tr("Reading\N{HORIZONTAL ELLIPSIS}"))
        read, self._reading = self._read, ReadingProcess()
        reading = self._reading
        self._errands.send(
            lambda: reading.preview(lambda: read(file), file.path),
            partial(self._came, reading),
            partial(self._failed, reading),
        )

    def _came(self, reading: ReadingProcess, found: Preview) -> None:
        if reading is not self._reading or self._chosen is None:
            return
        self.said.setText(found.said)
        self.save.setEnabled(True)
        if isinstance(found, Picture):
            self.picture.show_picture(found)
            self._show(self.picture)
        elif isinstance(found, Table):
            self.table.show_table(found)
            self._show(self.table)
        elif isinstance(found, Text):
            self.text.set_code(found.text, found.language)
            self._show(self.text)

    def _failed(self, reading: ReadingProcess, error: Exception) -> None:
        if reading is self._reading and self._chosen is not None:
            self.said.setText("")
            self.save.setEnabled(False)
            self.nothing.say(tr("Not shown"), _words(error))
            self._show(self.nothing)

    def _show(self, view: QWidget) -> None:
        self._looked.setCurrentWidget(view)

    # ---- saving ----

    @Slot()
    def _ask_save(self) -> None:
        if self._chosen is None:
            return
        # The dialog asks before it replaces a file.
        path, _ = QFileDialog.getSaveFileName(self, tr("Save file"), saving.name(self._chosen.path))
        if path:
            self.save_to(Path(path))

    def save_to(self, path: Path) -> None:
        """Write the chosen file to `path`, whatever is there."""
        file, read = self._chosen, self._read
        if file is not None:
            self._errands.send(
                lambda: saving.write(path, read(file)),
                lambda _nothing: self._say(tr("Saved to {path}.", path=path)),
                self._not_saved,
            )

    @Slot()
    def _ask_save_all(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Save all files into a folder"))
        if folder:
            self.save_all_to(Path(folder))

    def save_all_to(self, folder: Path) -> None:
        """Write all files into `folder`, beside what is there."""
        files, read = self.model.files, self._read
        self._errands.send(
            lambda: saving.write_all(folder, files, read),
            lambda count: self._say(tr("Saved {count} to {folder}. No file was replaced.", count=count, folder=folder)),
            self._not_saved,
        )

    def _not_saved(self, error: Exception) -> None:
        self._say(tr("Not saved: {words}", words=_words(error)))

    def _say(self, words: str) -> None:
        self.message.setText(words)
        self.message.setVisible(bool(words))

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        self._looked = QStackedWidget()
        for view in (self.nothing, self.text, self.table, self.picture):
            self._looked.addWidget(view)
        for button in (self.save, self.save_all):
            button.setAutoDefault(False)
        head = FlowRow((self.save, self.save_all), px(8), px(4), left=False)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(px(8), 0, 0, 0)
        column.setSpacing(px(6))
        column.addWidget(head)
        column.addWidget(self._looked, 1)
        column.addWidget(self.said)
        split = Folding(self._look, 400, (80, 160))
        split.addWidget(self.view)
        split.addWidget(right)
        split.setStretchFactor(1, 1)
        split.setSizes([px(200), px(500)])
        self.view.setMinimumWidth(px(110))
        self._page = split
        self._whole = QStackedWidget()
        self._whole.addWidget(self.none)
        self._whole.addWidget(self._page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, px(8), 0, 0)
        whole.setSpacing(px(4))
        whole.addWidget(self._whole, 1)
        whole.addWidget(self.message)
        whole.addWidget(self.left_out)


def _words(error: Exception) -> str:
    if isinstance(error, KnownError):
        return engine_texts.in_words(f"{error.what} {error.remedy}".strip())
    return f"{error.strerror or error}." if isinstance(error, OSError) else str(error)
