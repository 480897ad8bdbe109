"""The compact prompt: from the question until its card is painted, against a bare window of the same size and text."""

from __future__ import annotations

import os
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.review import Reviewing
from tests.bench.row import Row
from tests.bench.window import furnished, of_process

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMES = 25
AT_MOST = 100.0
"""Milliseconds on the machine on which the bench was made; the goal holds the ratio."""
MOST_RATIO = 6.0
BETWEEN_SECONDS = 0.3
CODE = "import statistics\ndata = [12.1, 13.4, 11.8]\nprint('mean', round(statistics.mean(data), 2))"


def rows() -> Iterator[Row]:
    """In a process of its own, with a window of its own."""
    yield from of_process("tests.bench.prompt")


class Prompting(Reviewing):
    """Shows the prompt as if another program were in front."""

    def ask(self, salt: int) -> float:
        """Milliseconds from the question until the card is painted."""
        from runner.model.assessment import Level
        from tests.gui import feed

        prompt = self.console.prompt
        prompt._in_front, prompt._wanted = lambda: False, lambda: True
        one = feed.request(f"{CODE}  # {salt}", title="Summary statistics of the sample")
        events = feed.asked(one, feed.assessment(Level.HIGH), window=3000.0)
        took = self.painted(prompt, lambda: self.console.cases.take(events))
        self.console.cases.take(feed.decided(one))
        self.until(lambda: not prompt.isVisible())
        return took

    def bare_window(self, salt: int) -> float:
        """Milliseconds until a window with the same text and two buttons is painted."""
        from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

        window = QWidget()
        column = QVBoxLayout(window)
        code = QPlainTextEdit()
        code.setFont(self.console.look.mono())
        code.setPlainText(f"{CODE}  # {salt}")
        for widget in (QLabel("Summary statistics of the sample"), code, QPushButton("Deny"), QPushButton("Approve")):
            column.addWidget(widget)
        window.resize(440, 300)
        took = self.painted(window, window.show)
        window.close()
        window.deleteLater()
        return took

    def prompting(self) -> Iterator[Row]:
        """Both in turn, so that what else the machine does falls on both."""
        shown, bare = [], []
        for salt in range(TIMES):
            # Nobody is asked twice within that: the next card has been built, and the window has taken over the last.
            self.live(BETWEEN_SECONDS)
            shown.append(self.ask(salt))
            self.live(0.02)
            bare.append(self.bare_window(salt))
            self.live(0.02)
        value = median(shown)
        note = f"goal {AT_MOST:g} ms where the bench was made"
        yield Row("question until its card is painted", value, "ms", median(bare), at_most=MOST_RATIO, note=note)


def _main() -> None:
    from app.start.crash import Faults
    from app.start.opening import Opening, application
    from app.start.single import Single
    from runner.system.places import Places

    places = Places.standard()
    single = Single(places.socket)
    single.claim()
    app = application()
    opening = Opening(app, places, Faults(places), single)
    bench = Prompting(furnished(opening, app), app)
    bench.until(lambda: bench.console.cases.address)
    bench.live(1.0)
    bench.send(bench.prompting)
    bench.console.bridge.close("the bench is over")
    os._exit(0)


if __name__ == "__main__":
    _main()
