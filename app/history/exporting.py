"""Export of the history from its page, on a thread of its own, with progress and an end in one sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton, QWidget

from app import phrases
from app.link.background import Errands
from app.parts.notice import Notice, Tone
from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.history.search import Filter, Interrupted
from runner.model.errors import KnownError
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.look.look import Look
    from runner.audit.export.exporting import Exported
    from runner.system.places import Places

CANCEL = tr("Cancel")
FILTERS = {
    "JSON Lines (*.jsonl)": ExportFormat.JSON_LINES,
    tr("Table (*.csv)"): ExportFormat.CSV,
    tr("Report (*.html)"): ExportFormat.HTML,
    tr("OCSF events (*.ocsf)"): ExportFormat.OCSF,
}
"""Formats of requests, by the line of the dialog."""
FOR_VERIFIER = tr("All entries (*.jsonl)")


class Exporting(QObject):
    """The button and the notice of an export; at most one is under way."""

    progressed = Signal(int)

    def __init__(
        self,
        places: Places,
        look: Look,
        wanted: Callable[[], Filter],
        chosen: Callable[[], str],
        parent: QWidget,
    ) -> None:
        """`wanted` gives the present filter, `chosen` the request that is shown, or nothing."""
        super().__init__(parent)
        self._places = places
        self._wanted = wanted
        self._chosen = chosen
        self._errands = Errands("export", self)
        self._export: HistoryExport | None = None
        self.button = QPushButton(tr("Export"))
        self.button.setToolTip(tr("Write requests, or all entries of the ledger, into a file"))
        self.button.setAutoDefault(False)
        look.dress(self.button, "download", size=14)
        menu = QMenu(self.button)
        self.listed = menu.addAction(tr("What is listed\N{HORIZONTAL ELLIPSIS}"))
        self.one = menu.addAction(tr("The request that is shown\N{HORIZONTAL ELLIPSIS}"))
        self.entries = menu.addAction(tr("All entries, for the verifier\N{HORIZONTAL ELLIPSIS}"))
        menu.aboutToShow.connect(self._enable)
        self.listed.triggered.connect(self._ask_listed)
        self.one.triggered.connect(self._ask_one)
        self.entries.triggered.connect(self._ask_entries)
        self.button.setMenu(menu)
        self.notice = Notice(look, Tone.INFO, "", closable=True)
        self.notice.hide()
        self.notice.action.clicked.connect(self.cancel)
        self.progressed.connect(self._show_progress)

    def export(
        self, path: Path, kind: ExportFormat, wanted: Filter, names: tuple[str, ...] | None = None, *, replace: bool
    ) -> None:
        """Write to `path`, unless an export is under way. `replace`: the person has agreed to replace a file there."""
        if self._export is not None:
            return
        export = self._export = HistoryExport(self._places.ledger, kind, wanted, names, self._places.exports)
        # The thread must end its file, not fill the disk, once the page is gone.
        self.destroyed.connect(lambda: export.stop())
        self.button.setEnabled(False)
        self._show_progress(0)

        def progress(count: int) -> None:
            self._errands.tell(self.progressed.emit, count)

        self._errands.send(partial(export.write, path, replace=replace, progress=progress), self._done, self._failed)

    @Slot()
    def cancel(self) -> None:
        if self._export is not None:
            self._export.stop()

    # ---- asking where ----

    @Slot()
    def _enable(self) -> None:
        self.one.setEnabled(bool(self._chosen()))

    @Slot()
    def _ask_listed(self) -> None:
        self._ask(self._wanted(), None)

    @Slot()
    def _ask_one(self) -> None:
        if name := self._chosen():
            self._ask(Filter(), (name,))

    @Slot()
    def _ask_entries(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self.button, tr("Export all entries"), "entries.jsonl", FOR_VERIFIER)
        if path:
            self.export(*_named(path, ExportFormat.ENTRIES, ".jsonl"), Filter(), replace=bool(Path(path).suffix))

    def _ask(self, wanted: Filter, names: tuple[str, ...] | None) -> None:
        path, line = QFileDialog.getSaveFileName(self.button, tr("Export"), "history.jsonl", ";;".join(FILTERS))
        if not path:
            return
        kind = FILTERS.get(line, ExportFormat.JSON_LINES)
        suffix = Path(path).suffix.removeprefix(".").lower()
        if suffix in FILTERS.values():
            # Who types another ending means it.
            kind = ExportFormat(suffix)
        # The dialog asked about the name that was typed, not about one with an ending that is added here.
        self.export(*_named(path, kind, f".{kind}"), wanted, names, replace=bool(suffix))

    # ---- back in the window ----

    @Slot(int)
    def _show_progress(self, count: int) -> None:
        if self._export is not None:
            written = tr(" {count} are written.", count=numeral(count)) if count else ""
            self.notice.say(Tone.INFO, tr("Exporting…{written}", written=written), CANCEL)
            self.notice.show()

    def _done(self, written: Exported) -> None:
        self._end()
        words = phrases.visible(written.sentence)
        if written.head:
            key = tr("key {key}, ", key=written.key) if written.key else ""
            words += tr(" Note apart from the file, for the verifier: {key}head {head}.", key=key, head=written.head)
        self._say(Tone.GOOD, words)

    def _failed(self, error: Exception) -> None:
        self._end()
        if isinstance(error, Interrupted):
            self._say(Tone.INFO, tr("The export was cancelled; no file was written."))
            return
        words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else f"{error!r}"
        self._say(Tone.BAD, tr("Nothing was exported. {words}", words=phrases.visible(words)))

    def _end(self) -> None:
        self._export = None
        self.button.setEnabled(True)

    def _say(self, tone: Tone, words: str) -> None:
        self.notice.say(tone, words)
        self.notice.show()


def _named(path: str, kind: ExportFormat, ending: str) -> tuple[Path, ExportFormat]:
    """Return the path, with an ending where it has none, and the format."""
    return Path(path if Path(path).suffix else path + ending), kind
