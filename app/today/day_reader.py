"""One reading of the day for all the pages that show something of it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.link.background import Errands
from app.today.reading import TOUCHING, WORKING, DayRead, read_day
from app.today.spans import TimeSpan, today_ordinal
from runner.audit.history.past_work import PastWork
from runner.audit.history.search import History

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.state.cards import Cards
    from app.state.work_cards import WorkCards
    from runner.model.events import Event
    from runner.system.places import Places

AGAIN_MS = 1500
"""What has happened is read at most this often, and only while somebody can see it."""


class DayReader(QObject):
    """Reads the day when something asks for it, and again after requests came further while one of those shows it.

    Where two views stand beside each other, both ask in the same moment, and it is read once.
    """

    read = Signal(object)
    """A `DayRead`; None where the day cannot be read, which the page Today says."""

    def __init__(
        self, cases: Cards, places: Places, parent: QObject | None = None, work: WorkCards | None = None
    ) -> None:
        """`work` says which programs are at work now, None for none."""
        super().__init__(parent)
        self._places = places
        self._work = work
        self._past = PastWork()
        self._viewers: list[QWidget] = []
        self._errands = Errands("today-beside", self)
        self._soon, self._again = QTimer(self), QTimer(self)
        for timer in (self._soon, self._again):
            timer.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._soon.timeout.connect(self._read)
        self._again.timeout.connect(self._read)
        cases.happened.connect(self._take)
        self.destroyed.connect(self._errands.close)

    def add_viewer(self, viewer: QWidget) -> None:
        """Read again also while `viewer`, which lives as long as this does, can be seen."""
        self._viewers.append(viewer)

    def at_work(self) -> frozenset[str]:
        """Return the names of the working copies that have a program at work now."""
        return frozenset(one.name for one in self._work.at_work()) if self._work is not None else frozenset()

    @property
    def seen(self) -> bool:
        """Whether somebody can see the day."""
        return any(viewer.isVisible() for viewer in self._viewers)

    @Slot()
    def look(self) -> None:
        """Read the day again, after everything that asks for it now has asked."""
        self._soon.start()

    def rest(self) -> None:
        """Read nothing more where nobody can see the day."""
        if not self.seen:
            self._again.stop()

    @Slot()
    def _read(self) -> None:
        day, path, verified = today_ordinal(), self._places.ledger, self._places.verified

        def work() -> DayRead:
            # Opened each time: it is read seldom, and nothing is held open for a page that nobody sees.
            with closing(History(path, self._past)) as history:
                return read_day(history, TimeSpan.TODAY, day, verified)

        self._errands.send(work, self.read.emit, self._failed)

    def _failed(self, _error: Exception) -> None:
        self.read.emit(None)
        if self.seen:  # it may only have been in use just then
            self._again.start()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        if self.seen and not self._again.isActive() and any(isinstance(one, TOUCHING + WORKING) for one in events):
            self._again.start()
