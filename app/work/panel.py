"""The page *Work*: programs at work over copies of projects, and what of their changes is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QPushButton, QSplitter, QVBoxLayout, QWidget

from app.parts.empty import EmptyState
from app.parts.plain import say
from app.review.keystrokes import Keystrokes
from app.work.changes_card import ChangesCard
from app.work.host_words import WorkHosts
from app.work.session_card import SessionCard
from app.work.session_list import SessionList
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.work_cards import WorkCards
    from runner.system.places import Places

EMPTY = tr("No program is at work")
EMPTY_WHAT = tr(
    "An agent works over a copy of a project's folder. Your folder stays as it is until you apply here what it"
    " changed. The button says what to type in a terminal."
)
START = tr("Work on a project\N{HORIZONTAL ELLIPSIS}")
ALWAYS = tr("Allowed hosts\N{HORIZONTAL ELLIPSIS}")
TOO_QUICK = tr("Too quick: press A again.")
MOST_FOLLOWED = 5000
"""Changes up to which a list is read again while somebody looks at it; a longer one when they come back to it."""
CLOCK_MS = 15_000
NARROW, LOW = 900, 700
LIST, LIST_NARROW = 250, 200


class WorkPanel(QWidget):
    """Follows the store of programs at work."""

    failed = Signal(str)

    def __init__(
        self, cards: WorkCards, bridge: EngineLink, look: Look, places: Places, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._cards = cards
        self._bridge = bridge
        self._look = look
        self._places = places
        self._name = ""
        self._sized = False
        self._width = 0
        self.hosts = WorkHosts(bridge, look, self)
        self.list = SessionList(look, cards, self.show_session, self)
        self.card = SessionCard(look, cards, bridge, self.hosts)
        self.changes = ChangesCard(look, cards, bridge)
        self.nothing = EmptyState(look, "layers", EMPTY, EMPTY_WHAT, START)
        self.start = QPushButton(START)
        self.start.setProperty("kind", "quiet")
        self.start.setAutoDefault(False)
        self.always = QPushButton(ALWAYS)
        self.always.setProperty("kind", "quiet")
        self.always.setAutoDefault(False)
        self.always.setToolTip(tr("Hosts that programs at work may always reach, by project"))
        self.keystrokes = Keystrokes(self)
        self.keystrokes.swallowed.connect(self._swallowed)
        self._clock = QTimer(self)
        self._clock.setInterval(CLOCK_MS)
        self._clock.timeout.connect(self._tick)
        self._lay_out()
        self.start.clicked.connect(self.ask_start)
        self.always.clicked.connect(self._show_hosts)
        self.nothing.pressed.connect(self.ask_start)
        self.list.view.port_wanted.connect(self._open_port)
        self.card.failed.connect(self.failed)
        self.card.questions.left.connect(self.list.view.setFocus)
        cards.moved.connect(self._refresh)
        cards.changes_known.connect(self._known)
        for keys, act in (("A", self._press_apply), ("/", self.changes.seek)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
            shortcut.setAutoRepeat(False)
            shortcut.activated.connect(act)
        self._refresh()

    @property
    def shown(self) -> str:
        """Name of the working copy on screen; '' for none."""
        return self._name

    @Slot(str)
    def show_session(self, name: str) -> None:
        """Show a working copy."""
        if not name:
            return
        self._name = name
        if self.list.current != name:
            self.list.choose(name)
        self.card.show_session(name)
        self.changes.show_session(name)
        if self.isVisible():
            self._cards.see(name)
            self._cards.want(name)  # the project may be another by now

    @Slot()
    def look_again(self) -> None:
        """Read everything again (F5)."""
        self._cards.refresh({one.name for one in self._cards.sessions})
        if self._name:
            self._cards.want_now(self._name)

    @Slot()
    def ask_start(self) -> None:
        from app.work.starting import StartDialog

        StartDialog(self.window(), self._look, self._places).open()

    @Slot()
    def _show_hosts(self) -> None:
        from app.work.project_hosts import ProjectHostsDialog

        ProjectHostsDialog(self.window(), self._look, self._bridge).open()

    # ---- what happens ----

    @Slot()
    def _refresh(self) -> None:
        self.list.show()
        there = bool(self._cards.sessions)
        self._split.setVisible(there)
        self._empty.setVisible(not there)
        if not there:
            self._name = ""
        elif self._cards.session(self._name) is None:
            self.show_session(self.list.current)
        else:
            self.card.refresh()
            self.changes.refresh()
            if self.isVisible():
                self._cards.see(self._name)

    @Slot(str)
    def _known(self, name: str) -> None:
        self.list.show()
        if name == self._name:
            self.changes.refresh()

    @Slot()
    def _tick(self) -> None:
        """Follow the time, and what somebody else does to the project meanwhile."""
        self.list.show()
        found = self._cards.changes(self._name)
        if found is not None and len(found.changes) <= MOST_FOLLOWED and self.isActiveWindow():
            self._cards.want(self._name)

    def _show_held(self) -> None:
        """Show a program whose command waits for an answer, where the one on screen has none."""
        session = self._cards.session(self._name)
        if session is None or not session.at_work or not session.held:
            self.show_session(self._cards.first_held())

    @Slot(str, int)
    def _open_port(self, name: str, port: int) -> None:
        self.show_session(name)
        self.card.open_port(port)

    # ---- keys ----

    @Slot()
    def _press_apply(self) -> None:
        """Apply when A was pressed by itself: in a text that is typed without looking it is a letter."""
        if not (self.keystrokes.alone and self.changes.apply.press_key()):
            self.keystrokes.swallow()
            self._swallowed()

    @Slot()
    def _swallowed(self) -> None:
        say(self.changes.said, TOO_QUICK, "warn")

    # ---- coming and going ----

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if (window := self.window().windowHandle()) is not None:
            window.installEventFilter(self.keystrokes)
        self.window().installEventFilter(self)
        self.changes.watch()
        self.changes.rearm()
        self._clock.start()
        if not event.spontaneous():
            self._cards.refresh()
            self._show_held()
        self._cards.watch(True)
        if self._name:
            self._cards.see(self._name)
        focus = self.window().focusWidget()
        here = focus is not None and self.isAncestorOf(focus) and focus.isVisible()
        if not here and (focus is None or focus.property("kind") != "page"):
            (self.list.view if self._cards.sessions else self).setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()
        self._cards.watch(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.WindowActivate and watched is self.window():
            self.changes.rearm()
            if self._name:
                self._cards.want(self._name)  # somebody may come from an editor
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < self._look.px(NARROW)
        width = self._look.px(LIST_NARROW if narrow else LIST)
        if width != self._width:
            self._width = width
            self._split.setSizes([width, self.width() - width])
        self.card.fit(self.window().height() < self._look.px(LOW))
        if not self._sized and self.height() > 100:
            self._sized = True
            upper = round(self.height() * 0.42)
            self._right.setSizes([upper, self.height() - upper])

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(tr("Work"))
        self._left = QFrame()
        self._left.setProperty("card", True)
        left = QVBoxLayout(self._left)
        left.setContentsMargins(px(4), px(6), px(4), px(8))
        left.setSpacing(px(6))
        left.addWidget(self.list.view, 1)
        left.addWidget(self.start)
        left.addWidget(self.always)
        self._right = QSplitter(Qt.Orientation.Vertical)
        self._right.setChildrenCollapsible(False)
        self._right.addWidget(self.card)
        self._right.addWidget(self.changes)
        self._right.setHandleWidth(px(8))
        self._right.setStretchFactor(0, 2)
        self._right.setStretchFactor(1, 3)
        # A splitter and no layout: that would ask for the height that all the labels would like to have.
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(px(8))
        self._split.addWidget(self._left)
        self._split.addWidget(self._right)
        self._split.setStretchFactor(1, 1)
        self._left.setMinimumWidth(px(160))
        empty = QFrame()
        empty.setProperty("card", True)
        inside = QVBoxLayout(empty)
        inside.addWidget(self.nothing)
        self._empty = empty
        # No stack: that would ask for the height which the larger of them would like to have.
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(empty)
        whole.addWidget(self._split)
