"""The queue: who waits for an answer, most urgent first in each agent's lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.parts.empty import EmptyState
from app.parts.fold import Pages
from app.parts.plain import plain_label
from app.parts.text.copies import offer_copies
from app.parts.text.lines import painted_view
from app.queue.answers import JustNowList
from app.queue.bar import BatchBar
from app.queue.delegate import CARD_HEIGHT, LANE_HEIGHT, QueueDelegate
from app.queue.held_at_work import HeldAtWork
from app.queue.model import QueueModel
from app.queue.order import Lane, RequestLine
from app.state.recent_answers import JustNowModel
from runner.approval.modes import Mode
from runner.model.events import (
    CallsRefused,
    EngineTroubled,
    GatewayOpened,
    GrantsChanged,
    RunHeld,
    RunMeasured,
    SandboxChosen,
    SandboxesChanged,
    TroubleCleared,
)
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.look.look import Look
    from app.state.cards import Card, Cards
    from app.state.work_cards import WorkCards
    from runner.model.events import Event

NOTHING = (tr("All clear"), tr("Requests from your agents appear here."))
ELSEWHERE = (tr("No request waits"), tr("What waits for you is on the page Work."))
NOBODY = (tr("No agent yet"), tr("Connect the program that your agent runs in."))
LOCKED = (tr("Lockdown"), tr("Every request is denied at once. Choose Guarded at the top to be asked again."))
APART = (
    CallsRefused,
    EngineTroubled,
    GatewayOpened,
    GrantsChanged,
    RunHeld,
    RunMeasured,
    SandboxChosen,
    SandboxesChanged,
    TroubleCleared,
)
"""Events that change nothing in any row. Several of them come each second while code runs."""
SHARE = 0.3
"""Of the height, for what was answered just now at the most."""
TICK_MS = 250
"""Countdowns are repainted four times a second, and only while somebody can see them."""


def nothing_waits(cases: Cards, work: WorkCards) -> tuple[str, str]:
    """Return title and sentence for a list without requests; it is not all clear while a program at work is held."""
    if work.count_held():
        return ELSEWHERE
    return LOCKED if cases.mode.mode == Mode.LOCKDOWN else NOTHING


class QueuePanel(QFrame):
    """The list. It says which request is chosen; it never chooses one by itself while one is chosen."""

    chosen = Signal(str)
    """The person picked this request."""
    batch = Signal(object)
    """tuple[str, ...]: the person wants to see and approve these at once."""
    add_agent = Signal()
    """Nobody is registered yet, and the person wants the first steps."""

    def __init__(self, cases: Cards, work: WorkCards, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._work = work
        self._look = look
        self._chosen = ""
        self._below: tuple[str, ...] = ()
        """What stood below the chosen request when it was answered, then what stood above it."""
        self._refreshing = False
        self.setProperty("card", True)
        self.model = QueueModel(cases, self)
        self.view = self._make_view()
        self._count = plain_label(role="muted")
        self.none = EmptyState(look, "inbox", *NOTHING)
        self.nobody = EmptyState(look, "plug", *NOBODY, tr("First steps"))
        self.nobody.pressed.connect(self.add_agent)
        self.held = HeldAtWork(look, work)
        self.bar = BatchBar(look)
        self.answers = JustNowModel(cases, self)
        self.just_now = JustNowList(self.answers, look)
        self._stack = Pages()
        for page in (self.none, self.nobody, self.view):
            self._stack.addWidget(page)
        self._lay_out()
        self._whole = QTimer(self, singleShot=True, interval=0)
        self._whole.timeout.connect(self._show_whole)
        self._ticker = QTimer(self)
        self._ticker.setInterval(TICK_MS)
        self._ticker.timeout.connect(self.view.viewport().update)
        self.model.rowsInserted.connect(self._size_rows)
        self.bar.open_group.connect(self._toggle_group)
        self.bar.mark_group.connect(self._mark_group)
        self.bar.clear.connect(self._clear_marks)
        self.bar.approve.connect(self._ask_batch)
        self.bar.dismiss.connect(self._dismiss_all)
        self.bar.left.connect(self.view.setFocus)
        cases.happened.connect(self._take)
        cases.agents_known.connect(self.refresh)
        work.moved.connect(self._show_page)
        self.refresh()

    # ---- what is chosen ----

    @property
    def shown(self) -> str:
        """The chosen request; empty when none."""
        return self._chosen

    def choose(self, request_id: str) -> None:
        """Mark `request_id` as chosen, without taking the focus and without telling."""
        self._chosen = request_id
        self._mark()
        if (index := self.view.currentIndex()).isValid():
            self.view.scrollTo(index)

    @property
    def following(self) -> str:
        """The request that comes after the chosen one in the list as a person saw it last; empty for none."""
        if self._still_waits(self._chosen):
            self._note_order()
        return next((one for one in self._below if self._still_waits(one)), "")

    def _still_waits(self, request_id: str) -> bool:
        card = self._cases.card(request_id)
        return card is not None and card.waiting

    def _note_order(self) -> None:
        """Note what stands below the chosen request, before what was answered leaves its place."""
        row = self.model.row_of(self._chosen) if self._chosen else -1
        if row >= 0:
            rows = (*range(row, self.model.rowCount()), *range(row))
            self._below = tuple(
                one
                for at in rows
                if isinstance(line := self.model.line(at), RequestLine)
                for one in (line.request_id, *self.model.behind(at))
                if one != self._chosen
            )

    def step(self, by: int) -> None:
        """Choose the next (1) or the previous (-1) request."""
        row = self.view.currentIndex().row()
        row = row + by if row >= 0 else (0 if by > 0 else self.model.rowCount() - 1)
        while isinstance(self.model.line(row), Lane):
            row += by
        if isinstance(self.model.line(row), RequestLine):
            self.view.setCurrentIndex(self.model.index(row, 0))

    def toggle_mark(self) -> None:
        """Select the chosen request, and what is behind it, for a batch."""
        self.model.toggle_mark(self.view.currentIndex().row())
        self._show_bar()

    @Slot()
    def _toggle_group(self) -> None:
        self.model.toggle_group(self.view.currentIndex().row())
        self.refresh()

    @Slot()
    def _mark_group(self) -> None:
        self.model.marked |= set(self.model.group(self.view.currentIndex().row()))
        self.view.viewport().update()
        self._show_bar()

    @Slot()
    def _clear_marks(self) -> None:
        self.model.marked = set()
        self.view.viewport().update()
        self._show_bar()

    @Slot()
    def _ask_batch(self) -> None:
        self.batch.emit(tuple(card.id for card in self._cases.waiting() if card.id in self.model.marked))

    @Slot()
    def _dismiss_all(self) -> None:
        """Drop what was missed, but for what is approved for later: that still counts."""
        self._cases.dismiss(*(card.id for card in self._over()))

    def _over(self) -> list[Card]:
        return [card for card in self._cases.missed() if card.armed is None]

    def _show_bar(self) -> None:
        row = self.view.currentIndex().row()
        alike = len(self.model.group(row)) if row >= 0 else 0
        self.bar.show_state(alike, self.model.is_open(row), len(self.model.marked), len(self._over()))

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        """Refresh, unless nothing came but what no row shows; a batch without events is a row that was dismissed."""
        if not events or not all(isinstance(event, APART) for event in events):
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Take over what the store holds."""
        anchor = self._anchor()
        if self._chosen and not self._still_waits(self._chosen):
            self._note_order()
        self._refreshing = True
        self.model.refresh()
        self._mark()
        self._refreshing = False
        self._restore(anchor)
        self._show_page()
        self._show_bar()
        self._tick_if_needed()

    def _mark(self) -> None:
        """Show the chosen row as chosen, wherever it is now."""
        was, self._refreshing = self._refreshing, True
        row = self.model.row_of(self._chosen) if self._chosen else -1
        index = self.model.index(row, 0) if row >= 0 else QModelIndex()
        if self.view.currentIndex() != index:
            self.view.setCurrentIndex(index)
        if row < 0:
            self.view.clearSelection()
        self._refreshing = was

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        line = self.model.line(current.row())
        if not self._refreshing and isinstance(line, RequestLine) and line.request_id != self._chosen:
            self._chosen = line.request_id
            self._show_bar()
            self.chosen.emit(line.request_id)

    # ---- nothing jumps ----

    def _anchor(self) -> tuple[str, int] | None:
        """Return the row that must not move on the screen: the chosen one if visible, else the first visible one."""
        shown = self.view.currentIndex()
        if not shown.isValid() or not self.view.visualRect(shown).intersects(self.view.viewport().rect()):
            shown = self.view.indexAt(self.view.viewport().rect().topLeft())
            if isinstance(self.model.line(shown.row()), Lane):
                shown = self.model.index(shown.row() + 1, 0)
        line = self.model.line(shown.row())
        if not isinstance(line, RequestLine):
            return None
        return line.request_id, self.view.visualRect(shown).top()

    def _restore(self, anchor: tuple[str, int] | None) -> None:
        if anchor is None or self.view.verticalScrollBar().value() == 0:
            return
        row = self.model.row_of(anchor[0])
        if row >= 0:
            moved = self.view.visualRect(self.model.index(row, 0)).top() - anchor[1]
            bar = self.view.verticalScrollBar()
            bar.setValue(bar.value() + moved)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hold the order while the pointer is over the rows; every event is passed on."""
        if event.type() == QEvent.Type.Enter:
            self.model.hold(True)
        elif event.type() == QEvent.Type.Leave:
            self.model.hold(False)
            self.refresh()
        elif event.type() == QEvent.Type.Resize:
            self._whole.start()  # the list below has grown, and stands on the row
        return super().eventFilter(watched, event)

    @Slot()
    def _show_whole(self) -> None:
        """Bring all of the chosen row into view, where a part of it is."""
        index = self.view.currentIndex()
        if index.isValid() and self.view.visualRect(index).intersects(self.view.viewport().rect()):
            self.view.scrollTo(index)

    # ---- inside ----

    def _make_view(self) -> QTableView:
        view = painted_view(self.model, tr("Requests that wait for an answer"))
        view.setItemDelegate(QueueDelegate(self._look, self.model, view))
        rows = view.verticalHeader()
        rows.setMinimumSectionSize(self._look.px(LANE_HEIGHT))
        rows.setDefaultSectionSize(self._look.px(CARD_HEIGHT))
        view.viewport().installEventFilter(self)
        offer_copies(view, self._copies)
        view.selectionModel().currentChanged.connect(self._moved)
        return view

    def _copies(self, row: int) -> list[tuple[str, str]]:
        """Return what can be copied of a request, by name."""
        card = self.model.card(row)
        if card is None:
            return []
        return [("title", card.request.title), ("code", card.request.code), ("digest", card.digest)]

    def _lay_out(self) -> None:
        px = self._look.px
        title = plain_label(tr("Waiting"), "title")
        head = QHBoxLayout()
        head.setContentsMargins(px(12), px(10), px(12), px(4))
        head.setSpacing(px(8))
        head.addWidget(title)
        head.addWidget(self._count)
        head.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, px(4))
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._stack, 1)
        column.addWidget(self.held)
        column.addWidget(self.bar)
        column.addWidget(self.just_now)

    @Slot()
    def _show_page(self) -> None:
        waiting = self._cases.count_waiting()
        self._count.setText(str(waiting) if waiting else "")
        if self.model.rowCount():
            page: QWidget = self.view
        else:
            page = self.nobody if self._cases.agents == () else self.none
            self.none.say(*nothing_waits(self._cases, self._work))
        if self._stack.currentWidget() is not page:
            self._stack.setCurrentWidget(page)

    @Slot(QModelIndex, int, int)
    def _size_rows(self, _parent: QModelIndex, first: int, last: int) -> None:
        for row in range(first, last + 1):
            if isinstance(self.model.line(row), Lane):
                self.view.setRowHeight(row, self._look.px(LANE_HEIGHT))

    def _tick_if_needed(self) -> None:
        wanted = self.isVisible() and self._cases.count_waiting() > 0
        if wanted != self._ticker.isActive():
            (self._ticker.start if wanted else self._ticker.stop)()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.just_now.give_room(round(self.height() * SHARE))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick_if_needed()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.model.hold(False)
        self._tick_if_needed()
