"""The page Today: four figures, the day of every agent, what is worth a look, and plots of longer spans."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app import phrases
from app.history.reader import Reader
from app.link.background import Errands
from app.link.page_tasks import PageTasks
from app.parts.amounts import percent
from app.parts.column import ScrollColumn
from app.parts.empty import EmptyState
from app.parts.notice import Notice, Tone
from app.parts.order import tab_in_reading_order
from app.today import overview
from app.today.bars import lanes, merged, session_bars
from app.today.cards import Heading, PlotCards, SpanCard, WorthCard
from app.today.embedded import stretch
from app.today.highlights import Known, LeftByWork, ToHistory, ToOffers, ToPage, ToPause, ToWork, worth_a_look
from app.today.reading import MOST_BARS, TOUCHING, WORKING, DayRead, read_day, read_news
from app.today.spans import TimeSpan, midnight, today_ordinal
from app.today.table import table
from app.today.tiles import Tiles
from app.today.unforeseen import is_surprising
from runner.approval.learning import Learned
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.events import GrantsChanged, RequestArrived, RequestAssessed, RequestDecided
from runner.model.translation import numeral, plural, tr
from runner.system.durable import replace_file

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from app.state.work_cards import WorkCards
    from app.today.bars import Bar
    from app.today.highlights import Act
    from runner.audit.history.search import History
    from runner.model.events import Event
    from runner.system.places import Places

NEWS_MS = 400
"""What has happened is read at most this often."""
MOST_NEWS = 200
"""Requests that are read one by one; with more of them the day is read again."""
BEHIND_MS = 2000
DAY_MS = 60_000
NO_AGENTS = (tr("Connect your first agent"), tr("What it asks, what you decide and what became of it is shown here."))
NO_REQUESTS = (
    tr("Nothing has been asked yet"),
    tr("The first request of an agent opens in the queue, and is counted here."),
)
_DOT = " \N{MIDDLE DOT} "


class TodayPanel(QWidget):
    """Reads once when it is first seen; after that only what happened since."""

    history_wanted = Signal(object)
    """Requests to be shown in History, as `Filters.restore` takes them."""
    page_wanted = Signal(str)
    work_wanted = Signal(str)
    """Name of a working copy that is to be shown on the page of work."""
    offers_wanted = Signal()
    """What the latest answers offer to remember."""

    def __init__(
        self,
        cases: Cards,
        bridge: EngineLink,
        look: Look,
        places: Places,
        parent: QWidget | None = None,
        today: Callable[[], int] = today_ordinal,
        work: WorkCards | None = None,
    ) -> None:
        """`work` says which programs are at work now, and what they left; None for none."""
        super().__init__(parent)
        self._work = work
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._places = places
        self._today = today
        self._reader = Reader(places.ledger, "today", self)
        self._errands = Errands("today-table", self)
        self._tasks = PageTasks("today", self)
        self._read: DayRead | None = None
        self._day = 0
        self._bars: dict[str, Bar] = {}
        self._suspects: set[str] = set()
        self._asking = False
        self._learned = Learned()
        self._is_counting = False
        """Whether the notice says that the figures are not complete."""
        self.heading = Heading(look)
        self.tiles = Tiles(look)
        self.span_card = SpanCard(look)
        self.worth = WorthCard(look)
        self.plots = PlotCards(look, self.worth)
        self.notice = Notice(look, Tone.INFO, "", closable=True)
        self.notice.hide()
        self.no_agents = EmptyState(look, "bot", *NO_AGENTS, tr("First steps"))
        self.no_requests = EmptyState(look, "chart", *NO_REQUESTS)
        self._news = self._timer(NEWS_MS, self._catch_up)
        self._behind = self._timer(BEHIND_MS, self.look_again)
        self._soon = self._timer(NEWS_MS, self._show)
        self._clock = QTimer(self)
        self._clock.setInterval(DAY_MS)
        self._clock.timeout.connect(self._let_day_pass)
        self._lay_out()
        self._connect()

    # ---- reading ----

    @property
    def span(self) -> TimeSpan:
        return self.heading.span

    @Slot()
    def look_again(self) -> None:
        """Read the span again (F5)."""
        span, day, verified = self.span, self._today(), self._places.verified
        self._suspects.clear()
        self._asking = True
        self._reader.ask(lambda history: read_day(history, span, day, verified), self._begin, self._failed)

    @Slot()
    def _catch_up(self) -> None:
        """Read what became of the requests to which something happened."""
        if self._asking or not self.isVisible():
            return
        span, day, verified, names = self.span, self._today(), self._places.verified, frozenset(self._suspects)
        if day != self._day or self._read is None or len(names) > MOST_NEWS:
            self.look_again()
            return
        self._suspects.clear()
        self._asking = True

        def work(history: History) -> DayRead:
            return read_news(history, span, day, names, verified)

        self._reader.ask(work, self._continue, self._failed)

    def _begin(self, read: DayRead) -> None:
        self._bars = {one.id: one for one in read.bars}
        self._day = read.shown.last if read.shown.span is not TimeSpan.ALL else self._today()
        self._take_read(read)

    def _continue(self, read: DayRead) -> None:
        before = self._read or read
        cut = before.cut
        self._bars = merged(self._bars, read.bars)
        if len(self._bars) > MOST_BARS:
            newest = sorted(self._bars.values(), key=lambda one: one.begin)[-MOST_BARS:]
            self._bars, cut = {one.id: one for one in newest}, True
        self._take_read(DayRead(read.shown, (), read.verified, before.surprises, cut, read.sessions, before.attempts))

    def _take_read(self, read: DayRead) -> None:
        self._asking = False
        self._read = read
        self._show()
        if self._suspects:
            self._news.start()
        if not read.shown.figures.complete and self.isVisible():
            self._behind.start()

    def _failed(self, error: Exception) -> None:
        self._asking = False
        if not self._places.ledger.exists():
            self._show_nothing()
            return
        words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else f"{error!r}"
        self._say(Tone.BAD, tr("The history cannot be read. {words}", words=phrases.visible(words)))
        self._pages.setCurrentIndex(0)

    # ---- what happens ----

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        names = {event.request.id for event in events if isinstance(event, RequestArrived)}
        names |= {event.request_id for event in events if isinstance(event, TOUCHING)}
        if names and len(self._suspects) <= MOST_NEWS:
            self._suspects |= names
        if not self.isVisible():
            return
        if (names or any(isinstance(event, WORKING) for event in events)) and not self._news.isActive():
            self._news.start()
        if any(is_surprising(event) or self._is_grave(event) for event in events):
            self._behind.start()
        if any(isinstance(event, GrantsChanged) for event in events):
            self._ask_learned()

    def _is_grave(self, event: Event) -> bool:
        """Return whether a CRITICAL request was asked or answered."""
        if not isinstance(event, (RequestAssessed, RequestDecided)):
            return False
        card = self._cases.card(event.request_id)
        return card is not None and card.level is Level.CRITICAL

    @Slot()
    def _let_day_pass(self) -> None:
        if self._today() != self._day:
            self.look_again()

    def _ask_learned(self) -> None:
        self._tasks.start("learned", self._learn(self._bridge.memory.learned()))

    async def _learn(self, answer: Future[Learned]) -> None:
        try:
            self._learned = await answer
        except KnownError:
            self._learned = Learned()  # the page of rules says why; here it is one sentence less
        self._show_worth()

    # ---- showing ----

    @Slot()
    def _show(self) -> None:
        read = self._read
        if read is None:
            return
        shown = read.shown
        if not (shown.figures.first or self._bars or read.sessions or self._left_by_work(read)):
            self._show_nothing()
            return
        self._pages.setCurrentIndex(0)
        self.heading.tell(self._state())
        overview.show_tiles(self.tiles, shown)
        if shown.span is TimeSpan.TODAY:
            note = tr("The newest {most_bars} requests of the day", most_bars=numeral(MOST_BARS)) if read.cut else ""
            at_work = {one.name for one in self._work.at_work()} if self._work is not None else frozenset()
            worked = session_bars(read.sessions, at_work, time.time())
            self.span_card.show_day(lanes([*self._bars.values(), *worked]), note)
        else:
            self.span_card.show_columns(overview.columns(shown), shown)
        self.plots.show_figures(shown)
        self._show_worth()
        figures = shown.figures
        if not figures.complete:
            share = percent(100 * figures.counted / figures.last)
            self._say(
                Tone.INFO,
                tr("{share} of the history is counted so far; the figures grow until all of it is.", share=share),
            )
            self._is_counting = True
        elif self.notice.isVisible() and self._is_counting:
            self.notice.hide()

    @Slot()
    def _show_soon(self) -> None:
        """Show once what came in many pieces: programs at work move by the second."""
        if self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _state(self) -> str:
        waiting = self._cases.count_waiting()
        running = self._cases.count_running()
        known = [agent for agent in self._cases.agents or () if not agent.revoked]
        held = self._work.count_held() if self._work is not None else 0
        parts = [
            plural("{count} agent", "{count} agents", len(known)),
            *[tr("{waiting} waiting for you", waiting=numeral(waiting))] * bool(waiting),
        ]
        parts += [plural("{count} command at work held for you", "{count} commands at work held for you", held)] * bool(
            held
        )
        left = sum(bool(one.changes) for one in self._left_by_work(self._read)) if self._read is not None else 0
        parts += [
            plural("changes of {count} working copy to look at", "changes of {count} working copies to look at", left)
        ] * bool(left)
        parts += [tr("nothing waiting")] * (not waiting and not held and not left)
        at_work = len(self._work.at_work()) if self._work is not None else 0
        parts += [tr("{running} running", running=numeral(running))] * bool(running) + [
            tr("{at_work} at work", at_work=numeral(at_work))
        ] * bool(at_work)
        return _DOT.join(parts)

    def _left_by_work(self, read: DayRead) -> tuple[LeftByWork, ...]:
        """Return the working copies that want somebody. Changes of those that ended are read where they were not."""
        if self._work is None:
            return ()
        past = {one.name: one for one in reversed(read.sessions)}
        found, unread = [], []
        for one in sorted(self._work.sessions, key=lambda one: -one.started_at):
            known = self._work.changes(one.name)
            if known is None and not (one.readable or one.at_work or self._work.problem(one.name)):
                unread.append(one.name)
            changes = len(known.changes) if known is not None and not one.at_work else 0
            if changes or one.held:
                found.append(LeftByWork(one, past.get(one.name), changes))
        if unread and self.isVisible():
            self._work.want(unread[0])  # one after the other: each comes back here
        return tuple(found)

    def _show_worth(self) -> None:
        read = self._read
        if read is None:
            return
        since = read.shown.figures.first
        facts = Known(
            now=time.time(),
            agents=tuple(self._cases.agents or ()),
            learned=self._learned,
            verified=read.verified,
            since=midnight(since) if since else 0.0,
            period=overview.period_state(read.shown),
            surprises=read.surprises,
            grants=frozenset(grant.name for grant in self._bridge.memory.grants()),
            left=self._left_by_work(read),
            attempts=read.attempts,
        )
        self.worth.show_notables(worth_a_look(read.shown, facts))

    def _show_nothing(self) -> None:
        agents = [agent for agent in self._cases.agents or () if not agent.revoked]
        self._pages.setCurrentWidget(self.no_requests if agents else self.no_agents)

    def _say(self, tone: Tone, words: str) -> None:
        self._is_counting = False
        self.notice.say(tone, words)
        self.notice.show()

    # ---- acting ----

    @Slot(object)
    def _act(self, act: Act) -> None:
        match act:
            case ToHistory(state):
                self.history_wanted.emit(state)
            case ToPage(name):
                self.page_wanted.emit(name)
            case ToOffers():
                self.offers_wanted.emit()
            case ToPause(agent):
                answer = self._bridge.agents.pause_agent(agent)
                self._tasks.attempt("pause", answer, lambda why: self._say(Tone.BAD, why))
            case ToWork(name):
                self.work_wanted.emit(name)

    @Slot(str, float)
    def _open_request(self, agent: str, at: float) -> None:
        self._open_stretch(agent, at, at)

    @Slot(str, float, float)
    def _open_stretch(self, agent: str, first: float, last: float) -> None:
        """Show in History what an agent asked between two moments, both included."""
        self.history_wanted.emit(stretch(agent, first, last))

    @Slot(int)
    def _open_column(self, place: int) -> None:
        if self._read is not None:
            shown = self._read.shown
            self.history_wanted.emit(overview.period_state(shown, shown.steps[place]))

    @Slot()
    def _export(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, tr("Export the figures"), "figures.csv", tr("Table (*.csv)"))
        if path:
            self.export(path if path.lower().endswith(".csv") else f"{path}.csv")

    def export(self, path: str) -> None:
        """Write the figures of the span to `path`."""
        if self._read is None:
            return
        text, target = table(self._read.shown), Path(path)

        def write() -> Path:
            replace_file(target, text)
            return target

        self._errands.send(write, self._exported, self._not_exported)

    def _exported(self, path: Path) -> None:
        self._say(Tone.GOOD, tr("The figures were written to {path}.", path=phrases.visible(str(path))))

    def _not_exported(self, error: Exception) -> None:
        why = error.strerror if isinstance(error, OSError) and error.strerror else f"{error!r}"
        self._say(Tone.BAD, tr("The figures could not be written: {why}.", why=phrases.visible(why)))

    # ---- building ----

    def _timer(self, milliseconds: int, act: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(act)
        return timer

    def _lay_out(self) -> None:
        px = self._look.px
        scroll = ScrollColumn(tr("Today"))
        scroll.column.setSpacing(px(8))
        for part in (self.tiles, self.span_card, self.plots):
            scroll.column.addWidget(part)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(8))
        column.addWidget(self.heading)
        column.addWidget(self.notice)
        column.addWidget(scroll, 1)
        self._pages = QStackedWidget()
        for one in (page, self.no_agents, self.no_requests):
            self._pages.addWidget(one)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._pages)
        tab_in_reading_order(self)

    def _connect(self) -> None:
        self.heading.chosen.connect(self.look_again)
        self.heading.export.clicked.connect(self._export)
        self.no_agents.pressed.connect(lambda: self.page_wanted.emit("First steps"))
        self.span_card.lanes.chosen.connect(self._open_request)
        self.span_card.lanes.selected.connect(self._open_stretch)
        self.span_card.columns.chosen.connect(self._open_column)
        self.plots.history_wanted.connect(self.history_wanted)
        self.worth.acted.connect(self._act)
        self._cases.happened.connect(self._take)
        self._cases.agents_known.connect(self._show)
        if self._work is not None:
            self._work.moved.connect(self._show_soon)
            self._work.changes_known.connect(self._show_soon)
        self.destroyed.connect(self._reader.close)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock.start()
        if event.spontaneous():
            return
        self._ask_learned()
        if self._read is None or self._today() != self._day:
            self.look_again()
        else:
            self._catch_up()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()
        self._news.stop()
        self._behind.stop()
        self._soon.stop()
