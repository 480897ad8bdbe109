"""Questions of programs at work: held commands and refused hosts, a row each, with the buttons that answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.host_access.host_row import HostAnswers
from app.link.page_tasks import PageTasks
from app.network import words as network_words
from app.parts.column import ScrollColumn
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.review.buttons import DecisionButton
from app.review.guard import ClickGuard
from app.review.moved_target import Steady
from app.state.work_cards import refused
from app.work import words
from app.work.held import HeldDialog
from runner.model.network import NOT_LISTED
from runner.model.sentence_translation import in_words
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.work_cards import WorkCards
    from app.work.host_words import WorkHosts
    from runner.model.work import CommandSeen, HostSeen, WorkSession

FOR_SESSION = tr("Allow for this session")
FOR_PROJECT = tr("Always for this project\N{HORIZONTAL ELLIPSIS}")
NARROW = 620
ROW = 36
MOST_ROWS = 30
"""Rows of each kind; those that follow come up as these are answered."""
SHOWN, FEWER = 3, 2
"""Rows that are shown without scrolling, and in a low window."""


class Questions(QWidget):
    """As high as its rows, up to a few; nothing where nothing waits. A row keeps its place while it is there."""

    failed = Signal(str)
    left = Signal()
    """The button that had the focus is gone."""

    def __init__(
        self, look: Look, cards: WorkCards, bridge: EngineLink, hosts: WorkHosts, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._cards = cards
        self._bridge = bridge
        self._hosts = hosts
        self._name = ""
        self._low = False
        self._order: list[tuple[str, int]] = []
        """The refused hosts with their ports, as they came."""
        self.held: list[HeldCommandRow] = []
        self.refused: list[HostRow] = []
        self._scroll = ScrollColumn(tr("What waits for you"))
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.column.setSpacing(0)
        self.more = ElidedLabel()
        self.more.setProperty("role", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._scroll, 1)
        column.addWidget(self.more)
        hosts.changed.connect(self.refresh)
        self.hide()

    def fit(self, low: bool) -> None:
        """Take over whether the page is low."""
        if low != self._low:
            self._low = low
            self.refresh()

    def show_session(self, name: str) -> None:
        """Show what waits of another program."""
        if name != self._name:
            self._name = name
            self._order = []
            for held in self.held:
                held.leave()
            for host in self.refused:
                host.leave()
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Take up what waits now. The focus of a button that goes is not left to Qt, which gives it to anything."""
        focus = self.window().focusWidget()
        self._take_up()
        if focus is not None and self.isAncestorOf(focus) and not focus.isVisible():
            self.left.emit()

    def _take_up(self) -> None:
        session = self._cards.session(self._name)
        at_work = session is not None and session.at_work
        commands = session.held[:MOST_ROWS] if session is not None and at_work else ()
        places = self._ordered(refused(session)) if session is not None and at_work else []
        hosts = places[:MOST_ROWS]
        by = self._bridge.decisions.approve_by()
        while len(self.held) < len(commands):
            self.held.append(self._make_held())
        while len(self.refused) < len(hosts):
            self.refused.append(self._make_host())
        if session is not None:
            for held, command in zip(self.held, commands, strict=False):
                held.show_command(session, command)
            for host, seen in zip(self.refused, hosts, strict=False):
                host.set_by(by)
                host.show_host(session, seen)
        for number, held in enumerate(self.held):
            held.setVisible(number < len(commands))
        for number, host in enumerate(self.refused):
            host.setVisible(number < len(hosts))
        left = len(places) - len(hosts) + (len(session.held) - len(commands) if session is not None and at_work else 0)
        quiet = _quiet(session) if session is not None and not self._low else ""
        said = " ".join(part for part in (tr("And {left} more.", left=numeral(left)) if left else "", quiet) if part)
        self.more.setText(said)
        self.more.setVisible(bool(said))
        shown = len(commands) + len(hosts)
        self._scroll.setVisible(shown > 0)
        self.setVisible(bool(shown or said))
        rows = min(shown, FEWER if self._low else SHOWN)
        self.setFixedHeight(rows * self._look.px(ROW) + (self.more.sizeHint().height() if said else 0))

    def _ordered(self, found: Iterable[HostSeen]) -> list[HostSeen]:
        """Return hosts in the order in which they came here: one that is tried again stays where it is."""
        there = {(one.contact.host, one.contact.port): one for one in found}
        self._order = [place for place in self._order if place in there]
        self._order += [place for place in there if place not in self._order]
        return [there[place] for place in self._order]

    def _make_held(self) -> HeldCommandRow:
        row = HeldCommandRow(self._look, self._cards, self._bridge)
        row.failed.connect(self.failed)
        self._scroll.column.insertWidget(len(self.held), row)
        return row

    def _make_host(self) -> HostRow:
        row = HostRow(self._look, self._hosts)
        self._scroll.column.insertWidget(len(self.held) + len(self.refused), row)
        return row


