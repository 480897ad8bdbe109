"""Requests to the engine as a whole: modes, pausing and stopping everything, a new history, the sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.confirm import ConfirmDialog
from app.review.deliberate import DeliberateDialog
from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from app.state.work_cards import WorkCards


NOTHING_LEFT = tr("Nothing waits and nothing runs any more.")


class _UpToDate(QObject):
    """Keeps what a dialog says about what waits and runs as it is; ends with the dialog."""

    def __init__(self, dialog: ConfirmDialog, stake: Callable[[], str]) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._stake = stake

    @Slot(object)
    def say(self, _events: object) -> None:
        what = self._stake() or NOTHING_LEFT
        if what != self._dialog.what:
            self._dialog.say(what)


class OverallCommands(QObject):
    """Asks the person before it takes anything away, or lets something decide by itself."""

    failed = Signal(str)
    """Why something could not be done."""
    remarked = Signal(str)
    """Something about what was done that is worth a sentence."""

    def __init__(self, window: QWidget, cases: Cards, work: WorkCards, bridge: EngineLink, look: Look) -> None:
        super().__init__(window)
        self._window = window
        self._cases = cases
        self._work = work
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("window", self)
        self._sandbox_asked = 0
        """How often its facts were asked for: only the newest answer is shown."""

    def ask(self, title: str, what: str, yes: str, answered: Callable[[bool], None]) -> ConfirmDialog:
        """Put a question over the window without stopping anything; only the button itself means yes."""
        dialog = ConfirmDialog(self._window, title, what, yes, answered)
        dialog.open()
        return dialog

    def ask_about(
        self, title: str, stake: Callable[[], str], yes: str, answered: Callable[[bool], None]
    ) -> ConfirmDialog:
        """Put a question about what waits and runs, which changes while it is open: `stake` says it as it is."""
        dialog = self.ask(title, stake(), yes, answered)
        self._cases.happened.connect(_UpToDate(dialog, stake).say)
        return dialog

    def _ask_deliberately(self, title: str, what: str, yes: str, confirmed: Callable[[str], None]) -> None:
        """Put a question whose yes lets code run unasked; `confirmed` gets the PIN where that is asked for."""
        by = self._bridge.decisions.approve_by()
        DeliberateDialog(self._window, title, what, yes, confirmed, by, self._look).open()

    # ---- modes ----

    @Slot()
    def guard(self) -> None:
        """Ask about everything again."""
        self._tasks.attempt("guard", self._bridge.guard(), self.failed.emit)

    @Slot()
    def ask_lock(self) -> None:
        """Ask before Lockdown, which denies what waits."""
        self.ask_about(tr("Lock down?"), self._at_stake_in_lockdown, tr("Lock down"), self._lock_if)

    def _at_stake_in_lockdown(self) -> str:
        parts = [
            tr(
                "Every request is denied at once, agents are informed, and nothing is written into projects, until you"
                " choose Guarded again."
            )
        ]
        if waiting := self._cases.count_waiting():
            parts.append(
                plural("{count} open request will be denied.", "{count} open requests will be denied.", waiting)
            )
        return " ".join((*parts, *self._work_at_stake()))

    def _lock_if(self, yes: bool) -> None:
        if yes:
            self._tasks.attempt("lock", self._bridge.lock(), self.failed.emit)

    @Slot(str, int)
    def ask_trust(self, agent: str, minutes: int) -> None:
        """Ask before a trust window, which approves by itself."""
        what = tr(
            "For {minutes} minutes, what {agent} asks is approved without asking you, up to "
            "HIGH. CRITICAL asks you all the same. The toolbar shows the time that is left; "
            "Guarded ends it.",
            minutes=minutes,
            agent=phrases.visible(agent),
        )

        def trust(pin: str) -> None:
            self._tasks.attempt("trust", self._bridge.trust(agent, minutes * 60.0, pin), self.failed.emit)

        self._ask_deliberately(
            tr("Trust {agent}?", agent=phrases.visible(agent)),
            what,
            tr("Trust for {minutes} minutes", minutes=minutes),
            trust,
        )

    # ---- away ----

    @Slot()
    def go_away(self) -> None:
        """Let requests wait; this approves nothing, so nobody is asked."""
        self._tasks.attempt("away", self._bridge.go_away(), self.failed.emit)

    @Slot()
    def come_back(self) -> None:
        """Let requests expire as always."""
        self._tasks.attempt("back", self._bridge.come_back(), self.failed.emit)

    # ---- everything that waits and runs ----

    @Slot()
    def hold_all(self) -> None:
        """Pause every run that can be, or resume all; it takes nothing away, so nobody is asked."""
        if self._cases.count_running():
            self._wait_for_all(not self._cases.all_held)

    def _wait_for_all(self, held: bool) -> None:
        self._tasks.start("pause all", self._hold_all(held, self._bridge.runs.hold_all(held)))

    async def _hold_all(self, held: bool, answer: Future[tuple[str, ...]]) -> None:
        """Say which runs continue all the same."""
        try:
            left = await answer
        except KnownError as error:
            self.failed.emit(str(error))
            return
        cards = [card for one in left if (card := self._cases.card(one)) is not None and card.running]
        if not held or not cards:
            return
        where = sorted({phrases.isolation(card.request.isolation) for card in cards})
        which = plural(
            "{count} run in the {where}", "{count} runs in the {where}", len(cards), where=tr(" and the ").join(where)
        )
        self.remarked.emit(tr("{which} can't be paused. Stop instead?", which=which))

    @Slot()
    def stop_all(self) -> None:
        """Ask once, then stop every run and deny every question."""
        if self._cases.count_waiting() or self._cases.count_running() or self._work.at_work():
            self.ask_about(tr("Stop all?"), self._at_stake, tr("Stop all"), self._stop_all_if)

    def _at_stake(self) -> str:
        waiting, running = self._cases.count_waiting(), self._cases.count_running()
        parts = []
        if running:
            parts.append(plural("{count} run will be stopped.", "{count} runs will be stopped.", running))
        parts += self._work_at_stake()
        if waiting:
            parts.append(plural("{count} request will be denied.", "{count} requests will be denied.", waiting))
        return " ".join(parts)

    def _work_at_stake(self) -> list[str]:
        """Return what becomes of the programs at work."""
        at_work = len(self._work.at_work())
        return (
            [
                plural(
                    "{count} program at work will be ended; the changes stay.",
                    "{count} programs at work will be ended; the changes stay.",
                    at_work,
                )
            ]
            if at_work
            else []
        )

    def _stop_all_if(self, yes: bool) -> None:
        if yes:
            self._bridge.runs.stop_all()

    # ---- the history and the sandbox ----

    def try_history_again(self) -> None:
        """Look again at a history that could not be used; nothing is lost by that."""
        self._tasks.attempt("history", self._bridge.try_history_again(), self.failed.emit)

    def ask_new_ledger(self) -> None:
        """Ask before a new history; the old file stays."""
        what = tr("The history that cannot be read is kept under another name. A new one begins and says so.")
        self.ask(tr("Begin a new history?"), what, tr("Begin a new one"), self._new_ledger_if)

    def _new_ledger_if(self, yes: bool) -> None:
        if yes:
            self._tasks.attempt("new history", self._bridge.renew_ledger(), self.failed.emit)

    @Slot()
    def ask_sandbox(self) -> None:
        """Find out what runs get here."""
        self._wait_for_sandbox(self._bridge.runs.sandbox_facts())

    @Slot()
    def look_for_sandbox(self) -> None:
        """Choose again what runs get from now on."""
        self._wait_for_sandbox(self._bridge.runs.look_for_sandbox())

    def ask_weaker(self) -> None:
        """Ask before a weaker sandbox than last time is taken for the usual one."""
        facts, trouble = self._cases.sandbox, self._cases.troubles.get("isolation")
        if trouble is None or facts.get("isolation") not in list(Isolation):
            return
        present = Isolation(str(facts["isolation"]))
        where = phrases.isolation(present)
        what = tr(
            "{what} From now on what you remembered, rules and trust count for the {where} again.",
            what=trouble.what,
            where=where,
        )

        def accept(pin: str) -> None:
            self._tasks.attempt("accept", self._bridge.runs.accept_sandbox(present, pin), self.failed.emit)

        self._ask_deliberately(tr("Use the {where} from now on?", where=where), what, tr("Accept"), accept)

    def _wait_for_sandbox(self, answer: Future[dict[str, object]]) -> None:
        self._sandbox_asked += 1
        self._tasks.start("sandbox", self._know_sandbox(self._sandbox_asked, answer))

    async def _know_sandbox(self, number: int, answer: Future[dict[str, object]]) -> None:
        try:
            facts = await answer
        except KnownError as error:
            self.failed.emit(str(error))
            return
        if number == self._sandbox_asked:
            self._cases.know_sandbox(facts)
