"""One program at work in the history: what became of it, and everything that happened in it, in order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QVBoxLayout

from app import phrases
from app.history import session_words as words
from app.parts.clearing import clearable
from app.parts.elide import ElidedLabel
from app.parts.fold import FoldingRow
from app.parts.narrowed import NarrowedRows
from app.parts.plain import plain_label
from app.parts.text.lines import list_view
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from app.parts.text.lines import Summary
    from runner.audit.history.past_work import PastSession
    from runner.audit.history.search import History

LONGEST = 500


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session, with a row for each thing that happened in it."""

    session: PastSession
    steps: tuple[Summary, ...]


def read_session(history: History, name: str) -> SessionRecord | None:
    """Return the session with this id; None for none. Raises KnownError."""
    session = history.session(name)
    if session is None:
        return None
    return SessionRecord(session, tuple(map(words.step_line, history.session_steps(name))))


class PastSessionView(QFrame):
    """Shows one record at a time; the search stays, as does the place in the list while the record is the same."""

    work_wanted = Signal(str)
    """Name of a working copy that is to be shown on the page of work."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._record: SessionRecord | None = None
        self.setProperty("card", True)
        self.title = ElidedLabel()
        self.title.setProperty("role", "title")
        self.open = QPushButton(tr("Open in Work"))
        self.open.setAutoDefault(False)
        self.open.setToolTip(tr("Show its working copy with the changes that it still has"))
        look.dress(self.open, "layers", size=14)
        self.about = plain_label(role="muted", wrap=True)
        self.sentence = plain_label(wrap=True)
        for label in (self.about, self.sentence):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Search what happened"))
        self.field.setAccessibleName(tr("Search what happened"))
        self.field.setMaxLength(LONGEST)
        clearable(self.field, look)
        self.count = plain_label(role="small")
        self.model = NarrowedRows(self)
        self.view = list_view(look, self.model, tr("What happened"))
        self._top = FoldingRow()
        self._top.setSpacing(look.px(10))
        self._top.addWidget(self.title, 1)
        self._top.addWidget(self.open)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(14), look.px(10), look.px(12), look.px(12))
        column.setSpacing(look.px(6))
        column.addLayout(self._top)
        column.addWidget(self.about)
        column.addWidget(self.sentence)
        column.addWidget(self.field)
        column.addWidget(self.view, 1)
        column.addWidget(self.count)
        self.open.clicked.connect(self._open)
        self.field.textChanged.connect(self._narrow)
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._seek)

    def show_record(self, record: SessionRecord, *, at_work: bool, is_there: bool) -> None:
        """Put `record` on screen; `is_there`: whether its working copy still is."""
        before, self._record = self._record, record
        session = record.session
        self.title.setText(words.title(session))
        self.about.setText(
            words.DOT.join(
                filter(
                    None,
                    (
                        phrases.visible(session.project),
                        words.command_line(session),
                        phrases.when(session.started_at),
                        session.name,
                    ),
                )
            )
        )
        self.sentence.setText(words.sentence(session, at_work, time.time()))
        self.open.setVisible(is_there)
        if before is None or before.steps != record.steps:
            bar = self.view.verticalScrollBar()
            same = before is not None and before.session.seq == session.seq
            place = bar.value() if same else 0
            self.model.take(record.steps)
            self.view.updateGeometries()
            bar.setValue(place)
        self._say_count()

    @Slot(str)
    def _narrow(self, text: str) -> None:
        self.model.narrow(text)
        self._say_count()

    def _say_count(self) -> None:
        shown, whole = self.model.rowCount(), len(self._record.steps) if self._record is not None else 0
        self.count.setText(
            tr("{shown} of {whole} entries", shown=numeral(shown), whole=numeral(whole)) if shown != whole else ""
        )
        self.count.setVisible(shown != whole)

    @Slot()
    def _open(self) -> None:
        if self._record is not None:
            self.work_wanted.emit(self._record.session.name)

    @Slot()
    def _seek(self) -> None:
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._top.fold(self.width() < self._look.px(420))
