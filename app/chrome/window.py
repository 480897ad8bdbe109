"""The content of the frame: toolbar, banners, navigation and pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QPaintEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import phrases
from app.chrome.announcing import Announcing
from app.chrome.attending import Attending
from app.chrome.banners import Banners
from app.chrome.commands import Commands
from app.chrome.dock import Dock
from app.chrome.expiry_strip import ExpiryStrip
from app.chrome.focus import Focus
from app.chrome.idle import Idle
from app.chrome.keyring_notice import BANNER, VaultNotice
from app.chrome.navigation import Navigation
from app.chrome.outcome_in_place import Aftermath
from app.chrome.overall import OverallCommands
from app.chrome.pages import FIRST_STEPS, PAGES, PageShelf
from app.chrome.presence import Presence
from app.chrome.toolbar import Toolbar
from app.chrome.toolbar_overlay import ToolbarOverlay
from app.chrome.unseen import Unseen
from app.link.page_tasks import PageTasks
from app.parts.fold import Pages, Room, RoomOfPages
from app.parts.notice import Tone
from app.parts.roles import install
from app.prompt.toast import Toast
from app.remembering.fatigue import Fatigue
from app.review.deciding import Deciding
from app.state import attention
from app.state.work_cards import WorkCards
from runner.model.events import AgentsChanged, EngineTroubled, GatewayOpened, RunFinished, SandboxChosen, TroubleCleared
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.chrome.frame import Frame
    from app.chrome.pages import PageSpec
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.remembering.dialog import About
    from app.state.cards import Cards
    from runner.model.events import Event
    from runner.policy.grants import Grant
    from runner.system.places import Places

ASKS_SANDBOX = (GatewayOpened, TroubleCleared, SandboxChosen, RunFinished)
"""Events after which the facts about the sandbox may be others."""
COLUMN = 420
DOCKED = 960
"""Width below which there is room for the cards of requests alone; whatever the size of text, which scrolls."""


class Window(QWidget):
    """Everything a person sees and touches, put together."""

    painted = Signal()
    """For the first time, or what stands for it."""

    def __init__(
        self,
        cases: Cards,
        bridge: EngineLink,
        look: Look,
        places: Places,
        frame: Frame,
        pages: Sequence[PageSpec] = PAGES,
    ) -> None:
        super().__init__(frame)
        install()
        self.frame = frame
        frame.setMinimumWidth(min(look.px(COLUMN), DOCKED))
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._places = places
        self._painted = False
        self._build(pages)
        self._connect()
        self.show_page("Queue")
        self.deciding.review.focus_neutral()

    def _build(self, pages: Sequence[PageSpec]) -> None:
        frame, look, places, cases, bridge = self.frame, self._look, self._places, self._cases, self._bridge
        # From the outside in: a widget that is given to a parent later brings the style of all inside it up to date
        # again, and at each level that took a third of the time for the first window.
        self._shapes = Pages(self)
        self._whole = QWidget(self._shapes)
        self._room = Room(parent=self._whole)
        self._inside = RoomOfPages(self._room.viewport())
        self.presence = Presence(cases, self)
        self.work = WorkCards(bridge, self)
        self.toolbar = Toolbar(cases, self.work, look, self.presence, self._whole)
        self._overlay = ToolbarOverlay(self.toolbar, look, self._whole, self._room.geometry)
        self.banners = Banners(cases, look, self._overlay)
        self.vault = VaultNotice(self.banners, places, bridge.secrets, self)
        self.navigation = Navigation(look, pages, self._whole)
        self.fatigue = Fatigue(cases, parent=self)
        self.pages = PageShelf(cases, self.work, bridge, look, places, self._inside, pages)
        self.deciding = Deciding(cases, self.work, bridge, look, places, self.pages.stack)
        self.aftermath = Aftermath(self.deciding, cases, bridge, look)
        self.hurry = ExpiryStrip(cases, look, self._on_screen, self._overlay)
        self.overall = OverallCommands(self, cases, self.work, bridge, look)
        leave = frame.close_wanted.emit
        self.commands = Commands(
            self,
            cases,
            self.work,
            look,
            self.pages,
            self.overall,
            self._show_request,
            leave,
            self.show_run,
            self.turn_docked,
            places.ledger,
        )
        self.announcing = Announcing(cases, self)
        self.focus_ring = Focus(look, self)
        self._tasks = PageTasks("window", self)
        self.pages.add("Queue", self.deciding)
        self.dock = Dock(cases, self.work, self.deciding.queue.answers, bridge, look, self._shapes)
        self.attending = Attending(cases, bridge, self)
        self.idle = Idle(self.presence, bridge.away_after, self)
        self.unseen = Unseen(cases, self._looks_at_queue, self)
        self._lay_out()
        self.toast = Toast(self._whole, self.pages.stack, cases, bridge, look, self._elsewhere)

    # ---- pages ----

    def page(self, name: str) -> QWidget:
        """Return the page called `name`, built now if it was not before."""
        return self.pages.page(name)

    @Slot(str)
    def show_page(self, name: str) -> None:
        self.pages.show(name)

    @property
    def shown_page(self) -> str:
        return self.pages.current

    def _show_request(self, request_id: str) -> None:
        """Bring a request on screen; the guard rests as for anything that appears there."""
        self.show_page("Queue")
        self.deciding.show_request(request_id)

    @Slot(str)
    def show_waiting(self, request_id: str) -> None:
        """Bring the whole window to the front with one request on it, where that is still there; answers nothing."""
        self.review()
        card = self._cases.card(request_id)
        if card is not None and (card.waiting or card.missed):
            self.deciding.show_request(request_id)

    @Slot(str)
    def show_run(self, request_id: str) -> None:
        """Show a run on its page, in the whole window."""
        self.frame.widen(DOCKED)
        self.pages.show_run(self._cases.card(request_id))

    def _on_screen(self) -> str | None:
        """Return the request that can be seen, empty for none; None where another page than the queue is shown."""
        if self.shown_page != "Queue":
            return None
        card = self.deciding.review.card
        return card.id if card is not None and self.deciding.review.isVisible() else ""

    def _elsewhere(self) -> bool:
        """Whether another page than that of the requests is shown."""
        return self.shown_page != "Queue" and not self.docked and self.presence.may_disturb

    @property
    def docked(self) -> bool:
        """Whether there is room for the cards of requests alone."""
        return self._shapes.currentWidget() is self.dock

    # ---- what happens ----

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        waiting = self._cases.count_waiting()
        self._count_queue()
        self.navigation.count("Running", self._cases.count_running())
        title = f"({waiting}) Assent" if waiting else "Assent"
        if title != self.frame.windowTitle():
            self.frame.setWindowTitle(title)
        for event in events:
            if isinstance(event, AgentsChanged) and event.connected:
                # Not as a banner: what one decides would move.
                self.toolbar.say(tr("{connected} has connected.", connected=phrases.visible(event.connected)))
        if any(isinstance(event, (AgentsChanged, GatewayOpened)) for event in events):
            self._cases.know_agents(self._bridge.agents.all())
        closed = any(isinstance(event, EngineTroubled) and event.area == "gateway" for event in events)
        if closed or any(isinstance(event, ASKS_SANDBOX) for event in events):
            self.overall.ask_sandbox()

    @Slot()
    def _count_queue(self) -> None:
        """Show how many wait; with none, in grey, how many expired and were not seen."""
        waiting, unseen = self._cases.count_waiting(), self.unseen.count
        ink = attention.worst_ink(self._cases.waiting()) if waiting else "muted"
        self.navigation.count("Queue", waiting or unseen, ink, missed=unseen)

    def _looks_at_queue(self) -> bool:
        return self.isActiveWindow() and self.isVisible() and (self.docked or self.shown_page == "Queue")

    @Slot()
    def _count_work(self) -> None:
        self.navigation.count("Work", self.work.count(), "medium")

    @Slot(str)
    def show_work(self, name: str) -> None:
        """Bring the window to the front with a working copy on it, where that is still there; answers nothing."""
        self.frame.widen(DOCKED)
        self.frame.bring_to_front()
        self.pages.show_work(name)

    @Slot(str)
    def _failed(self, why: str) -> None:
        self.banners.say("failed", Tone.WARN, why)

    @Slot(str, str)
    def _declined(self, request_id: str, why: str) -> None:
        """Show the outcome of an answer here unless its request is still on screen, which shows it itself."""
        card = self.deciding.review.card
        if card is None or card.id != request_id or self.shown_page != "Queue":
            self.banners.say("declined", Tone.WARN, why)

    @Slot(str)
    def _act(self, name: str) -> None:
        """Do what the button of a banner stands for."""
        match name:
            case "ledger" if self.banners.damaged(name):
                self.overall.ask_new_ledger()
            case "isolation":
                self.overall.ask_weaker()
            case "ledger":
                self.overall.try_history_again()
            case "silent":
                self._bridge.end_runs()
            case "requests":
                self.show_page("History")
            case "sandbox" | "secrets":
                self.show_page("Doctor")
            case "settings" | "port":
                self.show_page("Settings")
            case "grants":
                self.show_page("Rules")
            case "fatigue":
                self.banners.unsay(name)
                self.show_page("Rules")
            case "first steps" | "keyring":
                self.banners.unsay(name)
                self.show_page(FIRST_STEPS)
            case _ if name == BANNER:
                # Where the person may agree to a file.
                self.pages.show_setting("secrets_file")
            case _:
                pass

    # ---- leaving ----

    def ask_to_quit(self, stake: Callable[[], str], answered: Callable[[bool], None]) -> None:
        self.frame.bring_to_front()
        self.overall.ask_about(tr("Quit Assent?"), stake, tr("Quit"), answered)

    # ---- what is remembered ----

    @Slot()
    def _remember_shown(self) -> None:
        """Remember the request under review."""
        from app.remembering.dialog import About
        from runner.policy.grants import offered

        card = self.deciding.review.card
        if card is not None and card.level is not None:
            title = phrases.title(card.request)
            may = offered(card.request, card.level)
            self._remember(About(card.id, card.digest, card.request.agent, title, card.level, card.waiting, may))

    @Slot(object)
    def _remember(self, about: About) -> None:
        from app.remembering.dialog import RememberDialog

        RememberDialog(self, about, self._bridge, self._look, self._tasks.start, self._remembered).open()

    def _remembered(self, made: Grant) -> None:
        from app.remembering import words

        # Not as a banner: that would move the buttons of the request that still waits.
        self.toolbar.say(tr("Remembered, see Rules. {ends}", ends=words.ends(made)))

    # ---- window ----

    @Slot(int)
    def _keep_free(self, height: int) -> None:
        """Have the head of a request under review begin below what reaches down to `height`."""
        page = self.deciding.review.page
        top = self._room.y() + page.mapTo(self._inside, QPoint()).y()
        page.keep_free(max(0, height - top))

    @Slot()
    def review(self) -> None:
        """Bring the window to the front with the queue on it, where a notice leads. It never decides anything."""
        self.frame.widen(DOCKED)
        self.frame.bring_to_front()
        self.show_page("Queue")

    @Slot()
    def turn_docked(self) -> None:
        """Make the window a column at the edge of the screen, or as it was before."""
        if self.docked:
            self.frame.widen(DOCKED)
        else:
            self.frame.narrow(self._look.px(COLUMN))

    def stop_all_in_front(self) -> None:
        """Ask in the window, where it can be seen, whether to stop everything; used by the tray."""
        self.frame.bring_to_front()
        self.overall.stop_all()

    def lock_in_front(self) -> None:
        self.frame.bring_to_front()
        self.overall.ask_lock()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.WindowActivate:
            self.unseen.look()
        elif event.type() is QEvent.Type.Show and (window := self.window().windowHandle()) is not None:
            self.attending.watch(window)
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            QTimer.singleShot(0, self, self.begin)

    @Slot()
    def begin(self) -> None:
        """Let the rest be loaded: the window has been painted, or is minimized and will not be for now."""
        if not self._painted:
            self._painted = True
            self.painted.emit()
            # Behind what waits for the first window: reading the day is no part of opening it.
            QTimer.singleShot(0, self.pages, self.pages.furnish_queue)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._shapes.setCurrentWidget(self.dock if self.width() < DOCKED else self._whole)
        self.toast.refresh()

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        middle = QHBoxLayout()
        middle.setSpacing(px(4))
        middle.addWidget(self.navigation)
        middle.addWidget(self._room, 1)
        self._inside.hold(self.pages.stack)
        self._room.setWidget(self._inside)
        whole = QVBoxLayout(self._whole)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(px(8))
        above = QHBoxLayout()
        above.setContentsMargins(px(12), 0, 0, 0)
        above.addWidget(self.toolbar)
        whole.addLayout(above)
        whole.addLayout(middle, 1)
        # A screen reader goes through the window in the order of its widgets, which is that of the screen then.
        self.navigation.lower()
        self.toolbar.lower()
        self._overlay.covers.connect(self._keep_free)
        self._overlay.hold(self.banners, self.hurry)
        self._shapes.addWidget(self._whole)
        self._shapes.addWidget(self.dock)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(8), px(8), px(8))
        column.addWidget(self._shapes)
        self.frame.setCentralWidget(self)

    def _connect(self) -> None:
        self.navigation.wanted.connect(self.show_page)
        self.toolbar.hold_all.connect(self.overall.hold_all)
        self.toolbar.stop_all.connect(self.overall.stop_all)
        self.toolbar.looked_at.connect(self.overall.ask_sandbox)
        self.toolbar.go.connect(self.commands.open_palette)
        self.toolbar.mode.guard.connect(self.overall.guard)
        self.toolbar.mode.lock.connect(self.overall.ask_lock)
        self.toolbar.mode.trust.connect(self.overall.ask_trust)
        self.overall.remarked.connect(self.toolbar.say)
        self.overall.failed.connect(self._failed)
        self.banners.wanted.connect(self._act)
        self._bridge.silent.connect(self.banners.tell_silence)
        self.deciding.add_agent.connect(self.pages.show_first_steps)
        self.deciding.declined.connect(self._declined)
        self.deciding.review.remember_wanted.connect(self._remember_shown)
        self.deciding.review.stronger_wanted.connect(self.pages.show_stronger)
        self.frame.raised.connect(self.deciding.keystrokes.expect_text)
        self.pages.shown.connect(self.navigation.mark)
        self.pages.remember.connect(self._remember)
        self.pages.failed.connect(self._failed)
        self.pages.settings_taken_up.connect(self.vault.look_again)
        self.pages.keyring_answered.connect(self.vault.look_again)
        self.pages.shown.connect(self.vault.give_way)
        self.pages.test_decided.connect(partial(_tell_of_test, self))
        self.pages.sandbox_built.connect(self.overall.look_for_sandbox)
        self.fatigue.noticed.connect(lambda what: self.banners.say("fatigue", Tone.INFO, what, tr("Rules")))
        self._cases.happened.connect(self._take)
        self._cases.happened.connect(self.work.take)
        self.work.moved.connect(self._count_work)
        self._connect_cards()
        for page in self.pages.specs.values():
            if page.keys:
                _bind(self, page.keys, partial(self.show_page, page.name))
        _bind(self, "F1", partial(self.show_page, "Help"))
        _bind(self, "F5", self.pages.refresh)
        _bind(self, "Ctrl+K", self.commands.open_palette)
        _bind(self, "?", self.commands.open_keys)
        _bind(self, "Ctrl+Shift+H", self.overall.hold_all)
        _bind(self, "Ctrl+Shift+S", self.overall.stop_all)
        _bind(self, "Ctrl+Shift+D", self.turn_docked)
        _bind(self, "Ctrl+Q", self.frame.close_wanted.emit)

    def _connect_cards(self) -> None:
        """Connect what leads to a request or a run, and what changes whether anything may come up."""
        self.dock.mode.guard.connect(self.overall.guard)
        self.dock.mode.lock.connect(self.overall.ask_lock)
        self.dock.mode.trust.connect(self.overall.ask_trust)
        self.toolbar.presence.away.connect(self.overall.go_away)
        self.toolbar.presence.back.connect(self.overall.come_back)
        self.hurry.wanted.connect(self._show_request)
        self.deciding.opened.connect(self.hurry.refresh)
        self.toast.review.connect(self._show_request)
        self.attending.active.connect(self.idle.note)
        self.painted.connect(self.idle.begin)
        self.idle.left.connect(self.overall.go_away)
        self.idle.returned.connect(self.overall.come_back)
        self.unseen.changed.connect(self._count_queue)
        self.pages.shown.connect(self.unseen.look)
        self.aftermath.run_wanted.connect(self.show_run)
        self.dock.run_wanted.connect(self.show_run)
        self.dock.review.connect(self.show_waiting)
        self.dock.held.wanted.connect(self.show_work)
        self.deciding.queue.held.wanted.connect(self.pages.show_work)
        self.dock.widen.connect(self.turn_docked)
        self.dock.first_steps.connect(self.pages.show_first_steps)
        self.pages.shown.connect(self.toast.refresh)
        self.pages.shown.connect(self.hurry.refresh)
        self.presence.changed.connect(self.toast.refresh)


def _tell_of_test(window: Window, what: str) -> None:
    """Say what became of the test request of the first steps."""
    if window._cases.count_waiting():
        window.toolbar.say(what)  # a banner would move the buttons of what waits
    else:
        window.banners.say("first steps", Tone.GOOD, what, translated(FIRST_STEPS))


def _bind(window: QWidget, keys: str, act: Callable[[], object]) -> None:
    shortcut = QShortcut(QKeySequence(keys), window)
    shortcut.setAutoRepeat(False)
    shortcut.activated.connect(act)
