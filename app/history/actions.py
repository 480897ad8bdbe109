"""Actions on the requests that are selected in the list: compare, copy, narrow the list, export."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QMenu

from app import phrases
from app.history.clipboard import as_request, markdown_of, submission
from app.history.compare import CompareDialog
from app.history.exporting import FILTERS
from app.history.reader import Reader
from app.parts.text.to_clipboard import to_clipboard
from runner.audit.export.exporting import ExportFormat
from runner.audit.history.search import Filter
from runner.model.errors import KnownError
from runner.model.request import Tool
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QWidget

    from app.history.exporting import Exporting
    from app.history.listing import HistoryList
    from app.look.look import Look
    from runner.audit.history.search import CaseRecord, History
    from runner.model.result import CapturedFile

MOST = 200
"""Requests that are read for one copy."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


class ListActions(QObject):
    """The menu of the list, and what its entries do. Reads on a thread of its own."""

    only_agent = Signal(str)
    """Requests of this agent alone are wanted."""
    rule_wanted = Signal(object)
    """A rule from this `Request` is wanted."""
    ask_again = Signal(object)
    """A `Submission` that the person wants to make."""
    said = Signal(str)
    """A sentence: what was copied, or what could not be done."""

    def __init__(
        self,
        path: Path,
        look: Look,
        listed: HistoryList,
        exporting: Exporting,
        read_file: Callable[[CapturedFile], bytes],
        parent: QWidget,
    ) -> None:
        """`read_file` gives the content of a file that a run created; raises KnownError."""
        super().__init__(parent)
        self._read_file = read_file
        self._look = look
        self._list = listed
        self._exporting = exporting
        self._widget = parent
        self._reader = Reader(path, "selected", self)
        self.menu = QMenu(parent)
        listed.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        listed.view.customContextMenuRequested.connect(self._open)
        copy = QShortcut(QKeySequence.StandardKey.Copy, listed)
        copy.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        copy.activated.connect(self.copy_markdown)
        self.destroyed.connect(self._reader.close)

    # ---- the menu ----

    @Slot(QPoint)
    def _open(self, at: QPoint) -> None:
        self.fill()
        if self.menu.actions():
            self.menu.popup(self._list.view.viewport().mapToGlobal(at))

    def fill(self) -> None:
        """Offer what can be done with what is selected now."""
        self.menu.clear()
        rows = self._list.selected_rows
        if not rows:
            return
        if len(rows) == 2:
            self.menu.addAction(tr("Compare the two"), self.compare)
            self.menu.addSeparator()
        many = f" {numeral(len(rows))}" if len(rows) > 1 else ""
        self.menu.addAction(tr("Copy{many} as Markdown", many=many), self.copy_markdown)
        if len(rows) == 1 and rows[0].tool is Tool.CODE_EXECUTE:
            self.menu.addAction(tr("Copy as a new request (JSON)"), self.copy_request)
        if len(rows) == 1 and rows[0].tool is Tool.CODE_EXECUTE:
            self.menu.addAction(tr("Ask again"), self.repeat)
        if len(rows) == 1:
            self.menu.addAction(tr("New rule from this request{ellipsis}", ellipsis=ELLIPSIS), self.make_rule)
        if agents := {row.agent for row in rows}:
            self.menu.addSeparator()
            for agent in sorted(agents)[:5]:
                name = phrases.visible(agent).replace("&", "&&")
                self.menu.addAction(tr("Only requests of {name}", name=name), partial(self.only_agent.emit, agent))
        self.menu.addSeparator()
        self.menu.addAction(
            tr("Export{many}{ellipsis}", many=many or tr(" this request"), ellipsis=ELLIPSIS), self._ask_export
        )

    # ---- doing ----

    @Slot()
    def compare(self) -> None:
        """Show the two selected requests side by side, the older one at the left."""
        self._read(lambda records: self._show_two(records))

    @Slot()
    def copy_markdown(self) -> None:
        self._read(
            lambda records: self._copy(
                markdown_of(records),
                plural("Copied {count} request as Markdown.", "Copied {count} requests as Markdown.", len(records)),
            )
        )

    @Slot()
    def copy_request(self) -> None:
        words = tr("Copied. An agent that sends this to code_execute asks for the same again.")
        self._read(lambda records: self._copy(as_request(records[0]), words))

    @Slot()
    def repeat(self) -> None:
        """Ask for the same again, in the person's own name; it waits in the queue like any other request."""
        self._read(lambda records: self._repeat(records[0]))

    @Slot()
    def make_rule(self) -> None:
        """Ask for a rule that is made from the selected request."""
        self._read(lambda records: self.rule_wanted.emit(records[0].request))

    def _repeat(self, record: CaseRecord) -> None:
        wanted = submission(record)
        if wanted is None:
            self.said.emit(
                tr("This cannot be asked again: it uses packages or a kept sandbox, which may have changed.")
            )
        else:
            self.ask_again.emit(wanted)

    def _show_two(self, records: Sequence[CaseRecord]) -> None:
        if len(records) == 2:
            older, newer = sorted(records, key=lambda record: record.row.seq)
            CompareDialog(self._widget, self._look, older, newer, self._read_file).open()

    def _copy(self, text: str, words: str) -> None:
        to_clipboard(text)
        self.said.emit(words)

    def _read(self, done: Callable[[Sequence[CaseRecord]], None]) -> None:
        """Pass the selected requests as values to `done`, in the order of the list."""
        names = [row.id for row in self._list.selected_rows]
        if len(names) > MOST:
            self.said.emit(
                tr(
                    "At most {most} requests are copied at once; {count} are selected.",
                    most=MOST,
                    count=numeral(len(names)),
                )
            )
            return

        def work(history: History) -> list[CaseRecord]:
            return [record for name in names if (record := history.case(name)) is not None]

        self._reader.ask(work, lambda records: done(records) if records else None, self._failed)

    def _failed(self, error: Exception) -> None:
        words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else f"{error!r}"
        self.said.emit(tr("The selected requests cannot be read. {words}", words=phrases.visible(words)))

    @Slot()
    def _ask_export(self) -> None:
        names = tuple(row.id for row in self._list.selected_rows)
        path, line = QFileDialog.getSaveFileName(self._widget, tr("Export"), "history.jsonl", ";;".join(FILTERS))
        if path and names:
            kind, suffix = FILTERS.get(line, ExportFormat.JSON_LINES), Path(path).suffix.removeprefix(".").lower()
            kind = ExportFormat(suffix) if suffix in FILTERS.values() else kind
            # The dialog asked about the name that was typed, not about one with an ending that is added here.
            target = Path(path if suffix else f"{path}.{kind}")
            self._exporting.export(target, kind, Filter(), names, replace=bool(suffix))
