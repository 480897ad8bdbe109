"""Finds past requests for Ctrl+K by words, hosts and files of a request or its output. Bounded, and aside."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app import phrases
from app.chrome.palette import Way
from app.history.model import titled
from app.history.reader import Reader
from runner.audit.filter import Filter
from runner.audit.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.history.model import TitledRow
    from runner.audit.search import History

MOST = 8
LEAST = 2
"""Characters that are looked for: fewer are in nearly everything."""
LONGEST = 200
PAUSE_MS = 150
"""After the last key, before the history is read."""


class PastRequests(QObject):
    """Answers the newest question alone, on a thread of its own; a history that cannot be read finds nothing."""

    def __init__(self, ledger: Path, show: Callable[[str, str], None], parent: QObject) -> None:
        """`show(request_id, words)` opens a request in the history, among what has these words."""
        super().__init__(parent)
        self._show = show
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

        def tell(lines: tuple[TitledRow, ...]) -> None:
            found(words, [way for line in lines if (way := self._way(line, words)) is not None])

        self._reader.ask(partial(_read, words), tell, lambda _: None)

    def _way(self, line: TitledRow, words: str) -> Way | None:
        row = line.row
        if not isinstance(row, Row):
            return None
        claim = phrases.in_quotes(line.title)
        name = f"{line.headline} \N{MIDDLE DOT} {claim}" if line.headline else claim
        kind = f"{phrases.visible(row.agent)}, {phrases.when(row.arrived_at)}"
        return Way(name, kind, partial(self._show, row.id, words))


def _read(words: str, history: History) -> tuple[TitledRow, ...]:
    return titled(history, history.lines(Filter(text=words), None, MOST))
