"""Reviewing: a request opened until it is painted, scrolling, a key in the editor, a step among 1,000 that wait.

The floors are a bare QPlainTextEdit with the same text, and for a step a bare QListView too, of the same size.
"""

from __future__ import annotations

import os
import time
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.bench.row import Row, percentile
from tests.bench.window import Bench, Gaps, furnished, of_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LENGTHS = ((200, 10.0, 25), (5_000, 2.5, 15), (50_000, 1.5, 9))
"""Lines, the most times the floor, and how often."""
FRAME = 16.0
KEYS = 200
STEPS = 100
SCROLLED_SECONDS = 3.0
KINDS = (
    "value_{n} = compute({n}, name='row {n}')",
    "if value_{n} > {n}: total += value_{n}  # kept",
    "print(f'{{value_{n}:>10}} of {n}')",
)


def rows() -> Iterator[Row]:
    """In a process of its own, with a window of its own."""
    yield from of_process("tests.bench.review")


def text(lines: int, salt: int) -> str:
    """Ordinary code of that many lines; another for each `salt`."""
    return "\n".join([f"# {salt}", *(KINDS[n % len(KINDS)].format(n=n) for n in range(lines - 1))])


class Reviewing(Bench):
    def __init__(self, console: Any, app: Any) -> None:
        super().__init__(console, app)
        self.review = console.window.deciding.review

    def painted(self, widget: Any, act: Callable[[], object]) -> float:
        """Milliseconds from before `act` until `widget` has been painted and everything that was posted is done."""
        from PySide6.QtCore import QEvent, QObject, QTimer

        ends: list[float] = []

        class Paints(QObject):
            def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
                if event.type() is QEvent.Type.Paint and not ends:
                    QTimer.singleShot(0, lambda: ends.append(time.perf_counter()))
                return False

        self.app.processEvents()
        paints = Paints()
        widget.installEventFilter(paints)
        begun = time.perf_counter()
        act()
        assert widget.isVisible(), "what is not shown is never painted"
        widget.update()
        while not ends:
            self.app.processEvents()
        widget.removeEventFilter(paints)
        return (ends[0] - begun) * 1e3

    def bare(self, lines: int) -> Any:
        """A QPlainTextEdit as large as the code is here, with as many lines."""
        from PySide6.QtWidgets import QPlainTextEdit

        plain = QPlainTextEdit()
        plain.setFont(self.console.look.mono())
        plain.resize(self.review.page.reading.code.size())
        plain.setPlainText(text(lines, 0))
        plain.show()
        self.live(0.3)
        return plain

    def wait(self, lines: int, salt: int, seconds: float = 3000.0) -> str:
        """A request that waits, as the engine would tell of it; its id."""
        from runner.model.assessment import Level
        from tests.gui import feed

        found = [feed.finding(line, "Starts a program.") for line in range(3, lines, max(10, lines // 40))]
        one = feed.request(text(lines, salt), title=f"Request {salt} of {lines} lines")
        self.console.cases.take(feed.asked(one, feed.assessment(Level.HIGH, *found), window=seconds))
        return one.id

    # ---- the rows ----

    def opening(self) -> Iterator[Row]:
        small = self.wait(5, -1)
        show = self.console.window.deciding.show_request
        for lines, goal, times in LENGTHS:
            ids = [self.wait(lines, salt) for salt in range(times)]
            taken = []
            for one in ids:
                show(small)
                self.live(0.05)
                taken.append(self.painted(self.review.page.reading.code.viewport(), partial(show, one)))
            plain, floors = self.bare(5), []
            for salt in range(times):
                code = text(lines, salt)
                floors.append(self.painted(plain.viewport(), partial(plain.setPlainText, code)))
            plain.close()
            value, floor = median(taken), median(floors)
            name = f"a request of {lines:,} lines opened until painted (median)"
            yield Row(name, value, "ms", floor, at_most=goal)
            for one in ids[1:]:
                self.forget(one)

    def forget(self, request_id: str) -> None:
        from runner.model.decision import Decider, Verdict
        from tests.gui import feed

        if (card := self.console.cases.card(request_id)) is not None:
            self.console.cases.take(feed.decided(card.request, Verdict.WITHDRAWN, Decider.AGENT))

    def scrolling(self) -> Iterator[Row]:
        """A page every frame through 50,000 lines."""
        self.console.window.deciding.show_request(self.wait(50_000, 77))
        self.live(0.5)
        plain = self.bare(50_000)
        floor = self._scrolled(plain)
        plain.close()
        value = self._scrolled(self.review.page.reading.code)
        name = "window loop gap, scrolling 50,000 lines (p95)"
        yield Row(name, value, "ms", floor, at_most=2.5)

    def _scrolled(self, view: Any) -> float:
        from PySide6.QtCore import Qt, QTimer

        bar = view.verticalScrollBar()
        bar.setValue(0)
        timer = QTimer()
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(lambda: bar.setValue((bar.value() + bar.pageStep()) % bar.maximum()))
        gaps = Gaps()
        timer.start(round(FRAME))
        gaps.restart()
        self.live(SCROLLED_SECONDS)
        timer.stop()
        return percentile(gaps.values, 0.95)

    def typing(self) -> Iterator[Row]:
        """A key in the editor of 1,000 lines, while the real engine assesses what was typed before."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        request = self.submit(text(1000, 5)).result(30).case.request
        self.until(lambda: (card := self.console.cases.card(request.id)) is not None and card.waiting)
        self.console.window.deciding.show_request(request.id)
        self.live(1.0)
        self.review.editing.press()
        drafts = 0

        take = self.review.editing._drafted

        def count(*given: Any) -> None:
            nonlocal drafts
            drafts += 1
            take(*given)

        self.review.editing._drafted = count
        plain = self.bare(1000)
        floor = self._typed(plain)
        plain.close()
        value = self._typed(self.review.page.reading.editor)
        self.until(lambda: drafts)
        yield Row("a key in the editor until painted (p95)", value, "ms", floor, at_most=6.0)
        yield Row("versions assessed meanwhile, off the window's thread", drafts)
        QTest.keyClick(self.review.page.reading.editor, Qt.Key.Key_Escape)
        self.console.bridge.runs.stop_all()
        self.until(lambda: not (card := self.console.cases.card(request.id)) or not card.waiting)

    def _typed(self, view: Any) -> float:
        from PySide6.QtTest import QTest

        view.setFocus()
        taken = []
        for number in range(KEYS):
            taken.append(self.painted(view.viewport(), lambda: QTest.keyClicks(view, "x")))
            # A pause now and then, as people make them: then what was typed is assessed while typing goes on.
            self.live(0.3 if number % 20 == 19 else 0.01)
        return percentile(taken, 0.95)

    def stepping(self) -> Iterator[Row]:
        """J with 1,000 waiting, until the code of the next request is painted."""
        from PySide6.QtCore import QStringListModel
        from PySide6.QtWidgets import QListView

        from tests.gui import feed

        words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
        events: list[Any] = []
        for number in range(1000):
            # Different enough not to be grouped.
            one, two = words[number % 10], words[number // 10 % 10]
            code = "\n".join(f"{one}_{number}_{line} = {two}({number * line})" for line in range(20))
            events += feed.asked(
                feed.request(code, f"agent-{number % 4}", title=f"{one} {two} {number}"), window=3000.0
            )
        self.console.cases.take(tuple(events))
        self.live(1.0)
        queue = self.console.window.deciding.queue
        taken = []
        for _ in range(STEPS):
            taken.append(self.painted(self.review.page.reading.code.viewport(), lambda: queue.step(1)))
            self.live(0.02)
        bare, model = QListView(), QStringListModel([f"Request {number}" for number in range(1000)])
        bare.setModel(model)
        bare.resize(queue.view.size())
        bare.show()
        self.live(0.3)
        plain, floors = self.bare(20), []
        for number in range(STEPS):
            selected = self.painted(bare.viewport(), partial(bare.setCurrentIndex, model.index(number, 0)))
            floors.append(selected + self.painted(plain.viewport(), partial(plain.setPlainText, text(20, number))))
            self.live(0.02)
        bare.close()
        plain.close()
        value = percentile(taken, 0.95)
        name = "one step among 1,000 waiting until painted (p95)"
        yield Row(name, value, "ms", percentile(floors, 0.95), at_most=5.0)


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
    bench = Reviewing(furnished(opening, app), app)
    console = bench.console
    bench.until(lambda: console.cases.address)
    console.frame.resize(1280, 800)
    # A new account begins with the first steps.
    console.window.show_page("Queue")
    bench.live(1.0)
    bench.send(bench.typing, bench.opening, bench.scrolling, bench.stepping)
    console.bridge.close("the bench is over")
    os._exit(0)


if __name__ == "__main__":
    _main()
