"""The pages of the window: built when first visited, one shown at a time. Pages never know each other."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from app.page_tasks import PageTasks
from app.parts.column import Centred
from app.parts.fold import Pages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from PySide6.QtWidgets import QWidget

    from app.bridge import EngineLink
    from app.cards import Cards
    from app.look.look import Look
    from app.today.beside import TodayLanes
    from app.today.day_reader import DayReader
    from app.work_cards import WorkCards
    from runner.identity.signer import Vouching
    from runner.model.request import Request
    from runner.model.submission import Submission
    from runner.system.places import Places

READ = frozenset({"Agents", "Rules", "Settings", "Doctor", "Help"})
"""Pages on which words at the left belong to what stands at the right: they stay together, in the middle."""
WIDEST = 1280
FIRST_STEPS = "First steps"
"""The page that has no button on the rail."""


class PageShelf(QObject):
    """Owns the pages and the stack that shows one of them; passes on what they want of the window."""

    shown = Signal(str)
    """Another page is on screen."""
    remember = Signal(object)
    """About: a suggestion of the page of rules was taken up."""
    settings_taken_up = Signal()
    sandbox_built = Signal()
    test_decided = Signal(str)
    """What became of the test request of the first steps."""
    keyring_answered = Signal()
    failed = Signal(str)
    """Why something that a page asked for could not be done, where the page itself has no place to say it."""

    def __init__(
        self, cases: Cards, work: WorkCards, bridge: EngineLink, look: Look, places: Places, place: QWidget
    ) -> None:
        super().__init__(place)
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
            self.add(name, self._makers()[name]())
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
        if name in READ:
            Centred(page, self._look.px(WIDEST))
        self._pages[name] = page
        self.stack.addWidget(page)

    # ---- to one place on a page ----

    @Slot()
    def show_add_agent(self) -> None:
        self.show("Agents")
        self.page("Agents").begin_adding()  # type: ignore[attr-defined]

    def show_work(self, name: str) -> None:
        """Show a working copy on the page of work."""
        self.show("Work")
        self.page("Work").show_session(name)  # type: ignore[attr-defined]

    @Slot()
    def ask_work(self) -> None:
        """Ask on which project which program is to work."""
        self.show("Work")
        self.page("Work").ask_start()  # type: ignore[attr-defined]

    @Slot()
    def show_first_steps(self) -> None:
        self.show(FIRST_STEPS)

    def show_setting(self, name: str) -> None:
        self.show("Settings")
        self.page("Settings").reveal(name)  # type: ignore[attr-defined]

    @Slot(object)
    def show_history(self, state: Mapping[str, str]) -> None:
        """Show in History what `state` asks for, as `Filters.restore` takes it."""
        self.show("History")
        self.page("History").ask_for(state)  # type: ignore[attr-defined]

    @Slot(str, str)
    def try_request(self, request_id: str, words: str) -> None:
        """Show on the page of rules what would happen to a past request now."""
        self.show("Rules")
        self.page("Rules").try_request(request_id, words)  # type: ignore[attr-defined]

    @Slot(object)
    def make_rule(self, request: Request) -> None:
        """Let the person make a rule from a past request, on the page of rules."""
        self.show("Rules")
        self.page("Rules").new_rule(request)  # type: ignore[attr-defined]

    @Slot()
    def refresh(self) -> None:
        """Reload a page that shows something from outside (F5)."""
        refresh = getattr(self.stack.currentWidget(), "look_again", None)
        if refresh is not None:
            refresh()

    @Slot()
    def furnish_queue(self) -> None:
        """Add what the queue can do without until the window is painted: the day, and a look into files."""
        from app.results.thumbnails import Thumbnails
        from app.today.beside import TodayInBrief
        from runner.audit import captures

        deciding: Any = self._pages["Queue"]
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
        from app.today.beside import TodayLanes

        lanes = TodayLanes(self._day, self._look)
        lanes.history_wanted.connect(self.show_history)
        return lanes

    # ---- making ----

    def _makers(self) -> dict[str, Callable[[], QWidget]]:
        return {
            FIRST_STEPS: self._make_first_steps,
            "Today": self._make_today,
            "Work": self._make_work,
            "Running": self._make_running,
            "History": self._make_history,
            "Agents": self._make_agents,
            "Rules": self._make_rules,
            "Settings": self._make_settings,
            "Doctor": self._make_doctor,
            "Help": self._make_help,
        }

    def _make_first_steps(self) -> QWidget:
        from app.agents.client_link import ClientLink
        from app.first_start.panel import FirstSteps

        panel = FirstSteps(self._cases, self._bridge, ClientLink(self._bridge), self._look, self._places)
        panel.queue_wanted.connect(partial(self.show, "Queue"))
        panel.agents_wanted.connect(self.show_add_agent)
        panel.work_wanted.connect(self.ask_work)
        panel.doctor_wanted.connect(partial(self.show, "Doctor"))
        panel.file_wanted.connect(partial(self.show_setting, "secrets_file"))
        panel.test_decided.connect(self.test_decided)
        panel.keyring_answered.connect(self.keyring_answered)
        return panel

    def _make_today(self) -> QWidget:
        from app.remembering.panel import about
        from app.today.panel import TodayPanel

        panel = TodayPanel(self._cases, self._bridge, self._look, self._places, self.stack, work=self._work)
        panel.work_wanted.connect(self.show_work)
        panel.history_wanted.connect(self.show_history)
        panel.page_wanted.connect(self.show)
        panel.remember.connect(lambda past: self.remember.emit(about(past)))
        return panel

    def _make_work(self) -> QWidget:
        from app.work.panel import WorkPanel

        panel = WorkPanel(self._work, self._bridge, self._look, self._places, self.stack)
        panel.failed.connect(self.failed)
        return panel

    def _make_running(self) -> QWidget:
        from app.allowing.run_hosts import RunHosts
        from app.running.panel import RunningPanel
        from runner.audit import captures

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

        panel = AgentsPanel(self._cases, self._bridge, self._look, self.stack)
        panel.tested.connect(partial(self.show, "Queue"))
        panel.failed.connect(self.failed)
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


def _vouching(places: Places, bridge: EngineLink) -> Vouching:
    """Return what vouches for the history; on the thread that verifies."""
    from runner.identity.signer import vouching

    return vouching(places, bridge.secrets())
