"""The list of the history: pages come as it is scrolled, news comes in on top, and nothing jumps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QTimer, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QFrame, QStackedWidget, QVBoxLayout, QWidget

from app.history.model import PAGE, HistoryModel, merged, read_news, read_page
from app.history.reader import Reader
from app.parts.empty import EmptyState
from app.parts.plain import plain_label
from app.parts.text.lines import HEADING, HEIGHT, list_view
from app.results.thumbnails import Thumbnails
from runner.audit.history.search import ANYTHING, Filter
from runner.audit.ledger.row import Row
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.history.model import HistoryUpdate, TitledRow
    from app.look.look import Look
    from runner.model.result import CapturedFile

NEWS_MS = 300
"""News is read at most this often."""
MOST_SUSPECTS = 200
"""Requests that are asked for one by one; with more of them the list is read again."""
SLOW_MS = 400
"""A search that takes longer says so: what is listed meanwhile is the answer to another one."""
AHEAD = 20
"""Rows before the end at which the next page is fetched."""


class HistoryList(QFrame):
    """Shows what fits a filter. Says which line is chosen; chooses the newest where none is."""

    chosen = Signal(str)
    """Id of a request or of a program at work: the person moved to it, or it was the first to be listed."""
    read = Signal()
    """Lines have come in."""
    clear_filters = Signal()

    def __init__(
        self, path: Path, look: Look, read: Callable[[CapturedFile], bytes], parent: QWidget | None = None
    ) -> None:
        """`read` gives the content of a file that a run created; raises KnownError."""
        super().__init__(parent)
        self._look = look
        self._reader = Reader(path, "history", self)
        self._wanted = ANYTHING
        self._chosen = ""
        self._preferred = ""
        """To be chosen with the next answer."""
        self._marking = False
        self._asking = False
        self._more = False
        self._suspects: set[str] = set()
        self._behind = False
        self._broken = False
        """The last attempt to read failed."""
        self.setProperty("card", True)
        self._thumbnails = Thumbnails(read, self)
        self.model = HistoryModel(self._thumbnails.of_file, self)
        self._thumbnails.changed.connect(self.model.paint_again)
        self.view = list_view(look, self.model, tr("History"))
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.nothing = EmptyState(
            look, "history", tr("No history yet"), tr("What agents ask and do, and what became of it, is kept here.")
        )
        self.no_match = EmptyState(
            look, "search", tr("Nothing found"), tr("Try removing a filter."), tr("Clear filters")
        )
        self.failure = EmptyState(look, "circle-alert", tr("The history cannot be read"), "")
        self.waiting = QWidget()
        self._pages = QStackedWidget()
        for page in (self.waiting, self.nothing, self.no_match, self.failure, self.view):
            self._pages.addWidget(page)
        self.searching = plain_label(tr("Searching\N{HORIZONTAL ELLIPSIS}"), "muted")
        self.searching.setContentsMargins(look.px(12), look.px(4), look.px(12), look.px(4))
        self.searching.hide()
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(SLOW_MS)
        self._slow.timeout.connect(self.searching.show)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, look.px(4), 1, look.px(4))
        column.addWidget(self.searching)
        column.addWidget(self._pages)
        self._news = QTimer(self)
        self._news.setSingleShot(True)
        self._news.setInterval(NEWS_MS)
        self._news.timeout.connect(self._catch_up)
        self.no_match.pressed.connect(self.clear_filters)
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.view.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.destroyed.connect(self._reader.close)

    # ---- what is asked for ----

    def look_for(self, wanted: Filter) -> None:
        """List what fits `wanted`, in place of all that is listed; a search under way is stopped."""
        self._wanted = wanted
        self._behind = False
        self._suspects.clear()
        self._ask()
        self._slow.start()
        self._reader.ask(lambda history: read_page(history, wanted), self._begin, self._failed)

    def prefer(self, request_id: str) -> None:
        """Choose this request once what is asked for next has come in, where it is listed."""
        self._preferred = request_id

    def suspect(self, request_ids: Iterable[str]) -> None:
        """Read these requests again soon, once somebody can see them, because something happened to them."""
        if len(self._suspects) <= MOST_SUSPECTS:
            self._suspects.update(request_ids)
        self.look_at_work()

    def look_at_work(self) -> None:
        """Read soon what is new of programs at work, once somebody can see it."""
        self._behind = True
        if self.isVisible() and not self._news.isActive():
            self._news.start()

    @property
    def selected_rows(self) -> list[Row]:
        """The selected requests that can be read, in the order of the list."""
        places = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        lines = (self.model.line(place) for place in places)
        return [line.row for line in lines if line is not None and isinstance(line.row, Row)]

    @property
    def shown(self) -> str:
        """The chosen request; empty where none is."""
        return self._chosen

    # ---- what comes in ----

    def _begin(self, lines: tuple[TitledRow, ...]) -> None:
        self._found()
        self._asking, self._more = False, len(lines) == PAGE
        self._marking = True
        self.model.replace(lines)
        self._fit_headings()
        self._marking = False
        self.view.scrollToTop()
        preferred, self._preferred = self._preferred, ""
        if preferred != self._chosen and preferred and self.model.row_of(preferred) >= 0:
            self._choose(preferred)
        if self._chosen and self.model.row_of(self._chosen) < 0:
            # What is shown beside the list is one of the list, or nothing.
            self._chosen = ""
            if not lines:
                self.chosen.emit("")
        self._settle()

    def _continue(self, lines: tuple[TitledRow, ...]) -> None:
        self._asking, self._more = False, len(lines) == PAGE
        self.model.extend(lines)
        self._fit_headings()
        self._settle()

    def _take(self, news: HistoryUpdate) -> None:
        self._asking = False
        lines = merged(self.model.lines, news, whole=not self._more)
        bar = self.view.verticalScrollBar()
        place, height = bar.value(), self.view.verticalHeader().length()
        self._marking = True
        added = self.model.update(lines)
        self._fit_headings()
        self._marking = False
        if added > 0 and place > 0:
            self.view.updateGeometries()
            bar.setValue(place + self.view.verticalHeader().length() - height)
        elif added < 0:
            self.view.updateGeometries()
            bar.setValue(place)
        self._settle()

    def _fit_headings(self) -> None:
        """Make room for the day above the first request of each."""
        plain, higher = self._look.px(HEIGHT), self._look.px(HEIGHT + HEADING)
        header = self.view.verticalHeader()
        for row in range(self.model.rowCount()):
            wanted = higher if self.model.begins_day(row) else plain
            if header.sectionSize(row) != wanted:
                header.resizeSection(row, wanted)

    def _settle(self) -> None:
        """Show what there is, and the chosen one as chosen."""
        self._broken = False
        self._mark()
        self._show_page()
        self.read.emit()
        if not self._chosen and (first := self.model.line(0)) is not None:
            self._choose(first.row.id)
            self._mark()
        if self._behind and self.isVisible():
            self._news.start()
        self._scrolled()

    def _found(self) -> None:
        self._slow.stop()
        self.searching.hide()

    def _failed(self, error: Exception) -> None:
        self._found()
        self._asking = False
        self._behind = self._broken = True
        if not self._reader.path.exists():
            self.model.replace(())
            self._pages.setCurrentWidget(self.nothing)
            return
        words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else str(error)
        self.failure.say(tr("The history cannot be read"), words)
        self._pages.setCurrentWidget(self.failure)

    def _show_page(self) -> None:
        if self.model.rowCount():
            self._pages.setCurrentWidget(self.view)
        else:
            self._pages.setCurrentWidget(self.nothing if self._wanted == ANYTHING else self.no_match)

    # ---- asking ----

    def _ask(self) -> None:
        self._asking = True
        self._news.stop()

    @Slot()
    def _catch_up(self) -> None:
        """Read what has become of the suspects, after what is being read."""
        if self._asking or not self.isVisible():
            return
        suspects = frozenset(self._suspects)
        if len(suspects) > MOST_SUSPECTS or self._broken:
            # After a long time out of sight, or a failure: that is quicker from the beginning.
            self.look_for(self._wanted)
            return
        self._suspects.clear()
        self._behind = False
        self._ask()
        wanted = self._wanted
        self._reader.ask(lambda history: read_news(history, wanted, suspects), self._take, self._failed)

    @Slot()
    def _scrolled(self) -> None:
        bar = self.view.verticalScrollBar()
        if self._asking or not self._more or bar.value() < bar.maximum() - AHEAD * self._look.px(HEIGHT):
            return
        self._ask()
        wanted, last = self._wanted, self.model.lines[-1].row.seq
        self._reader.ask(lambda history: read_page(history, wanted, last), self._continue, self._failed)

    # ---- what is chosen ----

    def _mark(self) -> None:
        """Show the chosen row as chosen, wherever it is now."""
        self._marking = True
        row = self.model.row_of(self._chosen) if self._chosen else -1
        index = self.model.index(row, 0) if row >= 0 else QModelIndex()
        if self.view.currentIndex() != index:
            place = self.view.verticalScrollBar().value()
            self.view.setCurrentIndex(index)
            self.view.verticalScrollBar().setValue(place)
        if row < 0:
            self.view.clearSelection()
        self._marking = False

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        line = self.model.line(current.row())
        if not self._marking and line is not None and line.row.id != self._chosen:
            self._choose(line.row.id)

    def _choose(self, request_id: str) -> None:
        self._chosen = request_id
        self.chosen.emit(request_id)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._behind:
            self._catch_up()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._news.stop()
