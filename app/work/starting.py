"""*Work on a project*: which folder, which program, and the line that starts it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.parts.boxes import WholeBox
from app.parts.plain import plain_label, say
from app.parts.text.copying import CopyButton
from app.work import terminals
from runner.clients.known import CLIENTS
from runner.gateway.own_command import own_program, typed_command
from runner.model.errors import KnownError
from runner.model.translation import tr
from runner.workspace.working_copy import check_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.look.look import Look
    from runner.system.places import Places

WIDTH = 520
WHAT = tr(
    "The program works over a copy of the folder, in your terminal as always. Your folder stays as it is until you"
    " apply changes here."
)
NO_FOLDER = tr("Choose the folder of a project.")
WINDOWS = frozenset({"cursor", "vscode", "zed"})
"""Clients with windows of their own, which no terminal contains."""


class StartDialog(QDialog):
    """Opened with `open`. It starts nothing by itself but the desktop's terminal, and that only when asked to."""

    def __init__(
        self, parent: QWidget, look: Look, places: Places, environment: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._places = places
        self._environment = os.environ if environment is None else environment
        self._terminal = terminals.found(self._environment)
        self._folder = ""
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Work on a project"))
        self.folder = QLineEdit()
        self.folder.setPlaceholderText(tr("Folder of the project"))
        self.folder.setAccessibleName(tr("Folder of the project"))
        self.browse = QPushButton(tr("Choose\N{HORIZONTAL ELLIPSIS}"))
        self.browse.setAccessibleName(tr("Choose a folder"))
        self.program = WholeBox()
        self.program.setAccessibleName(tr("Program"))
        for name, word in _programs(self._environment):
            self.program.addItem(name, word)
        self.line = QLineEdit()
        self.line.setReadOnly(True)
        self.line.setFont(look.mono())
        self.line.setAccessibleName(tr("The line that starts it"))
        self.copy = CopyButton(tr("Copy"), tr("Copy the line"))
        self.message = plain_label(role="muted", wrap=True)
        self.message.setMinimumHeight(look.px(20))
        self.close_button = QPushButton(tr("Close"))
        self.close_button.setDefault(True)
        self.open_terminal = QPushButton(tr("Open a terminal with it"))
        self.open_terminal.setProperty("kind", "primary")
        self.open_terminal.setVisible(bool(self._terminal))
        for button in (self.browse, self.open_terminal):
            button.setAutoDefault(False)
        self._lay_out()
        self.folder.textChanged.connect(self._show_line)
        self.program.currentIndexChanged.connect(self._show_line)
        self.browse.clicked.connect(self._browse)
        self.open_terminal.clicked.connect(self._open)
        self.close_button.clicked.connect(self.reject)
        self._show_line()

    def choose(self, folder: str) -> None:
        """Put in the folder of a project."""
        self.folder.setText(folder)

    @property
    def _command(self) -> tuple[str, ...]:
        return ("work", str(self.program.currentData()))

    @Slot()
    def _browse(self) -> None:
        chosen = QFileDialog.getExistingDirectory(
            self, tr("Folder of the project"), self.folder.text() or str(Path.home())
        )
        if chosen:
            self.choose(chosen)

    @Slot()
    def _show_line(self) -> None:
        typed = self.folder.text().strip()
        folder = os.path.expanduser(typed)
        problem = NO_FOLDER if not typed else _problem(folder, self._places)
        self._folder = "" if problem else folder
        text = "" if problem else f"cd {shlex.quote(folder)} && {typed_command()} {shlex.join(self._command)}"
        self.line.setText(text)
        self.line.setCursorPosition(0)
        self.copy.set_text_to_copy(text)
        self.open_terminal.setEnabled(bool(text))
        paste = tr("Paste it into a terminal.")
        say(self.message, problem or paste, "muted" if not problem or not typed else "bad")

    @Slot()
    def _open(self) -> None:
        try:
            terminals.start(self._terminal, self._folder, (own_program(), *self._command), self._environment)
        except KnownError as error:
            say(self.message, str(error), "bad")
        else:
            self.accept()

    def _lay_out(self) -> None:
        px = self._look.px
        folder = QHBoxLayout()
        folder.setSpacing(px(8))
        folder.addWidget(self.folder, 1)
        folder.addWidget(self.browse)
        line = QHBoxLayout()
        line.setSpacing(px(8))
        line.addWidget(self.line, 1)
        line.addWidget(self.copy)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(8))
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        buttons.addWidget(self.open_terminal)
        what = plain_label(WHAT, "muted", wrap=True)
        what.setMinimumHeight(what.heightForWidth(px(WIDTH - 40)))
        column = QVBoxLayout(self)
        column.setContentsMargins(px(20), px(18), px(20), px(16))
        column.setSpacing(px(8))
        column.addWidget(plain_label(tr("Work on a project"), "title"))
        column.addWidget(what)
        column.addSpacing(px(4))
        column.addWidget(plain_label(tr("Folder"), "heading"))
        column.addLayout(folder)
        column.addWidget(plain_label(tr("Program"), "heading"))
        column.addWidget(self.program)
        column.addWidget(plain_label(tr("The line that starts it"), "heading"))
        column.addLayout(line)
        column.addWidget(self.message)
        column.addSpacing(px(6))
        column.addLayout(buttons)
        self.setFixedWidth(px(WIDTH))


def _programs(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return name and command of the clients for a terminal, those that are installed first."""
    home = Path.home()
    found = [(one, bool(one.found(home, environment))) for one in CLIENTS if one.id not in WINDOWS]
    found.sort(key=lambda pair: not pair[1])
    return [
        (one.name if there else tr("{name} (not found here)", name=one.name), one.programs[0]) for one, there in found
    ]


def _problem(folder: str, places: Places) -> str:
    """Return why nothing can be worked on there; '' where it can."""
    if not os.path.isabs(folder):
        return tr("Write the whole path of the folder.")
    try:
        check_project(Path(folder), places.work)
    except (KnownError, OSError, ValueError) as error:
        return str(error)
    return ""
