"""The files of one kept sandbox: what each of its runs changed, and undoing a run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.back import back_button
from app.parts.empty import EmptyState
from app.parts.fold import Folding, Room, fit
from app.parts.plain import plain_label
from app.parts.summaries import SummaryModel
from app.parts.text.lines import list_view
from app.undo import words
from app.undo.changes import ChangedFilesView
from runner.model.errors import KnownError
from runner.model.events import SandboxesChanged
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.model.events import Event
    from runner.model.file_changes import RunChanges, UndoPlan

NO_RUNS = (tr("Nothing to undo"), tr("What each run changes in this sandbox is listed here."))
GONE = (tr("This sandbox is gone"), tr("Its files went with it. What its runs changed is in the History."))
LOOKING = tr("Looking at the files\N{HORIZONTAL ELLIPSIS}")
WORKING = tr("Putting the files back\N{HORIZONTAL ELLIPSIS}")


class FilesDialog(QDialog):
    """Opened with `open`, never with `exec`. Undoing is asked about first, and the focus is on what changes nothing."""

    def __init__(self, parent: QWidget, cards: Cards, bridge: EngineLink, look: Look, sandbox: str) -> None:
        super().__init__(parent)
        self._cards = cards
        self._bridge = bridge
        self._look = look
        self._sandbox = sandbox
        self._runs: tuple[RunChanges, ...] = ()
        self._plan: UndoPlan | None = None
        self._tasks = PageTasks("files of a sandbox", self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Files and Undo"))
        self.model = SummaryModel(self)
        self.view = list_view(look, self.model, tr("Runs in this sandbox, the newest first"))
        self.title = plain_label(role="title", wrap=True)
        self.about = plain_label(role="muted", wrap=True)
        self.changes = ChangedFilesView(look)
        self.message = plain_label(role="muted", wrap=True)
        self.nothing = EmptyState(look, "layers", *NO_RUNS)
        self.undo = QPushButton(tr("Undo this run\N{HORIZONTAL ELLIPSIS}"))
        self.undo.setAccessibleName(tr("Undo this run: shows what would be restored and asks first"))
        self.sure = QPushButton(tr("Put the files back"))
        self.sure.setProperty("kind", "danger")
        self.back = back_button()
        self.done_button = QPushButton(tr("Close"))
        self._lay_out()
        self._connect()
        self._refresh()

    def choose(self, request_id: str) -> None:
        """Show what one of the runs changed."""
        for row, run in enumerate(self._runs):
            if run.request_id == request_id:
                self.view.setCurrentIndex(self.model.index(row, 0))

    # ---- what is shown ----

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, SandboxesChanged) for event in events):
            self._refresh()

    def _refresh(self) -> None:
        kept = next((one for one in self._cards.kept if one.id == self._sandbox), None)
        runs = kept.runs[::-1] if kept is not None else ()
        if kept is not None and runs and runs == self._runs:
            return
        chosen = self._chosen
        self._runs = runs
        self.model.replace(tuple(map(words.run_row, runs)))
        self.nothing.say(*(GONE if kept is None else NO_RUNS))
        self._stack.setCurrentWidget(self._page if runs else self.nothing)
        self.undo.setVisible(bool(runs))
        if runs:
            row = next((row for row, run in enumerate(runs) if run.request_id == chosen), 0)
            self.view.setCurrentIndex(self.model.index(row, 0))
        else:
            self._rest()

    @property
    def _chosen(self) -> str:
        row = self.view.currentIndex().row()
        return self._runs[row].request_id if 0 <= row < len(self._runs) else ""

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, *_: object) -> None:
        self._rest()

    @Slot()
    def _rest(self) -> None:
        """Show what the chosen run changed."""
        self._plan = None
        row = self.view.currentIndex().row()
        if 0 <= row < len(self._runs):
            run = self._runs[row]
            self.title.setText(phrases.visible(run.title) or tr("Run {number}", number=run.number))
            self.about.setText(words.about(run))
            read = partial(self._bridge.runs.changed_file, run.sandbox, run.request_id)
            self.changes.show_changes(run.changes, None if run.no_undo else read)
            self.undo.setEnabled(not run.no_undo)
        self._show(asking=False)

    def _show(self, *, asking: bool) -> None:
        self.undo.setVisible(not asking and bool(self._runs))
        self.done_button.setVisible(not asking)
        self.view.setEnabled(not asking)
        for button in (self.sure, self.back):
            button.setVisible(asking)

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))

    # ---- undoing ----

    @Slot()
    def _ask(self) -> None:
        if chosen := self._chosen:
            self._say(LOOKING)
            self.undo.setEnabled(False)
            self._tasks.start("plan", self._show_plan(chosen, self._bridge.runs.plan_undo(self._sandbox, chosen)))

    async def _show_plan(self, request_id: str, answer: Awaitable[UndoPlan]) -> None:
        try:
            plan = await answer
        except KnownError as error:
            self._rest()
            self._say(str(error))
            return
        if request_id != self._chosen:
            self._say("")
            return
        self._say("")
        self._plan = plan
        heading, sentences = words.undoing(plan)
        self.title.setText(heading)
        self.about.setText(sentences)
        self.changes.show_changes(plan.changes, undoing=True)
        self._show(asking=True)
        self.back.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _go_back(self) -> None:
        self._say("")
        self._rest()

    @Slot()
    def _undo(self) -> None:
        plan, self._plan = self._plan, None
        if plan is not None:
            for button in (self.sure, self.back):
                button.setEnabled(False)
            self._say(WORKING)
            self._tasks.start("undo", self._put_back(plan, self._bridge.runs.undo(plan)))

    async def _put_back(self, plan: UndoPlan, answer: Awaitable[None]) -> None:
        said = tr(
            "The files are what they were before run {number}. The agent reads this with its next answer.",
            number=plan.run.number,
        )
        try:
            await answer
        except KnownError as error:
            said = tr("Not put back: {error}", error=error)
        for button in (self.sure, self.back):
            button.setEnabled(True)
        self._rest()
        self._say(said)

    # ---- building ----

    def _connect(self) -> None:
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.undo.clicked.connect(self._ask)
        self.sure.clicked.connect(self._undo)
        self.back.clicked.connect(self._go_back)
        self.done_button.clicked.connect(self.reject)
        self.finished.connect(self.changes.errands.close)
        self._cards.happened.connect(self._take)

    def _lay_out(self) -> None:
        px = self._look.px
        for button in (self.undo, self.sure, self.back, self.done_button):
            button.setAutoDefault(False)
        self.message.hide()
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(px(12), 0, 0, 0)
        column.setSpacing(px(4))
        for widget in (self.title, self.about):
            column.addWidget(widget)
        column.addWidget(self.changes, 1)
        self._page = Folding(self._look, 480, (80, 240))
        self._page.addWidget(self.view)
        self._page.addWidget(right)
        self._page.setStretchFactor(1, 1)
        self._page.setSizes([px(250), px(700)])
        self._stack = QStackedWidget()
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._page)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(8))
        buttons.addWidget(self.message, 1)
        buttons.addStretch()
        for button in (self.undo, self.back, self.sure, self.done_button):
            buttons.addWidget(button)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(px(16), px(14), px(16), px(14))
        whole.setSpacing(px(10))
        whole.addWidget(Room(self._stack), 1)
        whole.addLayout(buttons)
        fit(self, px(1000), px(640))
