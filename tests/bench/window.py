"""The window under load: cards with 1,000 waiting, 100 callers at once, a run that prints 50 MB/s."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from tests.bench.row import Row, percentile

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.console import Console

WAITING = 1000
SAMPLES = 200
CALLERS = 100
CALLS_EACH = 5
FLOOD_SECONDS = 8.0
FLOOD = """\
import os, time
block = (b"2026-01-01 00:00:00 INFO some line of ordinary length in a log\\n" * 1024)
start, sent = time.monotonic(), 0
while time.monotonic() - start < %f:
    os.write(1, block)
    sent += len(block)
    ahead = sent / 50e6 - (time.monotonic() - start)
    if ahead > 0:
        time.sleep(ahead)
"""
GENEROUS = {
    "ASSENT_PORT": "0",
    "ASSENT_RATE_PER_MINUTE": "100000",
    "ASSENT_BURST": "100000",
    "ASSENT_MAX_PENDING": "10000",
    "ASSENT_WINDOW_HIGH": "3600",
    "ASSENT_HOLD_SECONDS": "600",
}


def rows() -> list[Row]:
    """In a process of its own, so that its memory is its own."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | GENEROUS | {"ASSENT_HOME": home}
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.window"], env=environment, stdout=subprocess.PIPE, check=True
        )
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


class Gaps:
    """Milliseconds between the ticks of a 5 ms timer in the window's thread: 5 is idle."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.values: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(5)

    def _tick(self) -> None:
        now = time.perf_counter()
        self.values.append((now - self._last) * 1e3)
        self._last = now

    def restart(self) -> None:
        self.values.clear()
        self._last = time.perf_counter()


class Bench:
    """Drives the real console in this process."""

    def __init__(self, console: Console, app: Any) -> None:
        self.console = console
        self.app = app
        self.rows: list[Row] = []

    def until(self, true: Callable[[], object], seconds: float = 120.0) -> None:
        """Let the window live until `true()`."""
        from PySide6.QtCore import QEventLoop

        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it took too long"
            self.app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
            time.sleep(0.0005)

    def live(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end)

    def submit(self, code: str, output_bytes: int | None = None) -> Any:
        from runner.request import Language, Tool
        from runner.submission import Submission

        wanted = Submission("bench", Tool.CODE_EXECUTE, Language.PYTHON, code, max_output_bytes=output_bytes)
        return self.console.host.call(lambda engine: engine.submit(wanted))

    # ---- the rows ----

    def cards(self) -> None:
        """Accepted (the submission returned) to painted, with WAITING others in the queue."""
        from PySide6.QtCore import QEvent, QObject

        from runner.events import QuestionAsked, RequestArrived

        accepted: dict[str, float] = {}
        painted: dict[str, float] = {}
        shown: set[str] = set()

        def hear(event: object) -> None:
            if isinstance(event, RequestArrived):
                accepted[event.request.id] = time.perf_counter()

        self.console.host.post(lambda engine: engine.listen(hear))

        class Paints(QObject):
            def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
                if event.type() is QEvent.Type.Paint:
                    now = time.perf_counter()
                    for one in shown - painted.keys():
                        painted[one] = now
                return False

        viewport = self.console.window.deciding.queue.view.viewport()
        paints = Paints()
        viewport.installEventFilter(paints)

        def taken(events: tuple[object, ...]) -> None:
            shown.update(event.request_id for event in events if isinstance(event, QuestionAsked))
            # Whether or not the new card is in sight, the list is painted with it once more.
            viewport.update()

        self.console.cases.happened.connect(taken)
        for number in range(WAITING):
            self.submit(f"print({number})")
        self.until(lambda: self.console.cases.count_waiting() >= WAITING)
        self.live(1.0)
        times = []
        for number in range(SAMPLES):
            ticket = self.submit(f"print('sample', {number})")
            self.until(lambda ticket=ticket: ticket.done() and ticket.result().request_id in painted)
            request_id = ticket.result().request_id
            times.append((painted[request_id] - accepted[request_id]) * 1e3)
        value = percentile(times, 0.99)
        self.rows.append(Row("accepted to card painted, 1,000 waiting (p99)", value, "ms", None, "50 ms", value <= 50))
        viewport.removeEventFilter(paints)
        self.console.cases.happened.disconnect(taken)
        self.console.bridge.stop_all()
        self.until(lambda: not self.console.cases.count_waiting())

    def callers(self) -> None:
        """Gap of the window's loop while CALLERS call through the gateway at once, from another process."""
        gaps = Gaps()
        self.live(1.0)
        idle = percentile(gaps.values, 0.95)
        token = self.console.host.call(lambda engine: engine.add_agent("bench")).result(10)
        client = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.bench.callers",
                self.console.cases.address,
                token,
                str(CALLERS),
                str(CALLS_EACH),
            ]
        )
        self.live(1.5)
        gaps.restart()
        self.until(lambda: client.poll() is not None)
        assert client.returncode == 0
        value = percentile(gaps.values, 0.95)
        self.rows.append(Row("window loop gap, 100 callers at once (p95)", value, "ms", idle, "20 ms", value <= 20))

    def flood(self) -> None:
        """Gap of the window's loop, and memory, while one run prints 50 MB/s and is looked at."""
        from runner.decision import Verdict

        gaps = Gaps()
        # More output than a run may print in all by default: it would be stopped after a second.
        ticket = self.submit(FLOOD % FLOOD_SECONDS, 16 << 20).result(10)
        request = ticket.case.request
        self.until(lambda: self.console.cases.count_waiting())
        self.console.window.show_page("Running")
        self.console.host.post(lambda engine: engine.answer(request.id, request.digest, Verdict.APPROVED, ""))
        self.until(lambda: self.console.cases.count_running())
        self.live(1.5)
        before = _resident()
        gaps.restart()
        self.live(FLOOD_SECONDS - 3)
        after = _resident()
        p99, worst = percentile(gaps.values, 0.99), max(gaps.values)
        self.rows += [
            Row("window loop gap, a run printing 50 MB/s (p99)", p99, "ms", None, "16 ms", p99 <= 16),
            Row("window loop gap, a run printing 50 MB/s (worst)", worst, "ms", None, "100 ms", worst <= 100),
            Row("memory gained while it prints", after - before, "MB", None, "flat (below 10 MB)", after - before < 10),
        ]
        self.until(lambda: not self.console.cases.count_running())
        seen = ticket.case.transcript.total / 1e6
        self.rows.append(Row("output of that run", seen / FLOOD_SECONDS, "MB/s"))


def _resident() -> float:
    """MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _main() -> None:
    from app.crash import Faults
    from app.opening import Opening, application
    from app.single import Single
    from runner.places import Places

    places = Places.standard()
    single = Single(places.socket)
    single.claim()
    app = application()
    opening = Opening(app, places, Faults(places), single)
    while (console := opening.console) is None:
        app.processEvents()
    bench = Bench(console, app)
    bench.until(lambda: console.cases.address)
    bench.live(1.0)
    bench.cards()
    bench.callers()
    bench.flood()
    from dataclasses import asdict

    print(json.dumps([asdict(row) for row in bench.rows]), flush=True)
    console.bridge.close("the bench is over")
    os._exit(0)


if __name__ == "__main__":
    _main()
