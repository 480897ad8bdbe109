"""The page of the history: search and filters on top, the list at the left, one request at the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.class_reasons.keeping import CaseKeeping
from app.history.actions import ListActions
from app.history.changes import ChangesList
from app.history.checking import Checking
from app.history.detail import CHOOSE, Detail
from app.history.exporting import Exporting
from app.history.filters import LONGEST, Filters
from app.history.indexed import IndexProgress
from app.history.listing import NEWS_MS, HistoryList
from app.history.reader import Reader
from app.history.saved import SavedSearches
from app.history.session_view import PastSessionView, read_session
from app.history.upkeep import RemovalMenu
from app.parts.back import back_button
from app.parts.clearing import clearable
from app.parts.column import readable
from app.parts.fold import Folding, Pages
from app.parts.notice import Notice, Tone
from app.parts.order import tab_in_reading_order
from runner.audit.files import captures
from runner.audit.history.past_work import PREFIX, PastSession
from runner.audit.history.search import ContentRemoved, UnreadableRow
from runner.audit.ledger.row import Row
from runner.model.errors import KnownError
from runner.model.events import (
    RequestArrived,
    RequestAssessed,
    RequestClosed,
    RequestDecided,
    RunFinished,
    RunStarted,
    WorkMoved,
    WorkRecorded,
)
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from PySide6.QtGui import QShowEvent

    from app.history.session_view import SessionRecord
    from app.look.look import Look
    from app.state.cards import Cards
    from app.state.work_cards import WorkCards
    from runner.audit.history.search import CaseRecord, History
    from runner.identity.signer import Vouching
    from runner.model.events import Event
    from runner.system.places import Places

VERIFY = tr("Verify")
STOP = tr("Stop verifying")


def open_folder(folder: Path) -> bool:
    """Show `folder` in the desktop's file manager; return False where there is none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


