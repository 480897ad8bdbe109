"""A new agent's token, shown once, and the configuration that carries it into the agent's program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.parts.boxes import WholeBox
from app.parts.confirm import ConfirmDialog
from app.parts.fold import FoldingRow
from app.parts.order import tab_in_reading_order
from app.parts.plain import plain_label, say
from app.parts.text.copying import CopyButton
from runner.clients.known import CLIENTS
from runner.gateway.own_command import own_command
from runner.gateway.snippets import Snippet, configurations
from runner.model.translation import tr
from runner.system.places import variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from app.state.cards import Cards
    from runner.identity.agents import Agent

WAITS = tr("Waiting for its first call. Start the program again after you have added the configuration.")
ONCE = tr("Copy the token or one of the configurations now: Assent keeps only its hash and cannot show it again.")


class Welcome(QFrame):
    """Token and snippets are forgotten when the person is done."""

    done = Signal()
    test = Signal(str)
    """A test request in the name of this agent is wanted."""

    def __init__(self, cases: Cards, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._snippets: tuple[Snippet, ...] = ()
        self._name = ""
        self._copied = False
        """Whether the token is somewhere else too: on the clipboard once, or in the program that has connected."""
        self.setProperty("card", True)
        self._title = plain_label(role="title")
        self.connected = plain_label(role="muted", wrap=True)
        """Whether it has ever connected."""
        once = plain_label(ONCE, wrap=True)
        self.token = QLineEdit()
        self.token.setReadOnly(True)
        self.token.setAccessibleName(tr("Token of the new agent"))
        self.token.setFont(look.mono())
        self.copy_token = CopyButton(tr("Copy token"), tr("Copy the token"))
        self.client = WholeBox()
        self.client.setAccessibleName(tr("Program to configure"))
        self.client.currentIndexChanged.connect(self._show_snippet)
        self.file = plain_label(role="muted", wrap=True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(look.mono())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("Configuration to paste"))
        self.copy_text = CopyButton(tr("Copy configuration"), tr("Copy the configuration"))
        self.try_it = QPushButton(tr("Send a test request"))
        self.try_it.setToolTip(tr("Asks you to run one harmless line in the name of this agent"))
        self.try_it.setAutoDefault(False)
        self.try_it.clicked.connect(self._test)
        self.close_button = QPushButton(tr("Done"))
        self.close_button.setProperty("kind", "primary")
        self.close_button.setAutoDefault(False)
        QGuiApplication.clipboard().dataChanged.connect(self._look_at_copy)
        cases.agents_known.connect(self._show_connected)
        self.close_button.clicked.connect(self._close)
        self._lay_out(look, once)
        tab_in_reading_order(self)

    def welcome(self, name: str, token: str, address: str) -> None:
        """Show what belongs to the new agent `name`."""
        self._name = name
        self._title.setText(tr("Connect {name}", name=name))
        self.token.setText(token)
        self.token.setCursorPosition(0)
        self.copy_token.set_text_to_copy(token)
        command, needed = own_command(), variables(os.environ)
        self._snippets = configurations(name, token, address, command, needed) if address else ()
        self.client.blockSignals(True)
        self.client.clear()
        self.client.addItems([snippet.client for snippet in self._snippets])
        self.client.blockSignals(False)
        self._copied = False
        self._show_snippet()
        self._show_connected()
        self.copy_token.setFocus()

    @Slot()
    def _show_connected(self) -> None:
        """Show whether the new agent has called."""
        known = next((one for one in self._cases.agents or () if one.name == self._name), None)
        if known is not None and known.last_seen:
            self._copied = True
            say(self.connected, tr("{name} has connected.", name=self._name), "ok")
        else:
            say(self.connected, WAITS, "muted")

    @Slot()
    def _show_snippet(self) -> None:
        at = self.client.currentIndex()
        found = self._snippets[at] if 0 <= at < len(self._snippets) else None
        self.text.setPlainText(found.text if found else tr("Agents cannot connect yet: see the message at the top."))
        self.copy_text.set_text_to_copy(found.text if found else "")
        self.file.setText("" if found is None else f"{_where(found.file)}. {found.note}".rstrip())

    @Slot()
    def _test(self) -> None:
        self.test.emit(self._name)

    @Slot()
    def _look_at_copy(self) -> None:
        """Note that the token was copied, in whatever way; what is put there while another window is active is not."""
        token = self.token.text()
        if token and self.isActiveWindow() and token in QGuiApplication.clipboard().text():
            self._copied = True

    @Slot()
    def _close(self) -> None:
        """Close, after a question where the token would be lost."""
        if self._copied:
            self._finish()
            return
        what = tr(
            "The token has not been copied, and Assent cannot show it again. Without it {name} "
            "cannot connect: you would revoke it and add it again.",
            name=self._name,
        )
        ConfirmDialog(self.window(), tr("Close without the token?"), what, tr("Close"), self._finish_if).open()

    def _finish_if(self, yes: bool) -> None:
        if yes:
            self._finish()

    def _finish(self) -> None:
        """Close and leave nothing of the token in the window."""
        self._snippets = ()
        for field in (self.token, self.text):
            field.clear()
        for button in (self.copy_token, self.copy_text):
            button.set_text_to_copy("")
        self.done.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._second.fold(self.width() < self._fold_below)

    def _lay_out(self, look: Look, once: QWidget) -> None:
        px = look.px
        first, second, last = QHBoxLayout(), FoldingRow(), QHBoxLayout()
        for row in (first, second, last):
            row.setSpacing(px(8))
        first.addWidget(self.token, 1)
        first.addWidget(self.copy_token)
        second.addWidget(self.client)
        second.addWidget(self.file, 1)
        second.addWidget(self.copy_text)
        last.addWidget(self.try_it)
        last.addStretch()
        last.addWidget(self.close_button)
        self._second = second
        self._fold_below = px(760)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(14), px(16), px(14))
        column.setSpacing(px(10))
        column.addWidget(self._title)
        column.addWidget(once)
        column.addLayout(first)
        column.addSpacing(px(4))
        column.addLayout(second)
        column.addWidget(self.text, 1)
        column.addWidget(self.connected)
        column.addLayout(last)


def suggested_name(agents: Sequence[Agent]) -> str:
    """Return a name that no agent has: that of the first client that is not there yet, else a number."""
    used = {agent.name for agent in agents if not agent.revoked}
    usual = (client.id for client in CLIENTS)
    numbered = (f"agent-{number}" for number in range(1, len(used) + 2))
    return next(name for name in (*usual, *numbered) if name not in used)


def _where(file: str) -> str:
    """Return where a configuration goes."""
    if not file:
        return tr("Run this command")
    if file.startswith("."):
        return tr(
            "Add it to {file} of the project, and keep that out of version control: it holds the token", file=file
        )
    if not file.startswith(("~", "/")):
        return tr("Add it to {file}", file=file)
    return tr("Add it to {file}, beside what is there; not to a project's folder", file=file)
