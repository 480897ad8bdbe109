"""The page of agents: the list, adding one, revoking one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.agents.client_link import ClientLink
from app.agents.connecting import Connecting
from app.agents.delegates import HoursDelegate, NameDelegate, StateDelegate
from app.agents.model import COLUMNS, AgentsModel
from app.agents.settings import AgentSettings
from app.agents.welcome import Welcome, suggested_name
from app.link.page_tasks import PageTasks
from app.parts.clearing import clearable
from app.parts.confirm import ConfirmDialog
from app.parts.empty import EmptyState
from app.parts.flow import Flow
from app.parts.fold import FoldingRow, Pages
from app.parts.plain import plain_label, say
from runner.identity.agents import NAME
from runner.model.errors import KnownError
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from asyncio import Future

    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.identity.agents import Agent

RULE = tr("Up to 40 letters, digits, dots, hyphens and underscores.")
SEEN_MS = 5000
"""How often the times since agents were seen are brought up to date while somebody looks."""
NEEDS = {"Added": 900, "Hours": 640}
"""Columns, and the width of the page below which each is left out: an agent's own page has its date, Today its day."""
WHOLE_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class AgentsPanel(QWidget):
    """Adding answers with a token that is shown once."""

    tested = Signal()
    """A test request is on its way to the queue."""
    failed = Signal(str)
    """Why no test request could be sent."""
    day_wanted = Signal()
    """What became of requests today is to be read."""

    def __init__(self, cases: Cards, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("agents", self)
        self._adding = False
        """One at a time: a token is shown once, and a second one must not take its place unseen."""
        self.model = AgentsModel(cases, self)
        self.view = self._make_view()
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("Name, for example claude-code"))
        self.name.setAccessibleName(tr("Name of the new agent"))
        self.name.setMaxLength(60)
        clearable(self.name, look)
        self.message = plain_label(role="muted", wrap=True)
        self.add = QPushButton(tr("Add agent"))
        self.add.setProperty("kind", "primary")
        self.add.setAutoDefault(False)
        self.settings = QPushButton(tr("Settings\N{HORIZONTAL ELLIPSIS}"))
        self.settings.setToolTip(tr("Name, color, limits and pause of the selected agent"))
        self.settings.setAutoDefault(False)
        self.pause = QPushButton(tr("Pause"))
        self.pause.setToolTip(tr("Refuse the calls of the selected agent until you resume it; what waits stays open"))
        self.pause.setAutoDefault(False)
        self.revoke = QPushButton(tr("Revoke\N{HORIZONTAL ELLIPSIS}"))
        self.revoke.setProperty("kind", "danger")
        self.revoke.setAutoDefault(False)
        self.welcome = Welcome(cases, look)
        self.form = AgentSettings(cases, bridge, look)
        self.connecting = Connecting(ClientLink(bridge), cases, look)
        self.connect_program = QPushButton(tr("Connect a program"))
        self.connect_program.setAutoDefault(False)
        self.nobody = EmptyState(
            look,
            "plug",
            tr("No agent yet"),
            tr(
                "Connect the program that your agent runs in. Or give the agent a name above, and paste its"
                " configuration."
            ),
            tr("Connect a program"),
        )
        self._seen = QTimer(self)
        self._seen.setInterval(SEEN_MS)
        self._lay_out()
        self._connect()
        self.look_again()

    def begin_adding(self) -> None:
        """Put the focus where a name is typed, with one that is free."""
        self._stack.setCurrentWidget(self._list_page)
        if not self.name.text():
            self.name.setText(suggested_name(self._cases.agents or ()))
            self.name.selectAll()
        self.name.setFocus()

    def show_agent(self, name: str) -> None:
        """Show the list with this agent selected."""
        self._stack.setCurrentWidget(self._list_page)
        if (row := self.model.row_of(name)) >= 0:
            self.view.setCurrentIndex(self.model.index(row, 0))
        self.view.setFocus()

    @Slot()
    def begin_connecting(self) -> None:
        """Show the programs that can be connected."""
        self._stack.setCurrentWidget(self.connecting)
        self.connecting.open()

    @Slot()
    def look_again(self) -> None:
        """Ask for the list again."""
        self._cases.know_agents(self._bridge.agents.all())

    @Slot()
    def _refresh(self) -> None:
        row = self.view.currentIndex().row()
        chosen = self.model.agent(row)
        self.model.refresh()
        if chosen is not None and (row := self.model.row_of(chosen.name)) >= 0:
            self.view.setCurrentIndex(self.model.index(row, 0))
        page: QWidget = self.view if self.model.rowCount() else self.nobody
        self._rows.setCurrentWidget(page)
        self._choice_changed()

    # ---- adding ----

    @Slot()
    def _add(self) -> None:
        name = self.name.text().strip()
        if self._adding:
            return
        if not NAME.fullmatch(name):
            self._say(tr("This name cannot be used. {rule}", rule=RULE), "bad")
            return
        self._say(tr("Adding\N{HORIZONTAL ELLIPSIS}"), "muted")
        self._adding = True
        self._tasks.start("add", self._add_as(name, self._bridge.agents.add_agent(name)))

    async def _add_as(self, name: str, answer: Future[str]) -> None:
        try:
            token = await answer
        except KnownError as error:
            self._say(str(error), "bad")
        else:
            self._show_token(name, token)
        finally:
            self._adding = False

    @Slot(str)
    def _typed(self, text: str) -> None:
        self.add.setEnabled(bool(text.strip()))
        wrong = bool(text.strip()) and not NAME.fullmatch(text.strip())
        self._say(RULE if wrong else "", "bad" if wrong else "muted")

    def _show_token(self, name: str, token: str) -> None:
        self.name.clear()
        self._say("", "muted")
        self.welcome.welcome(name, token, self._cases.address)
        self._stack.setCurrentWidget(self.welcome)
        self.look_again()

    @Slot(str)
    def _test(self, name: str) -> None:
        self._tasks.attempt("test", self._bridge.agents.send_test(name), self.failed.emit)
        self.tested.emit()

    @Slot()
    def _done(self) -> None:
        self._stack.setCurrentWidget(self._list_page)
        self.view.setFocus()

    def _say(self, text: str, role: str) -> None:
        say(self.message, text, role)

    # ---- revoking ----

    @Slot()
    def _ask_revoke(self) -> None:
        agent = self.model.agent(self.view.currentIndex().row())
        if agent is None or agent.revoked:
            return
        open_now = sum(card.request.agent == agent.name for card in self._cases.waiting())
        what = tr("It is disconnected at once. Its token stops working, and its programs at work end.")
        if open_now:
            what += plural(
                " {count} open request will be withdrawn.", " {count} open requests will be withdrawn.", open_now
            )
        title = tr("Revoke {name}?", name=agent.name)
        ConfirmDialog(self.window(), title, what, tr("Revoke"), lambda yes: self._revoke_if(yes, agent.name)).open()

    def _revoke_if(self, yes: bool, name: str) -> None:
        if yes:
            answer = self._bridge.agents.revoke_agent(name)
            self._tasks.attempt("revoke", answer, lambda why: self._say(why, "bad"))

    @Slot()
    def _choice_changed(self) -> None:
        agent = self.model.agent(self.view.currentIndex().row())
        if agent is not None:
            # When Tab comes here, Qt makes the first row the current one without a mark: the buttons would mean it.
            self.view.selectionModel().select(self.view.currentIndex(), WHOLE_ROW)
        for button in (self.settings, self.pause, self.revoke):
            button.setEnabled(agent is not None and not agent.revoked)
        self.pause.setText(tr("Resume") if agent is not None and agent.paused and not agent.revoked else tr("Pause"))

    @Slot()
    def _pause_or_resume(self) -> None:
        """Pause the selected agent, or let it ask again: neither takes anything away, so nobody is asked."""
        agent = self.model.agent(self.view.currentIndex().row())
        if agent is not None:
            self._switch(agent)

    @Slot(object)
    def _switch(self, agent: Agent) -> None:
        if not agent.revoked:
            agents = self._bridge.agents
            answer = agents.resume_agent(agent.name) if agent.paused else agents.pause_agent(agent.name)
            self._tasks.attempt("pause", answer, lambda why: self._say(why, "bad"))

    @Slot()
    def open_settings(self) -> None:
        """Show the settings of the selected agent."""
        agent = self.model.agent(self.view.currentIndex().row())
        if agent is not None and not agent.revoked:
            self.form.show_agent(agent)
            self._stack.setCurrentWidget(self.form)

    # ---- building ----

    def _make_view(self) -> QTableView:
        view = QTableView()
        view.setModel(self.model)
        view.setAccessibleName(tr("Registered agents"))
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setTabKeyNavigation(False)
        view.setShowGrid(False)
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.verticalHeader().hide()
        view.verticalHeader().setDefaultSectionSize(self._look.px(46))
        view.setItemDelegateForColumn(0, NameDelegate(self._look, view))
        view.setItemDelegateForColumn(COLUMNS.index("Hours"), HoursDelegate(self._look, view))
        view.setItemDelegateForColumn(COLUMNS.index("State"), StateDelegate(self._look, view))
        across = view.horizontalHeader()
        across.setHighlightSections(False)
        across.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        across.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        across.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        across.setMinimumSectionSize(self._look.px(64))
        return view

    def _lay_out(self) -> None:
        px = self._look.px
        self._buttons = Flow((self.add, self.connect_program, self.settings, self.pause, self.revoke), px(8), left=True)
        self._head = FoldingRow()
        self._head.setSpacing(px(8))
        self._head.addWidget(self.name, 1)
        self._head.addLayout(self._buttons)
        title = plain_label(tr("Agents"), "title")
        self._rows = QStackedWidget()
        self._rows.addWidget(self.nobody)
        self._rows.addWidget(self.view)
        self._list_page = QFrame()
        self._list_page.setProperty("card", True)
        column = QVBoxLayout(self._list_page)
        column.setContentsMargins(px(16), px(14), px(16), px(14))
        column.setSpacing(px(10))
        column.addWidget(title)
        column.addLayout(self._head)
        column.addWidget(self.message)
        column.addWidget(self._rows, 1)
        self._stack = Pages()
        self._stack.addWidget(self._list_page)
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.connecting)
        self._stack.addWidget(self.form)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)
        self.add.setEnabled(False)
        self.message.hide()

    def _connect(self) -> None:
        self.name.textChanged.connect(self._typed)
        self.name.returnPressed.connect(self._add)
        self.add.clicked.connect(self._add)
        self.revoke.clicked.connect(self._ask_revoke)
        self.settings.clicked.connect(self.open_settings)
        self.pause.clicked.connect(self._pause_or_resume)
        self.view.activated.connect(self.open_settings)
        self.model.switched.connect(self._switch)
        self.form.done.connect(self._done)
        self.connect_program.clicked.connect(self.begin_connecting)
        self.nobody.pressed.connect(self.begin_connecting)
        self.connecting.done.connect(self._done)
        self.connecting.other.connect(self.begin_adding)
        self.connecting.changed.connect(self.look_again)
        self.welcome.done.connect(self._done)
        self.welcome.test.connect(self._test)
        self.view.selectionModel().currentChanged.connect(self._choice_changed)
        self.model.modelReset.connect(self._choice_changed)
        self._seen.timeout.connect(self.look_again)
        self._cases.agents_known.connect(self._refresh)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._buttons.fit(self.width() - 2 * self._look.px(16))
        self._head.fold(self.width() < self._look.px(640))
        for column, needed in NEEDS.items():
            self.view.setColumnHidden(COLUMNS.index(column), self.width() < self._look.px(needed))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._seen.start()
        if not event.spontaneous():
            self.day_wanted.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._seen.stop()
