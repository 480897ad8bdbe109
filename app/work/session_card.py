"""One program: how things stand in a sentence, what contains it, what it uses, what waits, and its commands."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.chips import ChipRow
from app.parts.confirm import ConfirmDialog
from app.parts.elide import ElidedLabel
from app.parts.fold import keep_needed_height
from app.parts.plain import plain_label, say, set_tip
from app.parts.text.copying import CopyButton
from app.work import words
from app.work.command_list import CommandList
from app.work.questions import Questions
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.work_cards import WorkCards
    from app.work.host_words import WorkHosts
    from runner.model.work import WorkSession, WorkUsage

TICK_MS = 2000
ENDED = "Ended by a person in the window."
END_ASKS = tr(
    "The program and everything that it started end at once. Its changes stay, until you apply or discard them."
)
MOST_PORTS = 6
_ANY = 16_777_215


class SessionCard(QFrame):
    """Follows one program; what it asks is answered here."""

    failed = Signal(str)

    def __init__(
        self, look: Look, cards: WorkCards, bridge: EngineLink, hosts: WorkHosts, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._cards = cards
        self._bridge = bridge
        self._name = ""
        self._used: tuple[float, WorkUsage] | None = None
        self._asking = False
        self._tasks = PageTasks("program at work", self)
        self.headline = plain_label(role="large", wrap=True)
        self.ending = plain_label(role="muted", wrap=True)
        self.refused = plain_label(role="warn", wrap=True)
        self.chips = ChipRow(look)
        self.name = plain_label(role="small")
        self.name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = CopyButton(tr("Copy name"), tr("Copy the name of the working copy"))
        self.copy.setProperty("kind", "quiet")
        self.gauges = ElidedLabel()
        self.gauges.setProperty("role", "muted")
        self.gauges.setAccessibleName(tr("Use of processor and memory"))
        self.end = QPushButton(tr("End\N{HORIZONTAL ELLIPSIS}"))
        self.end.setProperty("kind", "quiet")
        self.end.setAutoDefault(False)
        self.end.clicked.connect(self._ask_end)
        self.ports = Ports(look)
        self.ports.wanted.connect(self.open_port)
        self.questions = Questions(look, cards, bridge, hosts)
        self.questions.failed.connect(self.failed)
        self.message = plain_label(role="muted", wrap=True)
        self.message.hide()
        self.commands = CommandList(look)
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._measure)
        self._lay_out()

    def fit(self, low: bool) -> None:
        """Take over whether the page is low: then the commands need the space."""
        role = "title" if low else "large"
        if self.headline.property("role") != role:
            self.headline.setProperty("role", role)
            self.headline.style().unpolish(self.headline)
            self.headline.style().polish(self.headline)
        self.questions.fit(low)

    def show_session(self, name: str) -> None:
        """Show another program."""
        if name != self._name:
            self._name = name
            self._used = None
            self.gauges.setText("")
            say(self.message, "", "muted")
        self.refresh()
        self._measure()

    @property
    def _session(self) -> WorkSession | None:
        return self._cards.session(self._name)

    @Slot()
    def refresh(self) -> None:
        """Take up how it is now."""
        session = self._session
        if session is None:
            return
        self._tell_time()
        say(self.ending, words.ending(session), "muted")
        say(self.refused, words.refusing(session), "warn")
        self.chips.show_facts(words.chips(session))
        set_tip(self.chips, words.hosts(session))
        self.name.setText(phrases.visible(session.name))
        self.copy.setToolTip(tr("For a terminal: assent work apply {name}", name=phrases.visible(session.name)))
        self.copy.set_text_to_copy(session.name)
        self.end.setVisible(session.at_work)
        self.gauges.setVisible(session.at_work)
        self.ports.show_ports(session.ports if session.at_work else ())
        self.questions.show_session(self._name)
        self.commands.show_session(session)
        listed = bool(self.commands.model.rows)
        self.commands.setVisible(listed)
        # Without commands the room is for the changes.
        layout = self.layout()
        assert layout is not None
        self.setMaximumHeight(_ANY if listed else layout.totalHeightForWidth(max(1, self.width())))
        keep_needed_height(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        keep_needed_height(self)

    def _tell_time(self) -> None:
        session = self._session
        if session is not None and (text := words.headline(session)) != self.headline.text():
            self.headline.setText(text)

    # ---- what it uses ----

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick.start()
        self._measure()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()

    @Slot()
    def _measure(self) -> None:
        session = self._session
        self._tell_time()
        if session is not None and session.at_work and self.isVisible() and not self._asking:
            self._asking = True
            self._tasks.start("usage", self._ask_usage(session))

    async def _ask_usage(self, session: WorkSession) -> None:
        try:
            usage = await self._bridge.work.usage(session.name)
        except KnownError as error:
            if session.name == self._name:
                self._used = None
                self.gauges.setText(tr("No data: {what}", what=phrases.visible(error.what)))
            return
        finally:
            self._asking = False
        if session.name == self._name:
            now = time.monotonic()
            self.gauges.setText(words.gauges(session, usage, self._used, now))
            self._used = (now, usage)

    # ---- ports, and the end ----

    @Slot(int)
    def open_port(self, port: int) -> None:
        """Make a port inside reachable, and open it in the browser."""
        session = self._session
        if session is not None and session.at_work:
            self._tasks.start("port", self._open(session.name, port))

    async def _open(self, name: str, port: int) -> None:
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QDesktopServices

        try:
            address = await self._bridge.work.carry(name, port)
        except KnownError as error:
            if name == self._name:
                say(self.message, tr("Not opened: {error}", error=phrases.visible(str(error))), "bad")
            return
        opened = QDesktopServices.openUrl(QUrl(f"http://{address}/"))
        if name == self._name:
            lead = tr("Opened in your browser") if opened else tr("No browser was found: open it yourself")
            say(
                self.message,
                tr(
                    "{lead}: http://{address}/. What answers there is the program's.",
                    lead=lead,
                    address=phrases.visible(address),
                ),
                "muted",
            )

    @Slot()
    def _ask_end(self) -> None:
        session = self._session
        if session is not None:
            title = tr("End {client} over {title}?", client=words.client(session), title=words.title(session))
            ConfirmDialog(self.window(), title, END_ASKS, tr("End it"), partial(self._end, session.name)).open()

    def _end(self, name: str, yes: bool) -> None:
        if yes:
            self._tasks.attempt("end", self._bridge.work.end(name, ENDED), self.failed.emit)

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        self.setProperty("card", True)
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self.headline, 1)
        head.addWidget(self.end)
        facts = QHBoxLayout()
        facts.setSpacing(px(8))
        facts.addWidget(self.name)
        facts.addWidget(self.copy)
        facts.addWidget(self.gauges, 1)
        facts.addWidget(self.ports)
        facts.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(12), px(14), px(8))
        column.setSpacing(px(6))
        column.addLayout(head)
        column.addWidget(self.ending)
        column.addWidget(self.refused)
        column.addWidget(self.chips)
        column.addLayout(facts)
        column.addWidget(self.message)
        column.addWidget(self.questions)
        column.addWidget(self.commands, 1)


class Ports(QWidget):
    """The ports on which something inside listens, each with a button that opens it."""

    wanted = Signal(int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: list[QPushButton] = []
        self._shown: tuple[int, ...] = ()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(look.px(8))

    def show_ports(self, ports: tuple[tuple[int, str], ...]) -> None:
        """Show exactly these, up to a few."""
        shown = tuple(port for port, _ in ports[:MOST_PORTS])
        if shown == self._shown:
            return
        self._shown = shown
        while len(self._buttons) < len(shown):
            button = QPushButton()
            button.setProperty("kind", "link")
            button.setAutoDefault(False)
            button.clicked.connect(partial(self._press, len(self._buttons)))
            self._buttons.append(button)
            self._row.addWidget(button)
        for number, button in enumerate(self._buttons):
            button.setVisible(number < len(shown))
            if number < len(shown):
                button.setText(tr("{port} Open", port=words.port(shown[number])))
                button.setAccessibleName(tr("Open port {shown}", shown=shown[number]))

    @Slot()
    def _press(self, number: int) -> None:
        if number < len(self._shown):
            self.wanted.emit(self._shown[number])
