"""The pages of the window: built when first visited, one shown at a time. Pages never know each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.link.page_tasks import PageTasks
from app.parts.column import Centred
from app.parts.fold import Pages
from app.parts.key_names import key_text
from runner.model.translation import to_translate, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Card, Cards
    from app.state.work_cards import WorkCards
    from app.today.day_reader import DayReader
    from app.today.embedded import TodayLanes
    from runner.identity.signer import Vouching
    from runner.model.request import Request
    from runner.model.submission import Submission
    from runner.system.places import Places

WIDEST = 1280
FIRST_STEPS = to_translate("First steps")
"""The page that has no button on the rail."""
P = TypeVar("P", bound=QWidget)


@dataclass(frozen=True, slots=True)
class PageSpec:
    """All that the window knows of a page before it is built: its button on the rail, its key, and how it is made."""

    name: str
    """By which it is asked for, in every language."""
    icon: str = ""
    """In `resources/icons/`; '' for a page without a button."""
    key: int | None = None
    """The digit that opens it with Ctrl, if it has one. All ten are taken."""
    make: Callable[[PageShelf], QWidget] | None = None
    """Called at the first visit; None for a page that the window itself puts in its place."""
    read: bool = False
    """Whether words at the left belong to what stands at the right: they stay together, in the middle."""

    @property
    def title(self) -> str:
        """Its name on screen."""
        return translated(self.name)

    @property
    def keys(self) -> str:
        """What one presses to open it; '' where nothing does."""
        return "" if self.key is None else key_text(f"Ctrl+{self.key}")


@runtime_checkable
class Refreshable(Protocol):
    """A page that shows something from outside the engine."""

    def look_again(self) -> None:
        """Load it again, as F5 asks."""
        ...


class PageShelf(QObject):
    """Owns the pages and the stack that shows one of them; passes on what they want of the window."""

    shown = Signal(str)
    """Another page is on screen."""
    remember = Signal(object)
    """About: an offer of the page of rules was taken up."""
    settings_taken_up = Signal()
    sandbox_built = Signal()
    test_decided = Signal(str)
    """What became of the test request of the first steps."""
    keyring_answered = Signal()
    failed = Signal(str)
    """Why something that a page asked for could not be done, where the page itself has no place to say it."""

    def __init__(
        self,
        cases: Cards,
        work: WorkCards,
        bridge: EngineLink,
        look: Look,
        places: Places,
        place: QWidget,
        specs: Sequence[PageSpec],
    ) -> None:
        """`specs` are the pages that there are."""
        super().__init__(place)
        self.specs = {spec.name: spec for spec in specs}
        self._cases = cases
        self._work = work
        self._bridge = bridge
        self._look = look
        self._places = places
        self._pages: dict[str, QWidget] = {}
        self._tasks = PageTasks("pages", self)
        self.stack = Pages(place)
        cases.agents_known.connect(self._know_inks)
        self._know_inks()

    @Slot()
    def _know_inks(self) -> None:
        self._look.know_inks({agent.name: agent.ink for agent in self._cases.agents or ()})

    def page(self, name: str) -> QWidget:
        """Return the page called `name`, built now if it was not before."""
        if name not in self._pages:
            make = self.specs[name].make
            assert make is not None, f"{name} is not there yet"
            self.add(name, make(self))
        return self._pages[name]

    @Slot(str)
    def show(self, name: str) -> None:
        self.stack.setCurrentWidget(self.page(name))
        self.shown.emit(name)

    @property
    def current(self) -> str:
        """Name of the page on screen."""
        return next(name for name, page in self._pages.items() if page is self.stack.currentWidget())

    def add(self, name: str, page: QWidget) -> None:
        """Put `page` in the place of `name`."""
        if self.specs[name].read:
            Centred(page, self._look.px(WIDEST))
        self._pages[name] = page
        self.stack.addWidget(page)

    # ---- to one place on a page ----

    def _shown(self, name: str, kind: type[P]) -> P:
        """Show the page called `name`, and return it."""
        self.show(name)
        page = self.page(name)
        assert isinstance(page, kind)
        return page

    @Slot()
    def show_add_agent(self) -> None:
        from app.agents.panel import AgentsPanel

        self._shown("Agents", AgentsPanel).begin_adding()

    def show_agent(self, name: str) -> None:
        """Show an agent in the list of agents."""
        from app.agents.panel import AgentsPanel

        self._shown("Agents", AgentsPanel).show_agent(name)

    def show_work(self, name: str) -> None:
        """Show a working copy on the page of work."""
        from app.work.panel import WorkPanel

        self._shown("Work", WorkPanel).show_session(name)

    @Slot()
    def ask_work(self) -> None:
        """Ask on which project which program is to work."""
        from app.work.panel import WorkPanel

        self._shown("Work", WorkPanel).ask_start()

    @Slot()
    def show_stronger(self) -> None:
        """Show in the Doctor what gets a stronger sandbox."""
        from app.doctor.panel import DoctorPanel

        self._shown("Doctor", DoctorPanel).lead_to_stronger()

    @Slot()
    def install_gvisor(self) -> None:
        from app.doctor.panel import DoctorPanel

        self._shown("Doctor", DoctorPanel).install_gvisor()

    @Slot()
    def show_first_steps(self) -> None:
        self.show(FIRST_STEPS)

    def show_setting(self, name: str) -> None:
        from app.settings.panel import SettingsPanel

        self._shown("Settings", SettingsPanel).reveal(name)

    def show_run(self, card: Card | None) -> None:
        """Show a run on the page of what runs; the page alone where there is none."""
        from app.running.panel import RunningPanel

        running = self._shown("Running", RunningPanel)
        if card is not None:
            running.show_run(card)

    @Slot(object)
    def show_history(self, state: Mapping[str, str]) -> None:
        """Show in History what `state` asks for, as `Filters.restore` takes it."""
        from app.history.panel import HistoryPanel

        self._shown("History", HistoryPanel).ask_for(state)

    def show_past(self, request_id: str, words: str) -> None:
        """Show a past request in History, among those that have `words`."""
        from app.history.panel import HistoryPanel

        self._shown("History", HistoryPanel).show_request(request_id, {"text": words})

    def show_help(self, title: str, heading: str = "") -> None:
        """Show the page of the help called `title`, from `heading` on."""
        from app.help.panel import HelpPanel

        self._shown("Help", HelpPanel).show_page(title, heading)

    @Slot()
    def show_offers(self) -> None:
        """Show what the latest answers offer to remember, on the page of rules."""
        from app.remembering.panel import RulesPanel

        self._shown("Rules", RulesPanel).show_learned()

    @Slot(str, str)
    def try_request(self, request_id: str, words: str) -> None:
        """Show on the page of rules what would happen to a past request now."""
        from app.remembering.panel import RulesPanel

        self._shown("Rules", RulesPanel).try_request(request_id, words)

    @Slot(object)
    def make_rule(self, request: Request) -> None:
        """Let the person make a rule from a past request, on the page of rules."""
        from app.remembering.panel import RulesPanel

        self._shown("Rules", RulesPanel).new_rule(request)

    @Slot()
    def refresh(self) -> None:
        """Reload a page that shows something from outside (F5)."""
        page: object = self.stack.currentWidget()
        if isinstance(page, Refreshable):
            page.look_again()

    @Slot()
    def furnish_queue(self) -> None:
        """Add what the queue can do without until the window is painted: the day, and a look into files."""
        from app.results.thumbnails import Thumbnails
        from app.review.deciding import Deciding
        from app.today.embedded import TodayInBrief
        from runner.audit.files import captures

        deciding = self._pages["Queue"]
        assert isinstance(deciding, Deciding)
        deciding.review.page.reading.offer_files(partial(captures.read, self._places))
        deciding.queue.just_now.show_pictures(Thumbnails(partial(captures.read, self._places), self))
        deciding.queue.none.add_below(TodayInBrief(self._day, self._look))
        deciding.review.nothing.add_below(self._lanes())

    @cached_property
    def _day(self) -> DayReader:
        from app.today.day_reader import DayReader

        return DayReader(self._cases, self._places, self, self._work)

    def _lanes(self) -> TodayLanes:
        """Return the lanes of the day for a page with nothing on it."""
        from app.today.embedded import TodayLanes

        lanes = TodayLanes(self._day, self._look)
        lanes.history_wanted.connect(self.show_history)
        return lanes

    # ---- making ----

    def _make_first_steps(self) -> QWidget:
        from app.agents.client_link import ClientLink
        from app.first_start.panel import FirstSteps

        panel = FirstSteps(self._cases, self._bridge, ClientLink(self._bridge), self._look, self._places)
        panel.queue_wanted.connect(partial(self.show, "Queue"))
        panel.agents_wanted.connect(self.show_add_agent)
        panel.work_wanted.connect(self.ask_work)
        panel.doctor_wanted.connect(partial(self.show, "Doctor"))
        panel.gvisor_wanted.connect(self.install_gvisor)
        panel.file_wanted.connect(partial(self.show_setting, "secrets_file"))
        panel.test_decided.connect(self.test_decided)
        panel.keyring_answered.connect(self.keyring_answered)
        return panel

    def _make_today(self) -> QWidget:
        from app.today.panel import TodayPanel

        panel = TodayPanel(self._cases, self._bridge, self._look, self._places, self.stack, work=self._work)
        panel.work_wanted.connect(self.show_work)
        panel.history_wanted.connect(self.show_history)
        panel.page_wanted.connect(self.show)
        panel.offers_wanted.connect(self.show_offers)
        return panel

    def _make_work(self) -> QWidget:
        from app.work.panel import WorkPanel

        panel = WorkPanel(self._work, self._bridge, self._look, self._places, self.stack)
        panel.failed.connect(self.failed)
        panel.nothing.add_below(self._lanes())
        return panel

    def _make_running(self) -> QWidget:
        from app.host_access.run_hosts import RunHosts
        from app.running.panel import RunningPanel
        from runner.audit.files import captures

        hosts = partial(RunHosts, self._bridge, self._look)
        captured = partial(captures.read, self._places)
        panel = RunningPanel(self._cases, self._bridge, self._look, captured, hosts, self.stack)
        panel.kept.failed.connect(self.failed)
        panel.nothing.add_below(self._lanes())
        return panel

    def _make_history(self) -> QWidget:
        from app.history.panel import HistoryPanel
        from app.settings.removing import ContentRemover

        # A keyring that did not open for the engine is not asked once more.
        vouching = partial(_vouching, self._places, self._bridge)
        panel = HistoryPanel(self._cases, self._look, self._places, self.stack, vouching=vouching, work=self._work)
        panel.work_wanted.connect(self.show_work)
        panel.detail.try_wanted.connect(self.try_request)
        panel.actions_of_list.rule_wanted.connect(self.make_rule)
        remover = ContentRemover(panel, self._bridge, self._look)
        panel.removal.old_wanted.connect(remover.ask_old)
        panel.removal.one_wanted.connect(remover.ask_one)
        remover.said.connect(panel.removal.say)
        remover.removed.connect(panel.look_again)
        panel.ask_again.connect(self._ask_again)
        return panel

    @Slot(object)
    def _ask_again(self, submission: Submission) -> None:
        """Make a request in the person's own name, and show the queue in which it will wait."""
        self._tasks.attempt("ask again", self._bridge.agents.ask(submission), self.failed.emit)
        self.show("Queue")

    def _make_agents(self) -> QWidget:
        from app.agents.panel import AgentsPanel
        from app.today.agent_days import agent_days

        panel = AgentsPanel(self._cases, self._bridge, self._look, self.stack)
        panel.tested.connect(partial(self.show, "Queue"))
        panel.failed.connect(self.failed)
        panel.day_wanted.connect(self._day.look)
        self._day.add_viewer(panel)
        self._day.read.connect(lambda read: panel.model.know_today({} if read is None else agent_days(read)))
        return panel

    def _make_rules(self) -> QWidget:
        from app.remembering.panel import RulesPanel

        panel = RulesPanel(self._cases, self._bridge, self._look, self._places, self.stack)
        panel.remember.connect(self.remember)
        panel.reloaded.connect(self.settings_taken_up)
        panel.failed.connect(self.failed)
        return panel

    def _make_settings(self) -> QWidget:
        from app.settings.panel import SettingsPanel

        panel = SettingsPanel(self._bridge, self._look, self._places, self.stack)
        panel.reloaded.connect(self.settings_taken_up)
        return panel

    def _make_doctor(self) -> QWidget:
        from app.doctor.panel import DoctorPanel, examine_here

        examine = partial(examine_here, secrets=self._bridge.secrets)
        panel = DoctorPanel(self._look, self._places, examine, parent=self.stack)
        panel.built.connect(self.sandbox_built)
        panel.asked.connect(self.sandbox_built)
        return panel

    def _make_help(self) -> QWidget:
        from app.help.panel import HelpPanel

        panel = HelpPanel(self._look, self.stack)
        panel.first_steps.connect(self.show_first_steps)
        return panel


