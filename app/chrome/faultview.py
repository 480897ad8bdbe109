"""Reports errors inside Assent, and shows what was written down about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.parts.notice import Tone
from app.parts.plain import plain_label
from app.parts.text.to_clipboard import to_clipboard
from runner.model.translation import tr
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from pathlib import Path

    from app.chrome.window import Window

SHOW = tr("What happened")


def tell_of_earlier(window: Window, text: str, file: Path) -> None:
    """Say that the session before did not end well, until that is read or closed."""
    sentence = tr(
        "Assent did not end well the last time. Questions that were open then were denied; nothing ran twice."
    )
    notice = window.banners.say("earlier", Tone.WARN, sentence, SHOW)
    notice.acted.connect(lambda: FaultView(window, text, file).open())


def tell_of_fault(window: Window, last_line: str, file: Path) -> None:
    """Say that something inside Assent failed and that Assent continues."""
    sentence = tr("Something failed inside Assent and was written down: {last_line}", last_line=last_line)
    shown_before = bool(window.banners.text("fault"))
    notice = window.banners.say("fault", Tone.WARN, sentence, SHOW)
    if not shown_before:
        notice.acted.connect(lambda: _open_log(window, file))


def _open_log(window: Window, file: Path) -> None:
    try:
        text = read_file(file).decode("utf-8", "replace")
    except OSError as error:
        text = tr("The file cannot be read: {strerror}.", strerror=error.strerror)
    FaultView(window, text, file).open()


class FaultView(QDialog):
    """The log as plain text, to copy or to find on disk."""

    def __init__(self, parent: QWidget, text: str, file: Path) -> None:
        super().__init__(parent)
        self._file = file
        self.setWindowTitle(tr("What happened"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(760, 460)
        where = plain_label(tr("Written to {file}. It stays on this computer.", file=file), wrap=True)
        self.text = QPlainTextEdit(text)
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(tr("What was written down about the error"))
        self.copy = QPushButton(tr("Copy"))
        self.copy.clicked.connect(self._copy)
        self.folder = QPushButton(tr("Open folder"))
        self.folder.clicked.connect(self._open_folder)
        close = QPushButton(tr("Close"))
        close.setDefault(True)
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.folder)
        buttons.addStretch()
        buttons.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 14)
        column.setSpacing(10)
        column.addWidget(where)
        column.addWidget(self.text)
        column.addLayout(buttons)

    @Slot()
    def _copy(self) -> None:
        to_clipboard(self.text.toPlainText())

    @Slot()
    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._file.parent)))
