"""The page of runs: a list at the left; output, code and gauges of the chosen one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.behaviour.view import BehaviourOfRun
from app.files.panel import FilesView
from app.parts.back import back_button
from app.parts.elide import ElidedLabel
from app.parts.empty import EmptyState
from app.parts.fold import Folding
from app.parts.gauges.meters import Meters, reached
from app.parts.key_names import key_text
from app.parts.plain import plain_label, set_tip
from app.parts.tabs import whole_tabs
from app.parts.text.code import CodeView
from app.parts.text.copies import offer_copies
from app.parts.text.lines import list_view
from app.parts.text.output import OutputView
from app.results.thumbnails import Thumbnails
from app.results.view import ResultsView
from app.running.kept import KeptSandboxList
from app.running.model import RunsModel, state_words
from app.state import attention
from runner.model.events import HostContacted, RunFinished, RunHeld, RunMeasured, RunObserved
from runner.model.request import NetworkMode
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.running.hosts import HostsOfRun
    from app.state.cards import Card, Cards
    from runner.model.events import Event
    from runner.model.result import CapturedFile, Result
    from runner.sandbox.output import Transcript

TICK_MS = 500
NOTHING = (tr("Nothing is running"), tr("What you approve runs here, with its output."))
NOT_SHOWN = (tr("This run cannot be shown"), tr("What happened is in the fault log. Stop all ends every run."))


class RunningPanel(QWidget):
    """Follows the store; stops a run when asked to."""

    def __init__(
        self,
        cases: Cards,
        bridge: EngineLink,
        look: Look,
        read: Callable[[CapturedFile], bytes],
        hosts: Callable[[QWidget], HostsOfRun],
        parent: QWidget | None = None,
    ) -> None:
        """`read` gives the content of a file that a run created; raises KnownError. `hosts` shows those of a run."""
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._card: Card | None = None
        self._unshown = ""
        """The run that could not be shown: only a person's choice tries it again."""
        self._source: Transcript | None = None
        self._over = False
        self._picked = False
        """Whether the person chose the run that is shown; else the newest is."""
        self._transcripts: dict[str, Transcript] = {}
        self.thumbnails = Thumbnails(read, self)
        self.model = RunsModel(cases, self.thumbnails.of, self)
        self.view = list_view(look, self.model, tr("Runs"))
        self.view.setMinimumHeight(look.px(64))
        offer_copies(self.view, self.model.copies)
        self.title = ElidedLabel()
        self.title.setProperty("role", "title")
        self.state = ElidedLabel()
        self.state.setProperty("role", "muted")
        self.output = OutputView(look)
        self.results = ResultsView(look, read, self.output)
        self.code = CodeView(look)
        self.files = FilesView(look, read)
        self.hosts = hosts(self)
        self.meters = Meters(look)
        self.message = plain_label(role="muted", wrap=True)
        self.kept = KeptSandboxList(cases, bridge, look)
        self._make_stopping()
        self.nothing = EmptyState(look, "activity", *NOTHING)
        self._ticker = QTimer(self)
        self._ticker.setInterval(TICK_MS)
        self._lay_out()
        self._connect()
        self._refresh()

    # ---- what is shown ----

    def show_run(self, card: Card) -> None:
        """Put one run on the right, or nothing at all where that fails."""
        with self._whole_or_nothing():
            self._show(card)

    @contextlib.contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        """Take the run off the screen where showing it fails: parts of it may stand beside parts of another one."""
        try:
            yield
        except Exception:
            self._unshown = "" if self._card is None else self._card.id
            self._card = self._source = None
            self.nothing.say(*NOT_SHOWN)
            self._stack.setCurrentWidget(self.nothing)
            raise

    def _show(self, card: Card) -> None:
        if card is not self._card:
            self._card, self._source, self._over = card, None, False
            self.title.setText(attention.headline(card))
            language = card.request.language.value if card.request.language else ""
            self.code.set_code(card.request.code, language, card.assessment.findings if card.assessment else ())
            networked = card.request.network is not NetworkMode.NONE
            self.meters.begin(card.request.limits, card.request, card.readings, networked=networked)
            self.hosts.show_run(card)
            self.behaviour.show_run(card)
            self.output.clear()
            self.results.clear()
            self._show_files(None)
            self._show_stopping(False)
            row = self.model.row_of(card.id)
            if row >= 0 and self.view.currentIndex().row() != row:
                self.view.setCurrentIndex(self.model.index(row, 0))
        self._follow()
        self._show_state()
        self._stack.setCurrentWidget(self._page)

    @property
    def shown(self) -> Card | None:
        return self._card

    def _follow(self) -> None:
        """Show the newest output, of a build or of the code; after the end the result's where there was none."""
        card = self._card
        if card is None:
            return
        source = self._transcript(card.id)
        if source is not None and source is not self._source:
            self._source = source
            self.output.set_source(source)
        if card.result is not None and not self._over:
            self._over = True
            self.meters.show_result(card.result)
            self.hosts.refresh()
            self._show_files(card.result)
            if card.id not in self._transcripts:
                self.output.set_text(card.result.stdout, card.result.stderr, card.result.order)
            self.results.show_result(card.result)

    def _show_files(self, result: Result | None) -> None:
        self.files.show_result(result)
        self.tabs.setTabText(self.tabs.indexOf(self.files), self.files.title)

    def _transcript(self, request_id: str) -> Transcript | None:
        """Return that of its build, while there is one; that of the run is held, as the engine drops it at the end."""
        if (build := self._bridge.runs.build(request_id)) is not None:
            return build[1]
        if request_id not in self._transcripts and (found := self._bridge.runs.transcript(request_id)) is not None:
            self._transcripts[request_id] = found
        return self._transcripts.get(request_id)

    def _show_state(self) -> None:
        card = self._card
        if card is None:
            return
        claim = phrases.claim(card.request)
        build = self._bridge.runs.build(card.id) if card.result is None else None
        words = state_words(card) if build is None else tr("Building {build}.", build=phrases.visible(build[0]))
        program = tr(" Its program {claim}.", claim=claim) if claim else ""
        self.state.setText(f"{phrases.claim_of(card.request, card.several)}: {words}{program}")
        set_tip(self.state, "\n".join((self.state.text(), *card.protections)))
        self.stop.setVisible(card.result is None)
        self.hold.setVisible(card.can_hold)
        self.hold.setText(tr("Pause") if card.held is None else tr("Resume"))
        if card.result is not None:
            self._show_stopping(False)

    # ---- what happens ----

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        mine = "" if self._card is None else self._card.id
        for event in events:
            if isinstance(event, RunMeasured) and event.request_id == mine:
                self.meters.add(event.usage)
            elif isinstance(event, HostContacted) and event.request_id == mine and self._card is not None:
                self.meters.network.set_hosts(reached(self._card.contacts.values()))
                self.hosts.contacted()
        if any(not isinstance(event, (RunMeasured, HostContacted, RunObserved)) for event in events):
            self._refresh()
        if self._card is not None and (
            self._source is None or any(isinstance(one, (RunFinished, RunHeld)) for one in events)
        ):
            with self._whole_or_nothing():
                self._follow()
                self._show_state()

    @Slot()
    def _refresh(self) -> None:
        shown = self._card
        self.view.selectionModel().blockSignals(True)
        self.model.refresh()
        row = self.model.row_of(shown.id) if shown else -1
        self.view.setCurrentIndex(self.model.index(row, 0) if row >= 0 else QModelIndex())
        self.view.selectionModel().blockSignals(False)
        listed = {card.id for card in self._cases.runs()}
        self._transcripts = {one: kept for one, kept in self._transcripts.items() if one in listed}
        for card in self._cases.running():
            self._transcript(card.id)
        if shown is None and (first := self.model.card(0)) is not None and first.id != self._unshown:
            self.show_run(first)
        if self.model.rowCount() == 0:
            self.nothing.say(*NOTHING)
            self._stack.setCurrentWidget(self.nothing)
        self._list.setVisible(self.model.rowCount() > 0 or bool(self._cases.kept))

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if (card := self.model.card(current.row())) is not None:
            self._picked = True
            self.show_run(card)

    @Slot()
    def _tick(self) -> None:
        if self._cases.count_running():
            self.model.tick()
            if self._card is not None and self._card.result is None:
                with self._whole_or_nothing():
                    self._follow()
                    self._show_state()
                self.hosts.changed()

    @Slot(str)
    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))

    @Slot(str)
    def _saved(self, path: str) -> None:
        self._say(tr("Saved to {path}.", path=path))

    @Slot()
    @Slot(object)
    def _look_into(self, file: CapturedFile | None = None) -> None:
        self.tabs.setCurrentWidget(self.files)
        if file is not None:
            self.files.choose(file)

    @Slot(int)
    def _turned(self, place: int) -> None:
        """Give files the space of the gauges while they are shown."""
        self.meters.setVisible(self.tabs.widget(place) is not self.files)

    # ---- pausing and stopping ----

    @Slot()
    def turn(self) -> None:
        """Pause the run that is shown, or resume it, where that is possible."""
        if self._card is not None and self._card.can_hold:
            self._bridge.runs.hold(self._card.id, self._card.held is None)

    @Slot()
    def _ask_stop(self) -> None:
        self._show_stopping(True)
        self.reason.clear()
        self.reason.setFocus()

    @Slot()
    def _stop(self) -> None:
        if self._card is not None and self._card.result is None:
            self._bridge.runs.stop(self._card.id, phrases.cleaned(self.reason.text()))
        self._show_stopping(False)

    @Slot()
    def _keep(self) -> None:
        self._show_stopping(False)

    def _show_stopping(self, asking: bool) -> None:
        self._asking.setVisible(asking)
        self.stop.setEnabled(not asking)

    # ---- building ----

    def _make_stopping(self) -> None:
        self.stop = QPushButton(tr("Stop\N{HORIZONTAL ELLIPSIS}"))
        self.stop.setProperty("kind", "danger")
        self.stop.setAccessibleName(tr("Stop this run, asks for a reason"))
        self.hold = QPushButton(tr("Pause"))
        self.hold.setToolTip(
            tr("Pause the run, or resume it; its time limit waits ({key})", key=key_text("Ctrl+Shift+P"))
        )
        self.hold.hide()
        self.reason = QLineEdit()
        self.reason.setMaxLength(phrases.REASON_LENGTH)
        self.reason.setPlaceholderText(tr("Reason for the agent (optional)"))
        self.reason.setAccessibleName(tr("Reason for stopping, sent to the agent"))
        self.stop_now = QPushButton(tr("Stop run"))
        self.stop_now.setProperty("kind", "danger")
        self.keep = back_button()
        self._asking = QWidget()
        row = QHBoxLayout(self._asking)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self._look.px(8))
        row.addWidget(self.reason, 1)
        row.addWidget(self.keep)
        row.addWidget(self.stop_now)
        self._asking.hide()

    def _lay_out(self) -> None:
        px = self._look.px
        self._list = QFrame()
        self._list.setProperty("card", True)
        rows = QVBoxLayout(self._list)
        rows.setContentsMargins(1, px(10), 1, px(4))
        rows.setSpacing(px(6))
        inset = QHBoxLayout()
        inset.setContentsMargins(px(12), 0, px(12), 0)
        inset.addWidget(plain_label(tr("Runs"), "title"))
        rows.addLayout(inset)
        rows.addWidget(self.view)
        rows.addWidget(self.kept)
        self._page = self._make_page()
        self._stack = QStackedWidget()
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._page)
        right = QFrame()
        right.setProperty("card", True)
        inside = QVBoxLayout(right)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(self._stack)
        split = Folding(self._look, 600, (0, 0))
        split.setHandleWidth(px(8))
        split.addWidget(self._list)
        split.addWidget(right)
        self._list.lower()  # first for a screen reader, as on the screen
        split.setStretchFactor(1, 1)
        split.setSizes([px(270), px(900)])
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(split)

    def _make_page(self) -> QWidget:
        px = self._look.px
        self.tabs = whole_tabs(tr("Parts of the run"))
        self.tabs.addTab(self.results, tr("Output"))
        self.tabs.addTab(self.code, tr("Code"))
        self.tabs.addTab(self.files, tr("Files"))
        self.hosts.join(self.tabs)
        self.behaviour = BehaviourOfRun(self._cases, self._look, self.tabs)
        words = QVBoxLayout()
        words.setSpacing(px(2))
        words.addWidget(self.title)
        words.addWidget(self.state)
        head = QHBoxLayout()
        head.setSpacing(px(10))
        head.addLayout(words, 1)
        head.addWidget(self.hold, alignment=Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.stop, alignment=Qt.AlignmentFlag.AlignTop)
        self.message.hide()
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(px(14), px(10), px(12), px(12))
        column.setSpacing(px(8))
        column.addLayout(head)
        for part in (self._asking, self.hosts.strip, self.tabs, self.message, self.meters):
            column.addWidget(part, int(part is self.tabs))
        return page

    def _connect(self) -> None:
        self.hold.clicked.connect(self.turn)
        key = QShortcut(QKeySequence("Ctrl+Shift+P"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        key.activated.connect(self.turn)
        self.stop.clicked.connect(self._ask_stop)
        self.stop_now.clicked.connect(self._stop)
        self.keep.clicked.connect(self._keep)
        self.reason.returnPressed.connect(self._stop)
        self.tabs.currentChanged.connect(self._turned)
        self.behaviour.foreseen.connect(self.results.say_foreseen)
        self.results.file_wanted.connect(self._look_into)
        self.results.files_wanted.connect(self._look_into)
        self.output.saved.connect(self._saved)
        self.output.failed.connect(self._say)
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.thumbnails.changed.connect(self.model.tick)
        self._ticker.timeout.connect(self._tick)
        self._cases.happened.connect(self._take)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ticker.start()
        newest = self.model.card(0)
        over = self._card is None or self._card.result is not None
        if newest is not None and over and (newest.running or not self._picked):
            self.show_run(newest)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._picked = False
        self._ticker.stop()