class HeldCommandRow(QFrame):
    """One held command: Run leads to all of it, Refuse refuses."""

    failed = Signal(str)

    def __init__(self, look: Look, cards: WorkCards, bridge: EngineLink) -> None:
        super().__init__()
        self._look = look
        self._cards = cards
        self._bridge = bridge
        self._session: WorkSession | None = None
        self._command: CommandSeen | None = None
        self._tasks = PageTasks("held command row", self)
        self.guard = ClickGuard(self._can_be_answered)
        self._picture = plain_label()
        self.text = ElidedLabel()
        self.text.setFont(look.mono())
        # What a short command leaves of its share is the reason's, which is what it is decided by.
        self.text.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.why = ElidedLabel()
        self.why.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.why.setProperty("role", "warn")
        self.run = QPushButton(tr("Run\N{HORIZONTAL ELLIPSIS}"))
        self.run.setToolTip(tr("Shows all of it first"))
        self.run.setAutoDefault(False)
        # By a click it takes no focus: with its row it goes, and the focus would go anywhere.
        self.run.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.run.clicked.connect(self._open)
        self.refuse = DecisionButton(tr("Refuse"), self.guard)
        self.refuse.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.refuse.decided.connect(self._refuse)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, look.px(2), 0)
        row.setSpacing(look.px(8))
        row.addWidget(self._picture)
        row.addWidget(self.text, 3)
        row.addWidget(self.why, 2)
        row.addWidget(self.run)
        row.addWidget(self.refuse)
        self.setFixedHeight(look.px(ROW))
        self._steady = Steady((self.refuse,), self)
        self._steady.moved.connect(self.guard.rearm)
        look.changed.connect(self._paint_icon)
        self._paint_icon()

    def leave(self) -> None:
        """Stand for nothing."""
        self._session = self._command = None
        self.guard.rearm()

    def show_command(self, session: WorkSession, command: CommandSeen) -> None:
        """Show a held command; another one than before cannot be answered for a moment."""
        if self._command != command:
            self.guard.rearm()
        self._session, self._command = session, command
        self.text.setText(phrases.visible(command.text))
        said = in_words(command.reasons[0] if command.reasons else command.sentence)
        self.why.setText(phrases.visible(f"{command.level} {said}".strip()))
        self.setAccessibleName(tr("Held command: {words}", words=phrases.visible(command.text)))
        self.run.setAccessibleName(
            tr("Run{dot}look at it first: {words}", dot=words.DOT, words=phrases.visible(command.text)[:200])
        )
        self.refuse.setAccessibleName(tr("Refuse: {words}", words=phrases.visible(command.text)[:200]))
        self._steady.watch()

    def _can_be_answered(self) -> bool:
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()

    @Slot()
    def _open(self) -> None:
        if self._session is not None and self._command is not None:
            HeldDialog(self.window(), self._cards, self._bridge, self._look, self._session, self._command).open()

    @Slot()
    def _refuse(self) -> None:
        if self._session is not None and self._command is not None:
            answer = self._bridge.work.answer(self._session.name, self._command.number, run=False, why="")
            self._tasks.attempt("refuse", answer, self.failed.emit)

    @Slot()
    def _paint_icon(self) -> None:
        self._picture.setPixmap(self._look.pixmap("shield-alert", "medium", 16))


class HostRow(HostAnswers):
    """One refused host: for this session, or always for this project."""

    def __init__(self, look: Look, hosts: WorkHosts) -> None:
        super().__init__(look, (FOR_SESSION, FOR_PROJECT), NARROW)
        self._hosts = hosts
        self._session: WorkSession | None = None
        self.became.setProperty("role", "bad")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, look.px(2), 0)
        row.setSpacing(look.px(8))
        row.addWidget(self._picture)
        row.addWidget(self.place, 2)
        row.addWidget(self.became, 2)
        row.addWidget(self.allow)
        row.addWidget(self.always)
        self.setFixedHeight(look.px(ROW))
        look.changed.connect(self._paint_icon)
        self._paint_icon()

    def leave(self) -> None:
        """Stand for nothing."""
        self._session = self._contact = None
        self.guard.rearm()

    def show_host(self, session: WorkSession, seen: HostSeen) -> None:
        """Show a refused host."""
        contact = seen.contact
        self._take(contact)
        self._session = session
        said = self._hosts.said(session, contact)
        # That it is not on the list is what these rows are about; another reason is said.
        why = "" if contact.why == NOT_LISTED else network_words.below(contact)
        state = said.words or "; ".join(part for part in (network_words.outcome(contact), why) if part)
        for button in (self.allow, self.always):
            button.setVisible(contact.can_be_allowed and said.open)
        self._say(network_words.place(contact), state)

    def _decide(self, *, always: bool) -> None:
        if self._session is not None and self._contact is not None:
            self._hosts.allow(self._session, self._contact, always=always)

    @Slot()
    def _paint_icon(self) -> None:
        self._picture.setPixmap(self._look.pixmap("ban", "high", 16))


def _quiet(session: WorkSession) -> str:
    """Return how many hosts the client tries at each start and does without."""
    names = list(dict.fromkeys(one.contact.host for one in session.contacts if one.quiet and not one.contact.allowed))
    if not names:
        return ""
    named = ", ".join(phrases.visible(one) for one in names[:3])
    more = tr(" and {count} more", count=len(names) - 3) if len(names) > 3 else ""
    return plural(
        "Also refused, tried by the program at each start: {count} host ({named}{more}).",
        "Also refused, tried by the program at each start: {count} hosts ({named}{more}).",
        len(names),
        named=named,
        more=more,
    )
