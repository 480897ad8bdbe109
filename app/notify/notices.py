"""Notices while the window is not in front. Nothing here can decide anything."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from app import phrases
from app.notify.desktop import Said
from app.parts.amounts import time_left
from app.prompt import words
from app.prompt.window import has_focus as in_front
from app.state import rehearsals
from app.state.attention import attention
from runner.model.decision import Decider, Verdict
from runner.model.events import (
    AgentsChanged,
    CallsRefused,
    QuestionAsked,
    QuestionPaused,
    RequestDecided,
    RunFinished,
    RunStarted,
)
from runner.model.result import Outcome
from runner.model.translation import plural, tr
from runner.system.clock import since_boot

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.chrome.window import Window
    from app.notify.desktop import Desktop
    from app.state.cards import Card, Cards
    from runner.model.events import Event
    from runner.model.work import CommandSeen, WorkSession

QUIET_SECONDS = 3.0
"""Between two notices of new requests: a burst of them is one notice."""
EXPIRED_SECONDS = 10.0
"""Between two expiries that one notice names."""
MARKUP = frozenset("<>&")
"""What some desktops take for markup: a sentence with one of these in it is not passed on."""
LONG_RUN_MS = 30_000
WORK = "work "
"""Before the name of a working copy, in what a notice is about."""
MANY_REFUSED = 20
"""Refused calls of one agent that are worth a notice; the banner counts every one."""
LIMITS = frozenset({Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUT_OF_DISK, Outcome.OUTPUT_LIMIT})


class Notices(QObject):
    """Says it to `desktop`; while nobody there shows notices, `fallback` has title and text for the tray."""

    fallback = Signal(str, str)

    def __init__(
        self,
        cases: Cards,
        window: Window,
        desktop: Desktop,
        sounds: Callable[[], bool],
        ring: Callable[[], None] = QApplication.beep,
        prompted: Callable[[], bool] = lambda: False,
        parent: QObject | None = None,
    ) -> None:
        """`sounds` tells whether there is to be a sound; `ring` makes one where the desktop cannot.

        `prompted` tells whether questions come up as cards: then a notice says only what a card does not.
        """
        super().__init__(parent)
        self._prompted = prompted
        self._expired: list[str] = []
        """Requests whose expiry the newest notice of that kind is about."""
        self._expired_at = float("-inf")
        self._sounds = sounds
        self._ring = ring
        self._cases = cases
        self._window = window
        self._desktop = desktop
        self._said_at = float("-inf")
        self._latest: Said | None = None
        self._half = QTimer(self)
        self._half.setSingleShot(True)
        self._half.timeout.connect(self._remind)
        self._reminded: set[str] = set()
        self._refused: dict[str, int] = {}
        cases.happened.connect(self._take)
        window.work.ended.connect(self._tell_work_ended)
        window.work.held.connect(self._tell_work_held)
        desktop.clicked.connect(self._clicked)
        desktop.silent.connect(ring)
        desktop.missing.connect(self._fall_back)

    @property
    def away(self) -> bool:
        """Whether a notice is wanted: no window of Assent is in front, a dialog neither, and nobody wants quiet."""
        return not in_front() and self._window.presence.may_disturb

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        asked: Card | None = None
        for event in events:
            match event:
                case QuestionAsked(request_id):
                    asked = self._cases.card(request_id)
                case RequestDecided(request_id, decision):
                    self._desktop.unsay(request_id)
                    if decision.verdict is Verdict.EXPIRED:
                        self._tell_missed(request_id)
                case RunStarted(request_id):
                    self._watch(request_id)
                case RunFinished(request_id, result) if result.outcome in LIMITS:
                    self._tell_limit(request_id)
                case CallsRefused():
                    self._count_refused(event)
                case AgentsChanged(connected) if connected and self.away:
                    text = tr("{connected} has connected.", connected=phrases.visible(connected))
                    self._say(Said(f"connected {connected}", tr("An agent has connected"), text))
                case _:
                    pass
        if asked is not None:
            self._tell_asked(asked)
        if any(isinstance(event, (QuestionAsked, QuestionPaused, RequestDecided)) for event in events):
            self._plan()

    def _plan(self) -> None:
        """Set the timer to the next question of which half the time will have passed."""
        waiting = {card.id: _half_passed(card) for card in self._cases.waiting() if not card.paused}
        self._reminded &= waiting.keys()
        due = min((at for one, at in waiting.items() if one not in self._reminded), default=None)
        if due is None:
            self._half.stop()
        else:
            self._half.start(max(1, round((due - since_boot()) * 1000)))

    def _tell_asked(self, card: Card, reminding: bool = False) -> None:
        if not card.waiting or not self.away:
            return
        QApplication.alert(self._window.frame, 0)
        if not reminding and (time.monotonic() - self._said_at < QUIET_SECONDS or self._prompted()):
            return
        self._said_at = time.monotonic()
        others = self._cases.count_waiting() - 1
        more = plural(" {count} other waiting.", " {count} others waiting.", others) if others else ""
        hurry = tr(" Half of the time to answer has passed.") if reminding else ""
        title = tr(
            "{level} by {agent}, {time_left}",
            level=_level(card),
            agent=_agent(card),
            time_left=time_left((card.deadline or 0.0) - since_boot()),
        )
        self._say(Said(card.id, title, f"{telling(card)}{hurry}{more}", reminding, reminding and self._sounds()))

    @Slot()
    def _remind(self) -> None:
        """Half of the time has passed and nobody has come: this one stays. Several at once are one notice."""
        now = since_boot()
        due = [card for card in self._cases.waiting() if not card.paused and card.id not in self._reminded]
        due = [card for card in due if _half_passed(card) <= now]
        self._reminded |= {card.id for card in due}
        if due:
            self._tell_asked(min(due, key=_half_passed), reminding=True)
        self._plan()

    def _tell_missed(self, request_id: str) -> None:
        """Report a request that expired; of several within a short time in one notice."""
        card = self._cases.card(request_id)
        if card is None or not self.away:
            return
        now = time.monotonic()
        self._expired = [*self._expired, request_id] if now - self._expired_at < EXPIRED_SECONDS else [request_id]
        self._expired_at = now
        count = len(self._expired)
        title = tr("A request expired") if count == 1 else tr("{count} requests expired", count=count)
        whose = (
            tr("{agent} got no answer in time.", agent=_agent(card)) if count == 1 else tr("Nobody answered in time.")
        )
        ran = rehearsals.nothing_ran(card) if count == 1 else tr("Nothing was approved.")
        what = tr("{ran} See Missed, where it can be approved for later.", ran=ran)
        self._say(Said(self._expired[0], title, f"{whose} {what}", True))

    def _watch(self, request_id: str) -> None:
        """Announce a long run that nobody was asked about."""
        card = self._cases.card(request_id)
        if card is not None and card.decision is not None and card.decision.by is not Decider.PERSON:
            QTimer.singleShot(LONG_RUN_MS, self, lambda: self._tell_long(request_id))

    def _tell_long(self, request_id: str) -> None:
        card = self._cases.card(request_id)
        if card is not None and card.running and self.away:
            text = tr("A run of {agent} that was approved without asking has taken over 30 s.", agent=_agent(card))
            self._say(Said(request_id, tr("Still running"), text))

    def _tell_limit(self, request_id: str) -> None:
        card = self._cases.card(request_id)
        if card is not None and card.result is not None and self.away:
            self._say(Said(request_id, tr("A run hit a limit"), f"{_agent(card)}: {phrases.ended(card.result)}"))

    def _count_refused(self, event: CallsRefused) -> None:
        before = self._refused.get(event.agent, 0)
        self._refused[event.agent] = now = before + event.count
        if before < MANY_REFUSED <= now and self.away:
            agent = phrases.visible(event.agent) or tr("Somebody without a valid token")
            text = plural(
                "{agent} was refused {count} call. See the window for why.",
                "{agent} was refused {count} calls. See the window for why.",
                now,
                agent=agent,
            )
            self._say(Said(f"refused {event.agent}", tr("Many refused calls"), text))

    @Slot(object)
    def _tell_work_ended(self, session: WorkSession) -> None:
        if not self.away:
            return
        found = self._window.work.changes(session.name)
        changes = f", {plural('{count} change', '{count} changes', len(found.changes))}" if found is not None else ""
        title = tr("{project}: a program has ended", project=_project(session))
        self._say(
            Said(
                f"{WORK}{session.name}",
                title,
                tr("{program} has ended{changes}.", program=_program(session), changes=changes),
            )
        )

    @Slot(object, object)
    def _tell_work_held(self, session: WorkSession, _command: CommandSeen) -> None:
        """Announce a held command; which one is said in the window, as the program chose its words."""
        if self.away:
            QApplication.alert(self._window.frame, 0)
            number = len(session.held)
            text = plural(
                "{program} waits with {count} command for your answer.",
                "{program} waits with {count} commands for your answer.",
                number,
                program=_program(session),
            )
            self._say(
                Said(f"{WORK}{session.name}", tr("{project}: a command waits", project=_project(session)), text, True)
            )

    def _say(self, said: Said) -> None:
        self._latest = said
        self._desktop.say(said)

    @Slot()
    def _fall_back(self) -> None:
        if self._latest is not None:
            if self._latest.sounds:
                self._ring()
            self.fallback.emit(self._latest.title, self._latest.text)

    @Slot(str)
    def _clicked(self, about: str) -> None:
        """Bring the window and the request to the front, where it is still there; this never answers one."""
        if about.startswith(WORK):
            self._window.show_work(about.removeprefix(WORK))
            return
        self._window.review()
        card = self._cases.card(about)
        if card is None:
            return
        if card.waiting or card.missed:
            self._window.deciding.show_request(about)
        elif card.started is not None:
            self._window.show_page("Running")


def telling(card: Card) -> str:
    """Return what a request would do, in Assent's words: `Sends data to stats.example.`

    Names of hosts and files in them are the agent's, so a sentence that could be taken for markup is left out.
    """
    said = words.sentence(card)
    return tr("Open it to review.") if MARKUP & set(said) else said


def _project(session: WorkSession) -> str:
    """Return the name of a project's folder, where it could not be taken for markup."""
    name = phrases.visible(Path(session.project).name)
    return tr("A project") if MARKUP & set(name) else name


def _program(session: WorkSession) -> str:
    name = phrases.visible(session.client or Path(session.program[0]).name if session.program else "")
    return tr("The program") if not name or MARKUP & set(name) else name


def _level(card: Card) -> str:
    worst = attention(card)
    return tr("A request") if worst is None else tr("{name} request", name=worst.name)


def _agent(card: Card) -> str:
    return phrases.visible(card.request.agent)


def _half_passed(card: Card) -> float:
    """When half of the time to answer is over, on the clock of `since_boot`."""
    return (card.deadline or 0.0) - card.window / 2
