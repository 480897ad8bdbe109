"""The results of a run that is over: cards of its files and of its value, above what it printed.

Files are read one after the other, each in a process of its own, while the view is on the screen.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.files.apart import NotWanted, ReadingProcess
from app.files.json_nodes import tree
from app.link.background import Errands
from app.parts.order import tab_in_before
from app.parts.plain import plain_label, say
from app.results.card import ResultCard, name_of
from app.results.choosing import choose
from runner.model import engine_texts
from runner.model.errors import KnownError
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from app.files.found import Preview
    from app.look.look import Look
    from app.parts.text.output import OutputView
    from runner.model.result import CapturedFile, Result

SECONDS = 2
"""Processor time that reading a file for a card may take."""
WIDE = 680
"""Pixels from which on the cards stand in two columns."""
LEAST_PRINTED, MOST_PRINTED = 110, 260
"""Pixels of what was printed, below cards."""
LINE = 19
VALUE = tr("Value handed to the agent")
NOTHING_MADE = tr("It printed nothing.")


class ResultsView(QScrollArea):
    """Holds the view of the output: alone during a run, and below the cards after it."""

    file_wanted = Signal(object)
    """The CapturedFile that is to be looked into under Files."""
    files_wanted = Signal()

    def __init__(
        self,
        look: Look,
        read: Callable[[CapturedFile], bytes],
        output: OutputView,
        parent: QWidget | None = None,
    ) -> None:
        """`read` gives the content of a file; raises KnownError where it is gone or was altered."""
        super().__init__(parent)
        self._look = look
        self._read = read
        self.output = output
        self._errands = Errands("results", self)
        self._result: Result | None = None
        self._waiting: list[ResultCard] = []
        self._reading: ReadingProcess | None = None
        self.cards: list[ResultCard] = []
        self.foreseen = plain_label(wrap=True)
        self.foreseen.hide()
        self.more = QPushButton()
        self.more.setProperty("kind", "link")
        self.more.clicked.connect(self.files_wanted)
        self.printed = plain_label(role="heading")
        self.silent = plain_label(NOTHING_MADE, "muted")
        self._lay_out()
        self.clear()

    # ---- what is shown ----

    def clear(self) -> None:
        """Show no result: the output alone, with what comes of it."""
        self._drop()
        self.more.hide()
        self.printed.hide()
        self.silent.hide()
        self._arrange()
        self.output.setMinimumHeight(0)
        self.output.show()

    @Slot(str, str)
    def say_foreseen(self, text: str, role: str) -> None:
        """Say on top whether the run did what was foreseen."""
        say(self.foreseen, text, role)

    def show_result(self, result: Result) -> None:
        """Show what `result` has."""
        if result is self._result:
            return
        self._drop()
        self._result = result
        chosen = choose(result.files)
        for file in chosen.shown:
            card = ResultCard(self._look, name_of(file), file)
            card.file_wanted.connect(self.file_wanted)
            self.cards.append(card)
            self._waiting.append(card)
        if result.value is not None:
            card = ResultCard(self._look, VALUE)
            card.show_found(tree(result.value))
            card.offer_copy(json.dumps(result.value, indent=2, ensure_ascii=False))
            self.cards.append(card)
        self.more.setText(chosen.said)
        self.more.setVisible(bool(chosen.said))
        self._show_printed(result)
        self._arrange()
        self.verticalScrollBar().setValue(0)
        if self.isVisible():
            self._next()

    def _show_printed(self, result: Result) -> None:
        lines = sum(text.count("\n") + (not text.endswith("\n")) for text in (result.stdout, result.stderr) if text)
        self.output.setVisible(lines > 0 or not self.cards)
        self.silent.setVisible(not lines and bool(self.cards))
        self.printed.setText(plural("Printed · {count} line", "Printed · {count} lines", lines))
        self.printed.setVisible(lines > 0 and bool(self.cards))
        px = self._look.px
        if self.cards:
            height = min(px(MOST_PRINTED), max(px(LEAST_PRINTED), px(LINE) * (lines + 1)))
            self.output.setMinimumHeight(height)
        else:
            self.output.setMinimumHeight(0)

    def _drop(self) -> None:
        """Take the cards off, and end the reading for them."""
        self._result = None
        self._waiting.clear()
        self._end_reading()
        for card in self.cards:
            card.hide()
            card.deleteLater()
        self.cards = []

    def without_ways_out(self) -> None:
        """Offer no way to the files: where this view stands, no page has them."""
        self.more.setEnabled(False)
        for card in self.cards:
            card.open.hide()

    # ---- reading ----

    def _next(self) -> None:
        if self._reading is not None or not self._waiting:
            return
        card = self._waiting[0]
        assert card.file is not None
        self._reading = reading = ReadingProcess(seconds=SECONDS, for_card=True)
        read, file = self._read, card.file
        self._errands.send(
            lambda: reading.preview(lambda: read(file), file.path),
            partial(self._came, reading, card),
            partial(self._failed, reading, card),
        )

    def _came(self, reading: ReadingProcess, card: ResultCard, found: Preview) -> None:
        if reading is self._reading:
            self._turn(card)
            card.show_found(found)
            tab_in_before(self.cards, self.more)
            self._next()

    def _failed(self, reading: ReadingProcess, card: ResultCard, error: Exception) -> None:
        if reading is self._reading and not isinstance(error, NotWanted):
            self._turn(card)
            known = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else str(error)
            card.show_trouble(engine_texts.in_words(known))
            self._next()

    def _turn(self, card: ResultCard) -> None:
        self._reading = None
        self._waiting.remove(card)

    def _end_reading(self) -> None:
        if self._reading is not None:
            self._reading.end()
            self._reading = None

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._next()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._end_reading()

    # ---- places ----

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._columns_wanted() != self._shape:
            self._arrange()

    def _columns_wanted(self) -> int:
        return 2 if self.width() >= self._look.px(WIDE) and len(self.cards) > 1 else 1

    def _arrange(self) -> None:
        """Put each card into the column that is shorter, in their order."""
        self._shape = self._columns_wanted()
        for column in self._columns:
            while column.count():
                column.takeAt(0)
        heights = [0, 0]
        for card in self.cards:
            place = heights.index(min(heights)) if self._shape == 2 else 0
            self._columns[place].addWidget(card)
            card.show()
            heights[place] += card.shape
        for place, column in enumerate(self._columns):
            column.addStretch()
            self._row.setStretch(place, int(place < self._shape))
        self._board.setVisible(bool(self.cards))
        tab_in_before(self.cards, self.more)

    def _lay_out(self) -> None:
        px = self._look.px
        self._shape = 1
        self._board = QWidget()
        self._row = QHBoxLayout(self._board)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(px(8))
        self._columns = (QVBoxLayout(), QVBoxLayout())
        for column in self._columns:
            column.setSpacing(px(8))
            self._row.addLayout(column, 1)
        inside = QWidget()
        whole = QVBoxLayout(inside)
        whole.setContentsMargins(0, px(6), 0, 0)
        whole.setSpacing(px(6))
        for part in (self.foreseen, self._board, self.more, self.printed, self.silent):
            whole.addWidget(part)
        whole.addWidget(self.output, 1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Results"))
        self.setFocusProxy(self.output)
