"""The facts in the ledger about one request, apart from code and output: decision, run, file, entries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app import phrases
from app.class_reasons.section import WhySection
from app.history import words
from app.parts.plain import plain_label
from app.parts.sections import Listed, Pairs, Section
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.class_reasons.keeping import CaseKeeping
    from app.look.look import Look
    from runner.audit.history.search import CaseRecord

GONE = tr("The file is no longer there.")
NOT_OPENED = tr("No program here opens folders.")


class RecordFacts(QScrollArea):
    """A column of headings with pairs and lines; plain text, and all of it can be marked and copied."""

    line_picked = Signal(int)
    """A line of the code."""

    def __init__(
        self,
        look: Look,
        open_folder: Callable[[Path], bool],
        keeping: CaseKeeping | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`open_folder` shows a folder in a program of the desktop; False where there is none.

        `keeping` as in `WhySection`.
        """
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("What is recorded of this request"))
        self._why = Listed(look, tr("Why"))
        self.reasons = WhySection(look, keeping)
        self.reasons.line_picked.connect(self.line_picked)
        self._why.add(self.reasons)
        self._decision = Pairs(look, tr("Decision"))
        self._sender = Pairs(look, tr("Sent by"))
        self._run = Pairs(look, tr("Run"))
        self._protections = Listed(look, tr("Protected by"))
        self.file = Artifact(look, open_folder)
        self._ledger = Pairs(look, tr("Ledger"))
        column = QVBoxLayout()
        column.setContentsMargins(look.px(4), look.px(12), look.px(8), look.px(8))
        column.setSpacing(look.px(14))
        asked, ran = (self._why, self._decision, self._sender), (self._run, self._protections, self.file)
        for section in (*asked, *ran, self._ledger):
            column.addWidget(section)
        column.addStretch()
        inside = QWidget()
        inside.setLayout(column)
        self.setWidget(inside)

    def show_record(self, record: CaseRecord) -> None:
        level = record.row.level
        self._why.rename(tr("Why: {name} class", name=level.name) if level else tr("Why"))
        self._why.show_lines(words.assessed(record))
        self.reasons.show_subject(record.request, record.assessment)
        self._decision.show_pairs(words.decision(record))
        self._sender.show_pairs(words.sender(record))
        self._run.show_pairs(words.run(record))
        self._protections.show_lines(record.result.meta.protections if record.result else ())
        self.file.show_path(words.artifact(record))
        self._ledger.show_pairs(words.ledger(record))


class Artifact(Section):
    """Where the file of a run is; hidden where none was kept."""

    def __init__(self, look: Look, open_folder: Callable[[Path], bool], parent: QWidget | None = None) -> None:
        super().__init__(look, tr("File"), parent)
        self._open_folder = open_folder
        self._file: Path | None = None
        self.path = plain_label(wrap=True)
        self.path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message = plain_label(role="muted", wrap=True)
        self.open = QPushButton(tr("Open folder"))
        self.open.setAutoDefault(False)
        self.open.setAccessibleName(tr("Open the folder of the file"))
        look.dress(self.open, "folder", size=14)
        row = QHBoxLayout()
        row.setSpacing(look.px(10))
        row.addWidget(self.open)
        row.addWidget(self.message, 1)
        line = QWidget()
        line.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        self.add(self.path)
        self.add(line)
        self.open.clicked.connect(self._show_folder)
        self.show_path("")

    def show_path(self, path: str) -> None:
        """Show `path` as the ledger has it; '' for none."""
        self._file = Path(path) if path else None
        # A path has no spaces to break at: let it break after each folder.
        self.path.setText(phrases.visible(path).replace("/", "/\u200b"))
        self.message.setText("")
        self.setVisible(bool(path))

    @Slot()
    def _show_folder(self) -> None:
        file = self._file
        if file is None:
            return
        if not file.is_file():
            self.message.setText(GONE)
        else:
            self.message.setText("" if self._open_folder(file.parent) else NOT_OPENED)