class HistoryPanel(QWidget):
    """Reads the ledger on threads of its own: one searches, one fetches what is chosen, one verifies."""

    ask_again = Signal(object)
    """A `Submission` that the person wants to make."""
    work_wanted = Signal(str)
    """Name of a working copy that is to be shown on the page of work."""

    def __init__(
        self,
        cases: Cards,
        look: Look,
        places: Places,
        parent: QWidget | None = None,
        show_folder: Callable[[Path], bool] = open_folder,
        vouching: Callable[[], Vouching] | None = None,
        work: WorkCards | None = None,
    ) -> None:
        """`vouching` as in `Checking`; `work` says which programs are at work now, None for none."""
        super().__init__(parent)
        self._cases = cases
        self._work = work
        self._look = look
        self._started = False
        self._wanted = ""
        self._reader = Reader(places.ledger, "record", self)
        self.filters = Filters(look)
        captured = partial(captures.read, places)
        self.list = HistoryList(places.ledger, look, captured)
        self.detail = Detail(look, show_folder, captured, CaseKeeping(places.disputed, self))
        self.session = PastSessionView(look)
        self.checking = Checking(places, vouching, self)
        self.verify = QPushButton(VERIFY)
        self.verify.setToolTip(tr("Check that every entry of the ledger is as it was written"))
        self.verify.setAutoDefault(False)
        look.dress(self.verify, "shield-check", size=14)
        self.changes = ChangesList(places.ledger, look)
        self.look_for_change = QLineEdit()
        self.look_for_change.setPlaceholderText(tr("Search changes"))
        self.look_for_change.setAccessibleName(tr("Search changes"))
        self.look_for_change.setMaxLength(LONGEST)
        clearable(self.look_for_change, look)
        self.show_changes = QPushButton(tr("Changes"))
        self.show_changes.setToolTip(tr("Settings, agents, what is remembered, mode and PIN"))
        self.show_changes.setCheckable(True)
        self.show_changes.setAutoDefault(False)
        look.dress(self.show_changes, "pencil", size=14)
        self.exporting = Exporting(places, look, lambda: self.filters.wanted, lambda: self._wanted, self)
        self.removal = RemovalMenu(look, lambda: self._wanted, lambda: self.detail.headline, self)
        self.actions_of_list = ListActions(places.ledger, look, self.list, self.exporting, captured, self)
        self.show_requests = back_button(tr("To the requests"))
        self.saved = SavedSearches(places.searches, look, lambda: (self.filters.name, self.filters.state))
        self.progress = IndexProgress(places.ledger)
        self.notice = Notice(look, Tone.INFO, "", closable=True)
        self.notice.hide()
        self._lay_out()
        self._connect()
        self._know_agents()

    def ask_for(self, state: Mapping[str, object]) -> None:
        """List the requests that `state` asks for, as `Filters.restore` takes it."""
        self.show_changes.setChecked(False)
        self.filters.restore(state)

    def show_request(self, request_id: str, state: Mapping[str, object]) -> None:
        """List what `state` asks for, and choose `request_id` where it is among it."""
        self.list.prefer(request_id)
        self.ask_for(state)

    # ---- the list ----

    @Slot()
    def look_again(self) -> None:
        """Read everything again."""
        self.list.look_for(self.filters.wanted)
        if self._wanted:
            self._fetch(self._wanted)

    @Slot()
    def _look_for(self) -> None:
        if self._started:
            self.list.look_for(self.filters.wanted)
            self.detail.look_for(self.filters.text.text())
            self.progress.look()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        if not self._started:
            return
        if touched := {name for event in events if (name := _touched(event))}:
            self.list.suspect(touched)
        if any(isinstance(event, WorkMoved | WorkRecorded) for event in events):
            self.list.look_at_work()
            self._fetch_session_soon()
        if self._wanted in touched:
            self._fetch(self._wanted)

    @Slot()
    def _know_agents(self) -> None:
        self.filters.know_agents(agent.name for agent in self._cases.agents or ())

    @Slot()
    def _know_listed_agents(self) -> None:
        rows = [line.row for line in self.list.model.lines]
        self.filters.know_agents(
            {row.agent for row in rows if isinstance(row, Row)}
            | {row.who for row in rows if isinstance(row, PastSession)}
        )

    # ---- one request ----

    @Slot(str)
    def _fetch(self, request_id: str) -> None:
        self._wanted = request_id
        if request_id.startswith(PREFIX):
            self._reader.ask(lambda history: read_session(history, request_id), self._show_session, self._failed)
            return
        line = self.list.model.line(self.list.model.row_of(request_id))

        def work(history: History) -> CaseRecord | None:
            if line is not None and isinstance(line.row, UnreadableRow):
                raise KnownError(phrases.visible(line.row.why), tr("Press Verify to find out what else is wrong."))
            return history.case(request_id)

        self._reader.ask(work, self._show, self._failed)

    @Slot()
    def _fetch_again(self) -> None:
        if self._wanted.startswith(PREFIX) and self.isVisible():
            self._fetch(self._wanted)

    def _show_session(self, record: SessionRecord | None) -> None:
        if record is None:
            self._say_in_place(*CHOOSE)
            return
        names = self._names()
        name = record.session.name
        self.session.show_record(record, at_work=name in names[0], is_there=name in names[1])
        self._beside.setCurrentWidget(self.session)

    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of the working copies with a program at work, and of all that there are."""
        if self._work is None:
            return frozenset(), frozenset()
        at_work = frozenset(one.name for one in self._work.at_work())
        return at_work, frozenset(one.name for one in self._work.sessions)

    @Slot()
    def _know_at_work(self) -> None:
        self.list.model.know_at_work(self._names()[0])
        self._fetch_session_soon()

    def _fetch_session_soon(self) -> None:
        if self._wanted.startswith(PREFIX) and not self._soon.isActive():
            self._soon.start()

    def _say_in_place(self, title: str, sentence: str) -> None:
        self.detail.say(title, sentence)
        self._beside.setCurrentWidget(self.detail)

    def _show(self, record: CaseRecord | None) -> None:
        self._beside.setCurrentWidget(self.detail)
        if not self._wanted:
            self.detail.say_nothing()
        elif record is None:
            self.detail.say(*CHOOSE)
        else:
            self.detail.show_record(record)

    def _failed(self, error: Exception) -> None:
        if not self._wanted:
            self.detail.say_nothing()
            return
        if isinstance(error, ContentRemoved):
            self._beside.setCurrentWidget(self.detail)
            self.detail.show_removed(error)
            return
        words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else str(error)
        self._say_in_place(tr("This record cannot be read"), words)

    # ---- verifying ----

    @Slot()
    def _verify(self) -> None:
        if self.checking.running:
            self.checking.stop()
            return
        self.checking.start()
        self.verify.setText(STOP)
        self._progressed(0)

    @Slot(int)
    def _progressed(self, entries: int) -> None:
        done = tr(" {entries} entries are good so far.", entries=numeral(entries)) if entries else ""
        self._say(Tone.INFO, tr("Checking the ledger…{done}", done=done))

    @Slot(str, str)
    def _verified(self, tone: str, words: str) -> None:
        self.verify.setText(VERIFY)
        self._say(Tone(tone), words)

    @Slot()
    def _stopped(self) -> None:
        self.verify.setText(VERIFY)
        self.notice.hide()

    @Slot(str)
    def _not_saved(self, words: str) -> None:
        self._say(Tone.WARN, words)

    def _say(self, tone: Tone, words: str) -> None:
        self.notice.say(tone, words)
        self.notice.show()

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        self.filters.stand_beside(self.saved)
        self.filters.stand_beside(self.show_changes)
        self.filters.stand_beside(self.exporting.button)
        self.filters.stand_beside(self.removal.button)
        self.filters.stand_beside(self.verify)
        self._among_changes = QWidget()
        bar = QHBoxLayout(self._among_changes)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(px(8))
        bar.addWidget(self.show_requests)
        bar.addLayout(readable(self._look, self.look_for_change), 1)
        self._among_changes.hide()
        split = Folding(self._look, 560, (160, 330))
        split.setHandleWidth(px(8))
        split.addWidget(self.list)
        self._beside = Pages()
        self._beside.addWidget(self.detail)
        self._beside.addWidget(self.session)
        split.addWidget(self._beside)
        split.setStretchFactor(1, 1)
        split.setSizes([px(310), px(860)])
        self.list.setMinimumWidth(px(220))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(px(8))
        whole.addWidget(self.filters)
        whole.addWidget(self._among_changes)
        whole.addWidget(self.progress)
        whole.addWidget(self.exporting.notice)
        whole.addWidget(self.removal.notice)
        whole.addWidget(self.notice)
        self._views = Pages()
        self._views.addWidget(split)
        self._views.addWidget(self.changes)
        whole.addWidget(self._views, 1)
        tab_in_reading_order(self)

    def _connect(self) -> None:
        self.filters.changed.connect(self._look_for)
        self.list.chosen.connect(self._fetch)
        self.list.read.connect(self._know_listed_agents)
        self.actions_of_list.only_agent.connect(lambda agent: self.ask_for({"agent": agent}))
        self.actions_of_list.ask_again.connect(self.ask_again)
        self.actions_of_list.said.connect(lambda words: self._say(Tone.INFO, words))
        self.list.clear_filters.connect(self.filters.clear)
        self.saved.chosen.connect(self.filters.restore)
        self.saved.failed.connect(self._not_saved)
        self.progress.content_known.connect(self.filters.know_content)
        self.verify.clicked.connect(self._verify)
        self.show_changes.toggled.connect(self._switch)
        self.show_requests.clicked.connect(lambda: self.show_changes.setChecked(False))
        self.look_for_change.textChanged.connect(self.changes.narrow)
        self.checking.progressed.connect(self._progressed)
        self.checking.found.connect(self._verified)
        self.checking.stopped.connect(self._stopped)
        self._cases.happened.connect(self._take)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(NEWS_MS)
        self._soon.timeout.connect(self._fetch_again)
        self.session.work_wanted.connect(self.work_wanted)
        if self._work is not None:
            self._work.moved.connect(self._know_at_work)
            self._know_at_work()
        self._cases.agents_known.connect(self._know_agents)
        self.destroyed.connect(self._reader.close)
        # In the detail, Ctrl+F searches the output.
        for place in (self.filters, self.list, self.look_for_change, self.changes):
            find = QShortcut(QKeySequence.StandardKey.Find, place)
            find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            find.activated.connect(self._focus_search)

    @Slot()
    def _focus_search(self) -> None:
        field = self.look_for_change if self.show_changes.isChecked() else self.filters.text
        field.setFocus()
        field.selectAll()

    @Slot(bool)
    def _switch(self, changes: bool) -> None:
        """Show the changes in place of the requests, or the requests again."""
        self.filters.setVisible(not changes)
        self._among_changes.setVisible(changes)
        (self.look_for_change if changes else self.show_changes).setFocus()
        self._views.setCurrentIndex(int(changes))
        if changes:
            self.changes.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._started:
            self._started = True
            self.list.look_for(self.filters.wanted)
        if self.show_changes.isChecked():
            self.changes.refresh()
        self._fetch_session_soon()
        self.progress.look()


def _touched(event: Event) -> str:
    """Return the request of which the ledger says something new; empty for other events."""
    match event:
        case RequestArrived():
            return event.request.id
        case RequestAssessed() | RequestDecided() | RunStarted() | RunFinished() | RequestClosed():
            return event.request_id
        case _:
            return ""