PAGES = (
    PageSpec(to_translate("Today"), "chart", 9, PageShelf._make_today),
    PageSpec(to_translate("Queue"), "inbox", 1),
    PageSpec(to_translate("Work"), "layers", 0, PageShelf._make_work),
    PageSpec(to_translate("Running"), "activity", 2, PageShelf._make_running),
    PageSpec(to_translate("History"), "history", 3, PageShelf._make_history),
    PageSpec(to_translate("Agents"), "bot", 4, PageShelf._make_agents, read=True),
    PageSpec(to_translate("Rules"), "list", 5, PageShelf._make_rules, read=True),
    PageSpec(to_translate("Settings"), "settings", 6, PageShelf._make_settings, read=True),
    PageSpec(to_translate("Doctor"), "stethoscope", 7, PageShelf._make_doctor, read=True),
    PageSpec(to_translate("Help"), "info", 8, PageShelf._make_help, read=True),
    PageSpec(FIRST_STEPS, make=PageShelf._make_first_steps),
)
"""The pages of the console, in the order of the rail: all that there is to say of a page before it is built."""


def _vouching(places: Places, bridge: EngineLink) -> Vouching:
    """Return what vouches for the history; on the thread that verifies."""
    from runner.identity.signer import vouching

    return vouching(places, bridge.secrets())
