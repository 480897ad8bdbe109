"""Finds past requests and programs at work for Ctrl+K by what the history has of them. Bounded, and aside."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app import phrases
from app.chrome.palette import Way
from app.history import session_words
from app.history.model import titled
from app.history.reader import Reader
from runner.audit.history.filter import Filter
from runner.audit.history.past_work import PastSession
from runner.audit.ledger.row import Row
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.history.model import TitledRow
    from app.state.work_cards import WorkCards
    from runner.audit.history.search import History

MOST, MOST_SESSIONS = 8, 3
LEAST = 2
"""Characters that are looked for: fewer are in nearly everything."""
LONGEST = 200
PAUSE_MS = 150
"""After the last key, before the history is read."""


class PastRequests(QObject):
    """Answers the newest question alone, on a thread of its own; a history that cannot be read finds nothing."""

    def __init__(self, ledger: Path, show: Callable[[str, str], None], work: WorkCards, parent: QObject) -> None:
        """`show(id, words)` opens a request or session in the history, among what has these words.

        `work` has the working copies that are there: those are found without the history.
        """
        super().__init__(parent)
        self._show = show
        self._work = work
        self._reader = Reader(ledger, "past requests", self)
        self._words = ""
        self._found: Callable[[str, list[Way]], None] = lambda _words, _ways: None
        self._soon = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._soon.timeout.connect(self._ask)

    def find(self, words: str, found: Callable[[str, list[Way]], None]) -> None:
        """Pass the newest requests that have all `words` to `found`, with the words; nothing where they are too few."""
        self._words, self._found = words.strip(), found
        if LEAST <= len(self._words) <= LONGEST:
            self._soon.start()
        else:
            self._soon.stop()

    @Slot()
    def close(self) -> None:
        """Answer nothing more."""
        self._soon.stop()
        self._reader.close()

    @Slot()
    def _ask(self) -> None:
        words, found = self._words, self._found

        def tell(lines: tuple[TitledRow | PastSession, ...]) -> None:
            found(words, [way for line in lines if (way := self._way(line, words)) is not None])

        self._reader.ask(partial(_read, words), tell, lambda _: None)

    def _way(self, line: TitledRow | PastSession, words: str) -> Way | None:
        if isinstance(line, PastSession):
            if self._work.session(line.name) is not None:
                return None
            kind = tr("work, {when}", when=phrases.when(line.started_at))
            return Way(session_words.title(line), kind, partial(self._show, line.id, words))
        row = line.row
        if not isinstance(row, Row):
            return None
        claim = phrases.in_quotes(line.title)
        name = f"{line.headline} \N{MIDDLE DOT} {claim}" if line.headline else claim
        kind = f"{phrases.visible(row.agent)}, {phrases.when(row.arrived_at)}"
        return Way(name, kind, partial(self._show, row.id, words))


def _read(words: str, history: History) -> tuple[TitledRow | PastSession, ...]:
    wanted = Filter(text=words)
    return (*titled(history, history.lines(wanted, None, MOST)), *history.sessions(wanted, None, MOST_SESSIONS))
