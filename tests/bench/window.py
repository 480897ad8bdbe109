"""The window under load: cards with 1,000 waiting, 100 callers at once, a run that prints 50 MB/s."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.bench.row import Row, attempt, percentile, received, send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication

    from app.start.console import Console
    from app.start.opening import Opening

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
    "ASSENT_COMPACT_PROMPT": "false",
}

MOST_OUTPUT = 16 << 20
SETTINGS = f"security: {{sandbox: {{ceilings: {{output_bytes: {MOST_OUTPUT}}}}}}}\n"
"""Lets a run print for as long as `FLOOD_SECONDS`."""


def rows() -> Iterator[Row]:
    """In a process of its own, so that its memory is its own."""
    yield from of_process("tests.bench.window")


def of_process(module: str) -> Iterator[Row]:
    """What `module`, started with a folder of its own, sends."""
    with tempfile.TemporaryDirectory() as home:
        yield from received([sys.executable, "-m", module], os.environ | GENEROUS | {"ASSENT_HOME": home})


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

    def send(self, *parts: Callable[[], Iterator[Row]]) -> None:
        """Hand over the rows of `parts`; one that breaks off does not keep the next from being measured."""
        for part in parts:
            for row in attempt(part.__name__, part):
                send(row)

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
        from runner.model.request import Language, Tool
        from runner.model.submission import Submission

        wanted = Submission("bench", Tool.CODE_EXECUTE, Language.PYTHON, code, max_output_bytes=output_bytes)
        return self.console.host.call(lambda engine: engine.submit(wanted))

    # ---- the rows ----

    def cards(self) -> Iterator[Row]:
        """Accepted (the submission returned) to painted, with WAITING others in the queue."""
        from PySide6.QtCore import QEvent, QObject

        from runner.model.events import QuestionAsked, RequestArrived

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
            self.until(partial(_has_painted, ticket, painted))
            request_id = ticket.result().request_id
            times.append((painted[request_id] - accepted[request_id]) * 1e3)
        value, floor = percentile(times, 0.99), percentile(self._bare_list(), 0.99)
        yield Row("accepted to card painted, 1,000 waiting (p99)", value, "ms", floor, at_most=4.0)
        viewport.removeEventFilter(paints)
        self.console.cases.happened.disconnect(taken)
        self.console.bridge.runs.stop_all()
        self.until(lambda: not self.console.cases.count_waiting())

    def _bare_list(self) -> list[float]:
        """Milliseconds from a signal of another thread until a plain list of WAITING has been painted with one more."""
        from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt, Signal
        from PySide6.QtWidgets import QListView

        class Sender(QObject):
            sent = Signal(str)

        bare, model, sender = QListView(), QStringListModel([f"Request {n}" for n in range(WAITING)]), Sender()
        ends: list[float] = []

        class Paints(QObject):
            def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
                if event.type() is QEvent.Type.Paint:
                    ends.append(time.perf_counter())
                return False

        def add(text: str) -> None:
            model.setStringList([*model.stringList(), text])
            ends.clear()
            bare.viewport().update()

        sender.sent.connect(add, Qt.ConnectionType.QueuedConnection)
        bare.setModel(model)
        bare.resize(self.console.window.deciding.queue.view.size())
        bare.show()
        self.live(0.3)
        paints, times = Paints(), []
        bare.viewport().installEventFilter(paints)
        for number in range(SAMPLES):
            ends.clear()
            begun = time.perf_counter()
            threading.Thread(target=sender.sent.emit, args=(f"sample {number}",)).start()
            self.until(lambda: ends and model.rowCount() == WAITING + number + 1)  # noqa: B023 # awaited at once
            times.append((ends[-1] - begun) * 1e3)
        bare.close()
        return times

    def callers(self) -> Iterator[Row]:
        """Gap of the window's loop while CALLERS call through the gateway at once, from another process."""
        gaps = Gaps()
        self.live(1.0)
        idle = percentile(gaps.values, 0.95)
        token = self.console.host.call(lambda engine: engine.membership.add("bench")).result(10)
        client = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.bench.callers",
                self.console.cases.address,
                token,
                str(CALLERS),
                str(CALLS_EACH),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.extend(client.stdout or ()))
        # Neither their imports nor their handshakes count, nor what they do at the end.
        reader.start()
        self.until(lambda: "ready\n" in said)
        gaps.restart()
        assert client.stdin is not None
        client.stdin.write("go\n")
        client.stdin.flush()
        self.until(lambda: "done\n" in said)
        value = percentile(gaps.values, 0.95)
        client.stdin.close()
        self.until(lambda: client.poll() is not None)
        reader.join()
        assert client.returncode == 0
        yield Row("window loop gap, 100 callers at once (p95)", value, "ms", idle, at_most=4.0)

    def flood(self) -> Iterator[Row]:
        """Gap of the window's loop, and memory, while one run prints 50 MB/s and is looked at."""
        from runner.model.decision import Verdict

        gaps = Gaps()
        floor = self._beside(gaps)
        # More output than a run may print in all by default: it would be stopped after a second.
        ticket = self.submit(FLOOD % FLOOD_SECONDS, MOST_OUTPUT).result(10)
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
        yield Row("window loop gap, a run printing 50 MB/s (p99)", p99, "ms", percentile(floor, 0.99), at_most=3.0)
        yield Row("window loop gap, a run printing 50 MB/s (worst)", worst, "ms", max(floor), at_most=20.0)
        yield Row("memory gained while it prints", after - before, "MB", at_most=10.0)
        self.until(lambda: not self.console.cases.count_running())
        seen = ticket.case.transcript.total / 1e6
        yield Row("output of that run", seen / FLOOD_SECONDS, "MB/s")

    def _beside(self, gaps: Gaps) -> list[float]:
        """The gaps while the same program runs beside and nobody reads what it prints."""
        command = [sys.executable, "-c", FLOOD % FLOOD_SECONDS]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            self.live(1.5)
            gaps.restart()
            self.live(FLOOD_SECONDS - 3)
            found = list(gaps.values)
            process.kill()
        return found


def _has_painted(ticket: Any, painted: dict[str, float]) -> bool:
    return ticket.done() and ticket.result().request_id in painted


def _resident() -> float:
    """MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def furnished(opening: Opening, app: QApplication) -> Console:
    """The console in its frame, with the loop of the window running."""
    from asyncio.events import _set_running_loop

    from app.start.loop import make_loop

    _set_running_loop(make_loop(app))
    return opening.furnish()


def _main() -> None:
    from app.start.crash import Faults
    from app.start.opening import Opening, application
    from app.start.single import Single
    from runner.system.places import Places

    places = Places.standard()
    places.config.mkdir(parents=True, exist_ok=True)
    (places.config / "assent.yaml").write_text(SETTINGS)
    single = Single(places.socket)
    single.claim()
    app = application()
    opening = Opening(app, places, Faults(places), single)
    bench = Bench(furnished(opening, app), app)
    console = bench.console
    bench.until(lambda: console.cases.address)
    bench.live(1.0)
    bench.send(bench.cards, bench.callers, bench.flood)
    console.bridge.close("the bench is over")
    os._exit(0)


if __name__ == "__main__":
    _main()
