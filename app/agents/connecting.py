"""Connecting a program in the window: its tile, what would change in its configuration, and waiting for its call."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.page_tasks import PageTasks
from app.parts.plain import plain_label
from runner.clients.managed import advice
from runner.model.errors import KnownError
from runner.model.shown import hides

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from app.agents.client_link import ClientLink, ClientState
    from app.cards import Cards
    from app.look.look import Look
    from runner.clients.client import Client
    from runner.clients.connection import ConnectionPlan

TILE, TALL = 168, 64
"""Least width and height of a tile, in pixels where the text has its usual size."""
UNGUARDED = "Without this, only what it sends to Assent is asked; its own shell and edits are not."


class Connecting(QFrame):
    """Tiles, then one program. Nothing is written before Connect, which writes what is on screen."""

    done = Signal()
    other = Signal()
    """A program that is not among the tiles."""
    changed = Signal()
    """An agent was registered or revoked."""

    def __init__(self, link: ClientLink, cases: Cards, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._cases = cases
        self._look = look
        self._tasks = PageTasks("connecting", self)
        self._client: Client | None = None
        self._plan: ConnectionPlan | None = None
        self._waiting_since = 0.0
        self._removing = False
        self.tiles: list[QPushButton] = []
        self.setProperty("card", True)
        self.title = plain_label("Connect a program", "title", wrap=True)
        self.sentence = plain_label(role="muted", wrap=True)
        self.hook = QCheckBox("Also ask here before its own shell, edits and fetches")
        self.hook.setToolTip(UNGUARDED)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(look.mono())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("What would change")
        self.back, self.undo, self.go = self._button("Back"), self._button("Undo"), self._button("Connect")
        self.go.setProperty("kind", "primary")
        self._lay_out()
        self.back.clicked.connect(self._back)
        self.undo.clicked.connect(self._ask_removal)
        self.go.clicked.connect(self._go)
        self.hook.toggled.connect(self._show_again)
        cases.agents_known.connect(self._look_for_call)

    def open(self) -> None:
        """Show the tiles, as things are now."""
        self._client, self._plan, self._waiting_since = None, None, 0.0
        self.title.setText("Connect a program")
        self._say("Which program does your agent run in? Assent shows what it would write before it writes.")
        self._stack.setCurrentWidget(self._grid_page)
        self._show_buttons()
        self._tasks.start("states", self._fill())

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
        self.tiles = []
        for state in states:
            below = f"connected as {state.agent}" if state.agent else "installed" if state.installed else "not found"
            tile = self._tile(state.client.name, "cannot be read" if state.problem else below)
            tile.setToolTip(phrases.visible(state.problem))
            tile.clicked.connect(lambda _=False, client=state.client: self._choose(client))
            self.tiles.append(tile)
        other = self._tile("Another program", "by a token to paste")
        other.clicked.connect(self.other)
        self.tiles.append(other)
        self._arrange()
        self.tiles[0].setFocus()

    def _tile(self, name: str, below: str) -> QPushButton:
        tile = self._button(f"{name}\n{below}")
        tile.setAccessibleName(f"{name}, {below}")
        tile.setMinimumSize(self._look.px(TILE), self._look.px(TALL))
        return tile

    def _arrange(self) -> None:
        across = max(1, (self.width() - self._look.px(32)) // self._look.px(TILE + 12))
        for at, tile in enumerate(self.tiles):
            self._grid.addWidget(tile, at // across, at % across)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    # ---- one program ----

    def _choose(self, client: Client) -> None:
        self._client, self._removing, self._waiting_since = client, False, 0.0
        self.hook.blockSignals(True)
        self.hook.setChecked(False)
        self.hook.blockSignals(False)
        self._show_again()

    @Slot()
    def _show_again(self) -> None:
        if self._client is not None:
            self._ask(self._link.plan(self._client, hook=self.hook.isChecked() and self._client.hook))

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
        self._stack.setCurrentWidget(self._change_page)
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
            self.title.setText(f"Disconnect {client.name}")
            end = f" and the token of {plan.agent} stops working" if plan.agent else ""
            self._say(f"This is taken back{end}." if plan.needed else f"{client.name} is not connected.")
        elif plan.needed:
            self.title.setText(f"Connect {client.name}")
            files = " and ".join(str(change.file.path) for change in plan.needed)
            self._say(
                f"This is added to {phrases.visible(files)}, for the agent {plan.agent}. The rest stays as it is."
            )
        else:
            self.title.setText(f"{client.name} is connected")
            self._say(f"Its agent is {plan.agent}.")
        self._show_buttons()

    @Slot()
    def _go(self) -> None:
        plan = self._plan
        if plan is None:
            self.done.emit()
            return
        self._plan = None
        self.go.setEnabled(False)
        self._tasks.start("write", self._write(plan))

    async def _write(self, plan: ConnectionPlan) -> None:
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
        self.title.setText(f"{plan.client.name}: waiting for its first call")
        project = f" {advice(plan.client.id, plan.client.name)}" if plan.setup.hook else ""
        self._say(f"Written. {plan.client.after}{project}")
        self._agent = plan.agent
        self._show_buttons()

    @Slot()
    def _look_for_call(self) -> None:
        if not self._waiting_since or self._client is None:
            return
        called = (
            agent.last_seen >= self._waiting_since for agent in self._cases.agents or () if agent.name == self._agent
        )
        if any(called):
            self._waiting_since = 0.0
            self.title.setText(f"{self._client.name} is connected")
            self._say("Its first call has come.")
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
        needed = plan is not None and bool(plan.needed)
        written = client is not None and plan is None and self._stack.currentWidget() is self._change_page
        self.go.setVisible(client is not None)
        self.go.setEnabled(client is not None)
        self.go.setText(("Disconnect" if self._removing else "Connect") if needed else "Done")
        if plan is not None and not needed:
            self._plan = None
        self.undo.setVisible(client is not None and not needed and not self._removing and (written or plan is not None))
        self.hook.setVisible(client is not None and client.hook and not self._removing and not self._waiting_since)
        self.text.setVisible(needed or bool(self._waiting_since))

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
        self._grid_page, self._change_page = QWidget(), QWidget()
        self._grid = QGridLayout(self._grid_page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(px(12))
        self._grid.setAlignment(Qt.AlignmentFlag.AlignTop)
        change = QVBoxLayout(self._change_page)
        change.setContentsMargins(0, 0, 0, 0)
        change.setSpacing(px(10))
        change.addWidget(self.hook)
        change.addWidget(self.text, 1)
        change.addStretch()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._grid_page)
        self._stack.addWidget(self._change_page)
        last = QHBoxLayout()
        last.setSpacing(px(8))
        last.addWidget(self.back)
        last.addStretch()
        last.addWidget(self.undo)
        last.addWidget(self.go)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(14), px(16), px(14))
        column.setSpacing(px(10))
        column.addWidget(self.title)
        column.addWidget(self.sentence)
        column.addWidget(self._stack, 1)
        column.addLayout(last)


def _written_out(text: str) -> str:
    """Return `text`, line by line, with every character that would hide something or turn the text around."""
    return "".join(f"\\u{{{ord(one):x}}}" if one not in "\n\t" and hides(one) else one for one in text)
