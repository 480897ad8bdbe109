"""The hosts that programs at work may always reach, by project, and taking that back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.column import ScrollColumn
from app.parts.elide import ElidedLabel
from app.parts.fold import fit
from app.parts.plain import plain_label, say
from app.work import words
from runner.model.errors import KnownError
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from asyncio import Future

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from runner.work.project_hosts import ProjectHost

WHAT = tr("Programs that you start with assent work in these projects reach these hosts without a question.")
NONE = tr("No host is always allowed: each session asks by itself.")
READING = tr("Reading\N{HORIZONTAL ELLIPSIS}")
MOST_ROWS = 100


class ProjectHostsDialog(QDialog):
    """Opened with `open`. Taking back needs no second question: a host that is missing is asked about again."""

    def __init__(self, parent: QWidget, look: Look, bridge: EngineLink) -> None:
        super().__init__(parent)
        self._look = look
        self._bridge = bridge
        self._tasks = PageTasks("hosts of projects", self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Hosts that are always allowed"))
        self.message = plain_label(READING, "muted", wrap=True)
        self.rows: list[ProjectHostRow] = []
        self._list = ScrollColumn(tr("Hosts that are always allowed"))
        self._list.column.setSpacing(look.px(4))
        self.close_button = QPushButton(tr("Close"))
        self.close_button.setDefault(True)
        self.close_button.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(18), look.px(16), look.px(18), look.px(14))
        column.setSpacing(look.px(8))
        column.addWidget(plain_label(tr("Hosts that are always allowed"), "title"))
        column.addWidget(plain_label(WHAT, "muted", wrap=True))
        column.addWidget(self._list, 1)
        column.addWidget(self.message)
        column.addLayout(buttons)
        fit(self, look.px(560), look.px(380))
        self.close_button.setFocus()
        self._read()

    @Slot()
    def _read(self) -> None:
        self._tasks.start("read", self._show(self._bridge.work.hosts()))

    async def _show(self, answer: Future[tuple[ProjectHost, ...]]) -> None:
        try:
            found = await answer
        except KnownError as error:
            say(self.message, phrases.visible(str(error)), "bad")
            return
        for row in self.rows:
            row.hide()
            row.deleteLater()
        # The newest first.
        self.rows = [ProjectHostRow(self._look, one) for one in found[::-1][:MOST_ROWS]]
        for row in self.rows:
            row.forget.clicked.connect(partial(self._forget, row))
            self._list.column.addWidget(row)
        more = len(found) - len(self.rows)
        say(
            self.message,
            "" if found and not more else tr("And {more} more.", more=numeral(more)) if more else NONE,
            "muted",
        )

    def _forget(self, row: ProjectHostRow) -> None:
        row.forget.setEnabled(False)
        self._tasks.start("forget", self._wait(row, self._bridge.work.forget_host(row.entry)))

    async def _wait(self, row: ProjectHostRow, answer: Future[None]) -> None:
        try:
            await answer
        except KnownError as error:
            row.forget.setEnabled(True)
            say(self.message, tr("Not taken back: {error}", error=phrases.visible(str(error))), "bad")
            return
        self._read()


class ProjectHostRow(QWidget):
    """One host with its project."""

    def __init__(self, look: Look, entry: ProjectHost) -> None:
        super().__init__()
        self.entry = entry
        place = words.place(entry.host, entry.port)
        self.place = ElidedLabel(place, mode=Qt.TextElideMode.ElideMiddle)
        self.place.setProperty("role", "strong")
        inside = tr(", leads to {private}", private=phrases.visible(entry.private)) if entry.private else ""
        since = tr(", since {moment}", moment=words.moment(entry.at)) if entry.at else ""
        below = ElidedLabel(f"{words.home_path(entry.project)}{since}{inside}")
        below.setProperty("role", "muted")
        self.forget = QPushButton(tr("Take back"))
        self.forget.setAutoDefault(False)
        self.forget.setAccessibleName(
            tr("Take back: {place} for {project}", place=place, project=words.home_path(entry.project))
        )
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(self.place)
        texts.addWidget(below)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, look.px(6), 0)
        row.setSpacing(look.px(8))
        row.addLayout(texts, 1)
        row.addWidget(self.forget)
