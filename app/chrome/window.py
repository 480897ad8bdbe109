"""What stands in the frame: toolbar, banners, navigation and pages. A page is built when it is first visited."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QPaintEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import phrases
from app.chrome.announcing import Announcing
from app.chrome.banners import Banners
from app.chrome.commands import Commands
from app.chrome.focus import Focus
from app.chrome.navigation import PAGES, Navigation
from app.chrome.toolbar import Toolbar
from app.chrome.vault import BANNER as VAULT
from app.chrome.vault import VaultNotice
from app.parts.amounts import counted
from app.parts.fold import Pages, Room
from app.parts.notice import Tone
from app.parts.roles import install
from app.remembering.fatigue import Fatigue
from app.review.deciding import Deciding
from runner.model.events import AgentsChanged, GatewayOpened, RunFinished, TroubleCleared

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.bridge import Bridge
    from app.cards import Cards
    from app.chrome.frame import Frame
    from app.look.look import Look
    from app.remembering.dialog import About
    from runner.model.events import Event
    from runner.policy.grants import Grant
    from runner.system.places import Places

NARROW = 1120
"""Width below which the navigation is a rail."""
READ = frozenset({"Agents", "Rules", "Settings", "Doctor", "Help"})
"""Pages on which words at the left belong to what stands at the right: on a very wide window they stay together."""
WIDEST = 1280


class Window(QWidget):
    """Everything a person sees and touches. Pages never know each other; this is what switches between them."""

    painted = Signal()
    """For the first time."""

    def __init__(self, cases: Cards, bridge: Bridge, look: Look, places: Places, frame: Frame) -> None:
        super().__init__(frame)
        install()
        self.frame = frame
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._places = places
        self._pages: dict[str, QWidget] = {}
        self._painted = False
        self.toolbar = Toolbar(cases, look)
        self.banners = Banners(cases, look)
        self.vault = VaultNotice(self.banners, places, bridge.secrets, self)
        self.navigation = Navigation(look)
        self.fatigue = Fatigue(cases, parent=self)
        self.deciding = Deciding(cases, bridge, look)
        self.commands = Commands(self, cases, bridge, look)
        self.announcing = Announcing(cases, self)
        self.focus_ring = Focus(look, self)
        self._stack = Pages()
        self._add_page("Queue", self.deciding)
        self._lay_out()
        self._connect()
        self.show_page("Queue")
        self.deciding.review.focus_neutral()

    # ---- pages ----

    def page(self, name: str) -> QWidget:
        """The page called `name`, built now if it was not before."""
        if name not in self._pages:
            self._add_page(name, self._makers()[name]())
        return self._pages[name]

    @Slot(str)
    def show_page(self, name: str) -> None:
        page = self.page(name)
        self.navigation.mark(name)
        self._stack.setCurrentWidget(page)

    @property
    def shown_page(self) -> str:
        return next(name for name, page in self._pages.items() if page is self._stack.currentWidget())

    def _makers(self) -> dict[str, Callable[[], QWidget]]:
        return {
            "Running": self._make_running,
            "History": self._make_history,
            "Agents": self._make_agents,
            "Rules": self._make_rules,
            "Settings": self._make_settings,
            "Doctor": self._make_doctor,
            "Help": self._make_help,
        }

    def _make_running(self) -> QWidget:
        from app.running.panel import RunningPanel
        from runner.audit import captures

        return RunningPanel(self._cases, self._bridge, self._look, partial(captures.read, self._places))

    def _make_history(self) -> QWidget:
        from app.history.panel import HistoryPanel

        panel = HistoryPanel(self._cases, self._look, self._places)
        panel.detail.try_wanted.connect(self._try_request)
        return panel

    def _make_agents(self) -> QWidget:
        from app.agents.panel import AgentsPanel

        panel = AgentsPanel(self._cases, self._bridge, self._look)
        panel.tested.connect(partial(self.show_page, "Queue"))
        return panel

    def _make_rules(self) -> QWidget:
        from app.remembering.panel import RulesPanel

        panel = RulesPanel(self._cases, self._bridge, self._look, self._places)
        panel.remember.connect(self._remember)
        return panel

    def _make_settings(self) -> QWidget:
        from app.settings.panel import SettingsPanel

        panel = SettingsPanel(self._bridge, self._look, self._places)
        self._bridge.reloaded.connect(self.vault.look_again)
        return panel

    def _make_doctor(self) -> QWidget:
        from app.doctor.panel import DoctorPanel

        panel = DoctorPanel(self._look, self._places)
        panel.built.connect(self._bridge.look_for_sandbox)
        return panel

    def _make_help(self) -> QWidget:
        from app.help.panel import HelpPanel

        return HelpPanel(self._look)

    def _add_page(self, name: str, page: QWidget) -> None:
        if name in READ:
            page.setMaximumWidth(self._look.px(WIDEST))
        self._pages[name] = page
        self._stack.addWidget(page)

    @Slot()
    def show_add_agent(self) -> None:
        self.show_page("Agents")
        self.page("Agents").begin_adding()  # type: ignore[attr-defined]

    def _show_secrets(self) -> None:
        """Where the person may agree to a file."""
        self.show_page("Settings")
        self.page("Settings").reveal("secrets_file")  # type: ignore[attr-defined]

    @Slot()
    def _refresh_page(self) -> None:
        """F5: a page that shows something from outside looks again."""
        refresh = getattr(self._stack.currentWidget(), "look_again", None)
        if refresh is not None:
            refresh()

    # ---- what happens ----

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        waiting = self._cases.count_waiting()
        self.navigation.count("Queue", waiting)
        self.navigation.count("Running", self._cases.count_running())
        title = f"({waiting}) Assent" if waiting else "Assent"
        if title != self.frame.windowTitle():
            self.frame.setWindowTitle(title)
        if any(isinstance(event, (AgentsChanged, GatewayOpened)) for event in events):
            self._cases.know_agents(self._bridge.agents())
        if any(isinstance(event, (GatewayOpened, TroubleCleared, RunFinished)) for event in events):
            self._bridge.ask_sandbox()

    @Slot(str)
    def _failed(self, why: str) -> None:
        self.banners.say("failed", Tone.WARN, why)

    @Slot(str, str)
    def _declined(self, request_id: str, why: str) -> None:
        """An answer to what is still on screen is told there; any other is told here."""
        card = self.deciding.review.card
        if card is None or card.id != request_id or self.shown_page != "Queue":
            self.banners.say("declined", Tone.WARN, why)

    @Slot(str)
    def _act(self, name: str) -> None:
        """The button of a banner."""
        match name:
            case "ledger":
                self._confirm_new_ledger()
            case "sandbox" | "secrets":
                self.show_page("Doctor")
            case "settings":
                self.show_page("Settings")
            case "grants":
                self.show_page("Rules")
            case "fatigue":
                self.banners.unsay(name)
                self.show_page("Rules")
            case _ if name == VAULT:
                self._show_secrets()
            case _:
                pass

    # ---- Pause all, Stop all and other questions ----

    @Slot()
    def hold_all(self) -> None:
        """Pause every run that can be, or let all go on; it takes nothing away, so nobody is asked."""
        if self._cases.count_running():
            self._bridge.hold_all(not self._cases.all_held)

    @Slot(bool, object)
    def _all_held(self, held: bool, left: tuple[str, ...]) -> None:
        """Say which runs go on all the same."""
        cards = [card for one in left if (card := self._cases.card(one)) is not None and card.running]
        if not held or not cards:
            return
        first = f"{phrases.visible(cards[0].request.agent)}'s in the {phrases.isolation(cards[0].request.isolation)}"
        more = f" and {len(cards) - 1} more" if len(cards) > 1 else ""
        self.toolbar.say(f"{counted(len(cards), 'run')} cannot be paused: {first}{more}.")

    @Slot()
    def stop_all(self) -> None:
        """Ask once, then stop every run and deny every question."""
        waiting, running = self._cases.count_waiting(), self._cases.count_running()
        if not waiting and not running:
            return
        parts = []
        if running:
            parts.append(f"{counted(running, 'run')} will be stopped.")
        if waiting:
            parts.append(f"{counted(waiting, 'question')} will be denied.")
        self.ask("Stop all?", " ".join(parts), "Stop all", self._stop_all_if)

    def _stop_all_if(self, yes: bool) -> None:
        if yes:
            self._bridge.stop_all()

    def _confirm_new_ledger(self) -> None:
        what = "The history that cannot be read is kept under another name. A new one begins and says so."
        self.ask("Begin a new history?", what, "Begin a new one", self._new_ledger_if)

    def _new_ledger_if(self, yes: bool) -> None:
        if yes:
            self._bridge.renew_ledger()

    def ask(self, title: str, what: str, yes: str, told: Callable[[bool], None]) -> None:
        """Put a question over the window without stopping anything; only the button itself means yes."""
        from app.parts.confirm import ConfirmDialog

        ConfirmDialog(self, title, what, yes, told).open()

    def ask_to_quit(self, what: str, told: Callable[[bool], None]) -> None:
        self.frame.bring_to_front()
        self.ask("Quit Assent?", what, "Quit", told)

    # ---- what is remembered ----

    @Slot()
    def _remember_shown(self) -> None:
        """The request under review."""
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

        RememberDialog(self, about, self._bridge, self._look).open()

    @Slot(str, str)
    def _try_request(self, request_id: str, words: str) -> None:
        self.show_page("Rules")
        self.page("Rules").try_request(request_id, words)  # type: ignore[attr-defined]

    @Slot(str, object)
    def _remembered(self, _request_id: str, made: Grant | str) -> None:
        if not isinstance(made, str):
            from app.remembering import words

            # Not as a banner: that would move the buttons of the request that still waits.
            self.toolbar.say(f"Remembered, see Rules. {words.ends(made)}")

    @Slot(str)
    def _tired(self, what: str) -> None:
        self.banners.say("fatigue", Tone.INFO, what, "Rules")

    # ---- window ----

    @Slot()
    def review(self) -> None:
        """What a notice leads to: the window, with the queue on it. It never decides anything."""
        self.frame.bring_to_front()
        self.show_page("Queue")

    def stop_all_in_front(self) -> None:
        """From the tray: the question is asked where it can be seen."""
        self.frame.bring_to_front()
        self.stop_all()

    def lock_in_front(self) -> None:
        self.frame.bring_to_front()
        self.commands.ask_lock()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.painted.emit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.navigation.set_narrow(self.width() < self._look.px(NARROW))

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        middle = QHBoxLayout()
        middle.setSpacing(px(10))
        middle.addWidget(self.navigation)
        middle.addWidget(Room(self._inside()), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(12), px(8), px(12), px(10))
        column.setSpacing(px(8))
        column.addWidget(self.toolbar)
        column.addLayout(middle, 1)
        self.frame.setCentralWidget(self)

    def _inside(self) -> QWidget:
        """What scrolls where the text is large: the page, with what is said above it."""
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._look.px(8))
        column.addWidget(self.banners)
        column.addWidget(self._stack, 1)
        return inside

    def _connect(self) -> None:
        self.navigation.wanted.connect(self.show_page)
        self.toolbar.hold_all.connect(self.hold_all)
        self.toolbar.stop_all.connect(self.stop_all)
        self.toolbar.looked_at.connect(self._bridge.ask_sandbox)
        self._bridge.all_held.connect(self._all_held)
        self.banners.wanted.connect(self._act)
        self.deciding.add_agent.connect(self.show_add_agent)
        self.deciding.review.remember_wanted.connect(self._remember_shown)
        self._bridge.remembered.connect(self._remembered)
        self.fatigue.noticed.connect(self._tired)
        self._cases.happened.connect(self._take)
        self._bridge.failed.connect(self._failed)
        self._bridge.declined.connect(self._declined)
        self._bridge.sandbox_seen.connect(self._cases.know_sandbox)
        for number, page in enumerate(PAGES, 1):
            self._key(f"Ctrl+{number}", partial(self.show_page, page.name))
        self._key("F1", partial(self.show_page, "Help"))
        self._key("F5", self._refresh_page)
        self._key("Ctrl+K", self.commands.open_palette)
        self._key("?", self.commands.open_keys)
        self._key("Ctrl+Shift+H", self.hold_all)
        self._key("Ctrl+Shift+S", self.stop_all)
        self._key("Ctrl+Q", self.frame.close_wanted.emit)

    def _key(self, keys: str, act: Callable[[], object]) -> None:
        shortcut = QShortcut(QKeySequence(keys), self)
        shortcut.setAutoRepeat(False)
        shortcut.activated.connect(act)
