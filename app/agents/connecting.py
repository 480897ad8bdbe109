"""Connecting a program in the window: its tile, what would change in its configuration, and waiting for its call."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.agents.tile import SPACING, TILE, ClientTile
from app.link.page_tasks import PageTasks
from app.parts.fold import Pages
from app.parts.gauges.state_ring import RingState, StateRing
from app.parts.plain import plain_label
from runner.clients.managed import advice, standing
from runner.model.errors import KnownError
from runner.model.shown import hides
from runner.model.translation import tr

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from app.agents.client_link import ClientLink, ClientState
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.clients.client import Client
    from runner.clients.connection import ConnectionPlan

EMBEDDED_TEXT = 170
"""Height of the difference where it stands between other things."""
UNGUARDED = tr("Without this, only what it sends to Assent is asked; its own shell and edits are not.")
UNHOOKED = tr("Only what it sends to Assent is asked; its own shell and edits are not: no hook of it is reliable.")
GUARDED = tr("What you approve of these, it runs on your machine itself, not in a sandbox.")
HOOKED = tr("Its own shell, edits and fetches are asked for as well. {guarded}", guarded=GUARDED)


_FRAME = 2
"""The lines of the card at its left and right."""


class Connecting(QFrame):
    """Tiles, then one program. Nothing is written before Connect, which writes what is on screen."""

    done = Signal()
    other = Signal()
    """A program that is not among the tiles."""
    changed = Signal()
    """An agent was registered or revoked."""
    turned = Signal()
    """Another program is shown, or the tiles."""

    def __init__(
        self, link: ClientLink, cases: Cards, look: Look, parent: QWidget | None = None, *, embedded: bool = False
    ) -> None:
        """`embedded`: it is part of a page that has a heading, and nothing is behind its tiles."""
        super().__init__(parent)
        self._link = link
        self._cases = cases
        self._look = look
        self._embedded = embedded
        self._tasks = PageTasks("connecting", self)
        self._client: Client | None = None
        self._plan: ConnectionPlan | None = None
        self._waiting_since = 0.0
        self._removing = False
        self.tiles: list[QPushButton] = []
        self._standings: list[tuple[ClientTile, ClientState]] = []
        self.setProperty("card", not embedded)
        self.ring = StateRing(look, size=20)
        self.title = plain_label(tr("Connect a program"), "strong" if embedded else "title", wrap=True)
        self.sentence = plain_label(role="muted", wrap=True)
        self.hook = QCheckBox(tr("Also ask here before its own shell, edits and fetches"))
        self.about_hook = plain_label(role="small", wrap=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(look.mono())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("What would change"))
        self.back, self.undo, self.go = self._button(tr("Back")), self._button(tr("Undo")), self._button(tr("Connect"))
        self.go.setProperty("kind", "primary")
        self._lay_out()
        self.back.clicked.connect(self._back)
        self.undo.clicked.connect(self._ask_removal)
        self.go.clicked.connect(self._go)
        self.hook.toggled.connect(self._show_again)
        cases.agents_known.connect(self._look_for_call)
        self._show_buttons()

    def open(self) -> None:
        """Show the tiles, as things are now."""
        self._client, self._plan, self._waiting_since, self._called = None, None, 0.0, False
        self.title.setText(tr("Connect a program"))
        self._say(tr("Which program does your agent run in? Assent shows what it would write before it writes."))
        self._turn_to(self._grid_page)
        self._show_buttons()
        self._tasks.start("states", self._fill())

    @property
    def busy(self) -> bool:
        """Whether one program was chosen."""
        return self._client is not None

    # ---- tiles ----

    async def _fill(self) -> None:
        try:
            self._show_tiles(await self._link.states())
        except KnownError as error:
            self._say(str(error))

    def _show_tiles(self, states: Sequence[ClientState]) -> None:
        for tile in self.tiles:
            self._grid.removeWidget(tile)
            tile.deleteLater()
        self.tiles, self._standings = [], []
        for state in states:
            tile = ClientTile(self._look, state.client.name, *_standing(state, self._uncalled()))
            self._standings.append((tile, state))
            tile.setToolTip(phrases.visible(state.problem))
            tile.clicked.connect(lambda _=False, state=state: self._choose(state))
            self.tiles.append(tile)
        other = ClientTile(self._look, tr("Another program"), tr("set up by hand"), "key-round")
        other.clicked.connect(self.other)
        self.tiles.append(other)
        self._arrange()
        # Not from another step of the page, whose words somebody may be reading.
        focused = self.window().focusWidget()
        if not self._embedded or focused is None or focused.isAncestorOf(self) or self.isAncestorOf(focused):
            self.tiles[0].setFocus()

    def _uncalled(self) -> set[str]:
        """Return the names of the agents that have never called."""
        return {agent.name for agent in self._cases.agents or () if not agent.last_seen}

    def _arrange(self) -> None:
        room = self.width() - (0 if self._embedded else self._look.px(32) + _FRAME)
        across = max(1, (room + self._look.px(SPACING)) // self._look.px(TILE + SPACING))
        for at, tile in enumerate(self.tiles):
            self._grid.addWidget(tile, at // across, at % across)
            # A stack is as high as its highest page for its width, also one below.
            tile.setHidden(self._stack.currentWidget() is not self._grid_page)

    def _turn_to(self, page: QWidget) -> None:
        self._stack.setCurrentWidget(page)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    # ---- one program ----

    def _choose(self, state: ClientState) -> None:
        self._client, self._removing, self._waiting_since, self._called = state.client, False, 0.0, False
        self._hooked = state.hooked
        self.hook.blockSignals(True)
        self.hook.setChecked(state.hooked)
        self.hook.blockSignals(False)
        self._show_again()

    @Slot()
    def _show_again(self) -> None:
        if self._client is not None:
            self._ask(self._link.plan(self._client, hook=self.hook.isChecked() and self._client.hook is not None))

    @Slot()
    def _ask_removal(self) -> None:
        if self._client is not None:
            self._removing = True
            self._ask(self._link.removal(self._client))

    def _ask(self, answer: Future[ConnectionPlan]) -> None:
        self._plan = None
        self.go.setEnabled(False)
        self._tasks.cancel()
        self._tasks.start("plan", self._show_plan(answer))

    async def _show_plan(self, answer: Future[ConnectionPlan]) -> None:
        client = self._client
        assert client is not None
        self._turn_to(self._change_page)
        try:
            plan = await answer
        except KnownError as error:
            self.title.setText(client.name)
            self._say(str(error))
            self.text.clear()
            self._show_buttons()
            return
        self._plan = plan
        self._waiting_since = 0.0
        self.text.setPlainText(_written_out(plan.difference))
        if self._removing:
            self.title.setText(tr("Disconnect {name}", name=client.name))
            end = tr(" and the token of {agent} stops working", agent=plan.agent) if plan.agent else ""
            self._say(
                tr("This is taken back{end}.", end=end)
                if plan.needed
                else tr("{name} is not connected.", name=client.name)
            )
        elif plan.needed:
            self.title.setText(tr("Connect {name}", name=client.name))
            files = tr(" and ").join(str(change.file.path) for change in plan.needed)
            self._say(
                tr(
                    "This is added to {files}, for the agent {agent}. The rest stays as it is.",
                    files=phrases.visible(files),
                    agent=plan.agent,
                )
            )
        else:
            self._show_connected(client, plan.agent)
        self._show_buttons()

    def _show_connected(self, client: Client, name: str) -> None:
        """Say that nothing is left to write, and whether the first call has come."""
        agent = next((one for one in self._cases.agents or () if one.name == name and not one.revoked), None)
        if agent is None or agent.last_seen:
            self.title.setText(tr("{name} is connected", name=client.name))
            self._say(tr("Its agent is {name}.", name=name))
            return
        self._agent, self._waiting_since = name, agent.created_at
        self.title.setText(tr("{name}: waiting for its first call", name=client.name))
        self._say(tr("Its agent is {name}. {after}", name=name, after=client.after))

    @Slot()
    def _go(self) -> None:
        plan = self._plan
        if plan is None:
            self.done.emit()
            return
        self._plan, focused = None, self.go.hasFocus()
        self.go.setEnabled(False)
        self._tasks.start("write", self._write(plan, focused=focused))

    async def _write(self, plan: ConnectionPlan, *, focused: bool) -> None:
        try:
            if self._removing:
                await self._link.disconnect(plan)
            else:
                await self._link.connect(plan)
        except KnownError as error:
            self._say(str(error))
            self._show_buttons()
            return
        self.changed.emit()
        if self._removing:
            self.open()
            return
        self._waiting_since = time.time()
        self.title.setText(tr("{name}: waiting for its first call", name=plan.client.name))
        project = f" {advice(plan.client.hook)}" if plan.setup.hook and plan.client.hook is not None else ""
        self._say(tr("Written. {after}{project}", after=plan.client.after, project=project))
        self._agent = plan.agent
        self._show_buttons()
        if focused:
            self.go.setFocus()  # it was off while the file was written, and lost the focus by that

    @Slot()
    def _look_for_call(self) -> None:
        for tile, state in self._standings:
            tile.show_standing(*_standing(state, self._uncalled()))
        if not self._waiting_since or self._client is None:
            return
        called = (
            agent.last_seen >= self._waiting_since for agent in self._cases.agents or () if agent.name == self._agent
        )
        if any(called):
            self._waiting_since, self._called = 0.0, True
            self.title.setText(tr("{name} is connected", name=self._client.name))
            self._say(tr("Its first call has come."))
            self._show_buttons()

    @Slot()
    def _back(self) -> None:
        if self._client is None:
            self.done.emit()
        else:
            self.open()

    # ---- building ----

    def _show_buttons(self) -> None:
        plan, client = self._plan, self._client
        self.back.setVisible(client is not None or not self._embedded)
        self.title.setVisible(client is not None or not self._embedded)
        self._show_ring()
        self.turned.emit()
        needed = plan is not None and bool(plan.needed)
        written = client is not None and plan is None and self._stack.currentWidget() is self._change_page
        self.go.setVisible(client is not None)
        self.go.setEnabled(client is not None)
        self.go.setText((tr("Disconnect") if self._removing else tr("Connect")) if needed else tr("Done"))
        if plan is not None and not needed:
            self._plan = None
        self.undo.setVisible(client is not None and not needed and not self._removing and (written or plan is not None))
        offered = client is not None and not self._removing and not self._waiting_since
        self.hook.setVisible(offered and client is not None and client.hook is not None and not self._hooked)
        self.about_hook.setVisible(offered)
        if client is not None:
            asked = HOOKED if self._hooked else GUARDED if self.hook.isChecked() else UNGUARDED
            if client.hook is not None and (self._hooked or self.hook.isChecked()):
                asked = f"{asked} {standing(client.hook)}"
            self.about_hook.setText(UNHOOKED if client.hook is None else asked)
        self.text.setVisible(bool(self.text.toPlainText()) and (needed or bool(self._waiting_since)))

    def _show_ring(self) -> None:
        """Show the ring while a first call is waited for, and once it has come."""
        self.ring.show_state(RingState.WAITING if self._waiting_since else RingState.DONE)
        self.ring.setVisible(bool(self._waiting_since) or self._called)

    def _say(self, text: str) -> None:
        self.sentence.setText(text)

    @staticmethod
    def _button(text: str) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        return button

    def _lay_out(self) -> None:
        px = self._look.px
        self._agent = ""
        self._called = self._hooked = False
        self._grid_page, self._change_page = _TilePage(), QWidget()
        self._grid_page.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._grid = QGridLayout(self._grid_page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(px(SPACING))
        self._grid.setAlignment(Qt.AlignmentFlag.AlignTop)
        change = QVBoxLayout(self._change_page)
        change.setContentsMargins(0, 0, 0, 0)
        change.setSpacing(px(10))
        change.addWidget(self.hook)
        change.addWidget(self.about_hook)
        change.addWidget(self.text, 1)
        change.addStretch()
        self._stack = Pages() if self._embedded else QStackedWidget()
        self._stack.addWidget(self._grid_page)
        self._stack.addWidget(self._change_page)
        last = QHBoxLayout()
        last.setSpacing(px(8))
        last.addWidget(self.back)
        last.addStretch()
        last.addWidget(self.undo)
        last.addWidget(self.go)
        if self._embedded:
            self.text.setFixedHeight(px(EMBEDDED_TEXT))
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self.ring)
        head.addWidget(self.title, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(*((0, 0, 0, 0) if self._embedded else (px(16), px(14), px(16), px(14))))
        column.setSpacing(px(10))
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addWidget(self._stack, 1)
        column.addLayout(last)


def _standing(state: ClientState, uncalled: set[str]) -> tuple[str, str, str]:
    """Return how things stand with a program in words, with an icon and its ink."""
    if state.problem:
        return tr("cannot be read"), "triangle-alert", "medium"
    if state.agent:
        if state.agent in uncalled:
            return tr("no call yet"), "check", "accent_ink"
        words = (
            tr("connected")
            if state.agent == state.client.id
            else tr("connected as {agent}", agent=phrases.visible(state.agent))
        )
        return words, "circle-check", "low"
    return (tr("installed"), "check", "accent_ink") if state.installed else (tr("not found"), "", "muted")


def _written_out(text: str) -> str:
    """Return `text`, line by line, with every character that would hide something or turn the text around."""
    return "".join(f"\\u{{{ord(one):x}}}" if one not in "\n\t" and hides(one) else one for one in text)


class _TilePage(QWidget):
    """As wide as there is room: the tiles that stood side by side must not keep it as wide as it was."""

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())
