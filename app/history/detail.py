"""One request of the history: what became of it, its code, its output and everything the ledger says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.behaviour.view import BehaviourView
from app.behaviour.words import TAB
from app.files.panel import FilesView
from app.history import words
from app.history.facts import RecordFacts
from app.history.removed_content import RemovedView
from app.network.contacts import ContactsView
from app.packages.view import PlanView
from app.parts.badge import Badge
from app.parts.elide import ElidedLabel
from app.parts.empty import EmptyState
from app.parts.fold import FoldingRow
from app.parts.gauges.run_strips import OutputTimes
from app.parts.gauges.timeline import RunTimeline
from app.parts.plain import plain_label
from app.parts.tabs import whole_tabs
from app.parts.text.code import CodeView
from app.parts.text.copying import CopyButton
from app.parts.text.output import OutputView
from app.results.view import ResultsView
from app.state import attention
from app.undo import words as undo
from app.undo.changes import ChangedFilesView
from runner.audit.history.terms import SoughtWords
from runner.model.request import SENT, NetworkMode
from runner.model.translation import to_translate, tr, translated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtGui import QResizeEvent

    from app.class_reasons.keeping import CaseKeeping
    from app.look.look import Look
    from runner.audit.history.search import CaseRecord, ContentRemoved
    from runner.model.result import CapturedFile

VERSION = to_translate("Your version")
"""The tab of what a person approved in place of what was asked."""
NO_OUTPUT = (tr("Nothing ran"), tr("There is no output."))
WITHHELD_OUTPUT = (tr("Tried only"), tr("The agent got no output. What the trial did stands under Trial."))
WITHHELD = to_translate("Trial")
"""The tab of an outcome that the agent did not get."""
VARIABLES, INPUT, KNOWN_FILES = to_translate("Variables"), to_translate("Input"), to_translate("Known files")
PROGRAMS = to_translate("Programs of packages")
CHOOSE = (tr("Nothing chosen"), tr("Choose a request to see its code, its output and who decided."))
NOT_SHOWN = (
    tr("This record cannot be shown"),
    tr("What happened is in the fault log. The history itself is as it was written."),
)
_DOT = " \N{MIDDLE DOT} "


def _try_button() -> QPushButton:
    button = QPushButton(tr("Test rules"))
    button.setToolTip(tr("Test this request against the current rules; runs nothing"))
    button.setAutoDefault(False)
    return button


class Detail(QFrame):
    """Shows one record at a time; more of the same request changes only what is new."""

    try_wanted = Signal(str, str)
    """Id and title of a request of which somebody wants to know what would happen to it now."""

    def __init__(
        self,
        look: Look,
        open_folder: Callable[[Path], bool],
        read: Callable[[CapturedFile], bytes],
        keeping: CaseKeeping | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`read` gives the content of a file that a run created; raises KnownError. `keeping` as in `WhySection`."""
        super().__init__(parent)
        self._look = look
        self._record: CaseRecord | None = None
        self._sought = SoughtWords("")
        self.setProperty("card", True)
        self.title = ElidedLabel()
        self.title.setProperty("role", "title")
        self.badge = Badge(look, None)
        self.badge.hide()
        self.about = ElidedLabel()
        self.about.setProperty("role", "muted")
        self.outcome = plain_label(wrap=True)
        self.outcome.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.outcome.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.copy = CopyButton(tr("Copy code"), tr("Copy the code"))
        self.try_now = _try_button()
        self.code = CodeView(look)
        self.output = OutputView(look)
        self.results = ResultsView(look, read, self.output)
        self.timeline = RunTimeline(look)
        self._times: OutputTimes | None = None
        self.peaks = plain_label(role="small", wrap=True)
        self.message = plain_label(role="muted", wrap=True)
        self.no_output = EmptyState(look, "ban", *NO_OUTPUT)
        self.files = FilesView(look, read)
        self.changes = ChangedFilesView(look)
        self.hosts = ContactsView(look)
        self.behaviour = BehaviourView(look)
        self.plan = PlanView(look)
        self.facts = RecordFacts(look, open_folder, keeping)
        self.extras = {
            name: CodeView(look) for name in (VERSION, WITHHELD, VARIABLES, INPUT, SENT, KNOWN_FILES, PROGRAMS)
        }
        self.nothing = EmptyState(look, "history", *CHOOSE)
        self._blank = QWidget()
        self.gone = RemovedView(look)
        self._lay_out()
        self._wanted_tab: QWidget | None = None
        """The tab that the person chose last; None while nobody has chosen one."""
        self._connect()

    def _connect(self) -> None:
        self.try_now.clicked.connect(self._try)
        self.timeline.pointed.connect(self._point_at_line)
        self.output.pane.line_pressed.connect(self._point_at_moment)
        self.tabs.currentChanged.connect(self._tab_chosen)
        self.facts.line_picked.connect(self._show_line)
        self.behaviour.foreseen.connect(self.results.say_foreseen)
        self.results.file_wanted.connect(self._look_into)
        self.results.files_wanted.connect(self._look_into)
        self.output.saved.connect(self._saved)
        self.output.failed.connect(self._say)

    @Slot()
    @Slot(object)
    def _look_into(self, file: CapturedFile | None = None) -> None:
        self.tabs.setCurrentWidget(self.files)
        if file is not None:
            self.files.choose(file)

    @Slot(int)
    def _show_line(self, line: int) -> None:
        self.tabs.setCurrentWidget(self.code)
        self.code.scroll_to(line)

    def look_for(self, text: str) -> None:
        """Mark the words of a search in code and output."""
        words = SoughtWords(text)
        found = words.spans if words else None
        if words != self._sought:
            self._sought = words
            self.code.marks.show(found)
            self.extras[VERSION].marks.show(found)
            self.output.mark(found)

    @property
    def record(self) -> CaseRecord | None:
        return self._record

    @property
    def headline(self) -> str:
        """What the request that is shown would do, as short as in the list; empty where none is shown."""
        record = self._record
        return "" if record is None else attention.headline_of(record.assessment, record.request)

    def show_record(self, record: CaseRecord) -> None:
        """Put `record` on screen, or nothing at all where that fails.

        The tab stays what the person chose; Output gives way to Code while there is no output.
        """
        before = self._record
        if record == before:
            return
        try:
            self._show(record, before)
        except Exception:
            # Parts of it may stand beside parts of the record before: none of either is to be seen.
            self.say(*NOT_SHOWN)
            raise
        self._record = record

    def _show(self, record: CaseRecord, before: CaseRecord | None) -> None:
        same = before is not None and before.row.id == record.row.id
        self._show_head(record)
        self.facts.show_record(record)
        if not same or before is None or before.assessment != record.assessment:
            self._show_code(record)
        if not same or before is None or before.result != record.result:
            self._show_output(record)
        self._show_extras(record)
        self._choose_tab(record)
        self._stack.setCurrentWidget(self._page)

    def _choose_tab(self, record: CaseRecord) -> None:
        wanted = self._wanted_tab or self._ran
        if wanted is self._ran and record.result is None:
            wanted = self.code
        with QSignalBlocker(self.tabs):
            self.tabs.setCurrentWidget(wanted)

    @Slot()
    def _tab_chosen(self) -> None:
        self._wanted_tab = self.tabs.currentWidget()

    @Slot(float)
    def _point_at_line(self, moment: float) -> None:
        """Go to the line of output that was the last one at a moment of the run."""
        if self._times is not None and (line := self._times.line_at(moment)) is not None:
            self.output.pane.show_line(line)
            self.results.ensureWidgetVisible(self.output)

    @Slot(int)
    def _point_at_moment(self, line: int) -> None:
        if self._times is not None and (moment := self._times.moment_of(line)) is not None:
            self.timeline.point(moment)

    def say(self, title: str, sentence: str) -> None:
        """Show words in place of a record."""
        self._record = None  # so that the next one is shown whole
        self.nothing.say(title, sentence)
        self._stack.setCurrentWidget(self.nothing)

    def say_nothing(self) -> None:
        """Show no record, and no words: those beside the empty or broken list are enough."""
        self._record = None
        self._stack.setCurrentWidget(self._blank)

    def show_removed(self, error: ContentRemoved) -> None:
        """Show what is left of a request whose content was removed."""
        self._record = None
        self.gone.show_facts(error)
        self._stack.setCurrentWidget(self.gone)

    @Slot()
    def _try(self) -> None:
        if self._record is not None:
            self.try_wanted.emit(self._record.row.id, phrases.title(self._record.request))

    # ---- parts ----

    def _show_head(self, record: CaseRecord) -> None:
        request, assessment = record.request, record.assessment
        # Whole, where there is room: the short form in the list leaves out what else it would do.
        self.title.setText(attention.sentence_of(assessment) or attention.headline_of(assessment, request))
        level = attention.of_assessment(assessment)
        # As in the list: where nothing was found it stays calm; the tab Record says so.
        self.badge.setVisible(level is not None)
        self.badge.set_level(level)
        self.badge.setToolTip(tr("{name} class", name=assessment.level.name) if assessment is not None else "")
        about = (
            phrases.quoted_title(request),
            phrases.visible(request.agent),
            phrases.language(request.language),
            phrases.when(record.row.arrived_at),
        )
        self.about.setText(_DOT.join(part for part in about if part))
        self.outcome.setText(words.outcome(record))
        self.copy.set_text_to_copy(request.code)

    def _show_code(self, record: CaseRecord) -> None:
        language = record.request.language.value if record.request.language else ""
        findings = record.assessment.findings if record.assessment else ()
        self.code.set_code(record.request.code, language, findings)
        self.code.marks.show(self._sought.spans if self._sought else None)

    def _show_output(self, record: CaseRecord) -> None:
        result = record.result
        self._say("")
        self.files.show_result(result)
        place = self.tabs.indexOf(self.files)
        self.tabs.setTabText(place, self.files.title)
        self.tabs.setTabVisible(place, result is not None)
        self._show_hosts(record)
        self._show_behaviour(record)
        self._times = None
        if result is None:
            self.output.clear()
            self.results.clear()
            self.no_output.say(*(NO_OUTPUT if words.withheld(record) is None else WITHHELD_OUTPUT))
            self._ran.setCurrentWidget(self.no_output)
            return
        self.output.set_text(result.stdout, result.stderr, result.order)
        self.output.mark(self._sought.spans if self._sought else None)
        self.results.show_result(result)
        self.peaks.setText(words.peaks(result))
        self.peaks.setVisible(bool(self.peaks.text()))
        self._times = OutputTimes(result)
        self.timeline.begin(result.meta.limits, record.request, ())
        self.timeline.show_result(result)
        self._ran.setCurrentWidget(self._run)

    def _show_hosts(self, record: CaseRecord) -> None:
        """Show which hosts the run tried to reach, where it had a network or tried without."""
        result = record.result
        contacts = result.contacts if result is not None else ()
        self.hosts.show_contacts(contacts, result.contacts_left_out if result is not None else 0)
        place = self.tabs.indexOf(self.hosts)
        self.tabs.setTabText(place, self.hosts.title)
        networked = record.request.network is not NetworkMode.NONE
        self.tabs.setTabVisible(place, result is not None and (networked or bool(contacts)))

    def _show_behaviour(self, record: CaseRecord) -> None:
        """Show what the run did, beside what was foreseen; or that its sandbox does not report it."""
        run = undo.recorded(record)
        changes = None if run is None else run.changes
        self.behaviour.show_result(record.result, words.weighed(record), record.request, changes)
        place = self.tabs.indexOf(self.behaviour)
        self.tabs.setTabText(place, self.behaviour.title)
        self.tabs.setTabVisible(place, record.result is not None and record.result.observed is not None)

    def _show_extras(self, record: CaseRecord) -> None:
        """Show tabs for what most requests do not have."""
        request = record.request
        texts = {
            VERSION: words.edited(record),
            WITHHELD: words.withheld_text(record),
            VARIABLES: "" if request.context in ("", "{}") else request.context,
            INPUT: request.stdin,
            SENT: words.sent(record),
            KNOWN_FILES: "\n".join(f"{one.path}:\n{one.text}" for one in request.known),
            PROGRAMS: "\n".join(f"{part.name}:\n{part.text}" for part in request.programs),
        }
        for name, view in self.extras.items():
            view.set_code(texts[name], request.language.value if name == VERSION and request.language else "")
            self.tabs.setTabVisible(self.tabs.indexOf(view), bool(texts[name]))
        run = undo.recorded(record)
        self.changes.show_changes(None if run is None else run.changes)
        self.tabs.setTabVisible(self.tabs.indexOf(self.changes), run is not None)
        self.tabs.setTabVisible(self.tabs.indexOf(self.plan), request.plan is not None)
        if request.plan is not None:
            self.plan.show_plan(request.plan, request.domains)

    @Slot(str)
    def _saved(self, path: str) -> None:
        self._say(tr("Saved to {path}.", path=path))

    @Slot(str)
    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        self.tabs = whole_tabs(tr("Parts of the record"))
        self.tabs.addTab(self._make_run(), tr("Output"))
        self.tabs.addTab(self.code, tr("Code"))
        self.tabs.addTab(self.files, tr("Files"))
        self.tabs.addTab(self.changes, tr("Changes"))
        self.tabs.addTab(self.behaviour, TAB)
        self.tabs.addTab(self.facts, tr("Record"))
        self.tabs.addTab(self.hosts, tr("Network"))
        self.tabs.addTab(self.plan, tr("Packages"))
        for name, view in self.extras.items():
            view.setAccessibleName(translated(name))
            self.tabs.addTab(view, translated(name))
        self._top, titles, buttons = FoldingRow(), QHBoxLayout(), QHBoxLayout()
        for row in (self._top, titles, buttons):
            row.setSpacing(px(10))
        titles.addWidget(self.title, 1)
        titles.addWidget(self.badge)
        buttons.addWidget(self.try_now)
        buttons.addWidget(self.copy)
        self._top.addLayout(titles, 1)
        self._top.addLayout(buttons)
        self._page = QWidget()
        column = QVBoxLayout(self._page)
        column.setContentsMargins(px(14), px(10), px(12), px(12))
        column.setSpacing(px(4))
        column.addLayout(self._top)
        column.addWidget(self.about)
        column.addWidget(self.outcome)
        column.addSpacing(px(4))
        column.addWidget(self.tabs, 1)
        self._stack = QStackedWidget()
        for page in (self._blank, self.nothing, self._page, self.gone):
            self._stack.addWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(1, 1, 1, 1)
        whole.addWidget(self._stack)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._top.fold(self.width() < self._look.px(480))

    def _make_run(self) -> QWidget:
        self._run = QWidget()
        column = QVBoxLayout(self._run)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._look.px(8))
        column.addWidget(self.timeline)
        column.addWidget(self.results, 1)
        column.addWidget(self.message)
        column.addWidget(self.peaks)
        self._ran = QStackedWidget()
        self._ran.addWidget(self.no_output)
        self._ran.addWidget(self._run)
        return self._ran
