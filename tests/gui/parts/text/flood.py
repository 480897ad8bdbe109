"""A program prints without mercy: how long the window's event loop is kept from turning, and what memory does.

Run: QT_QPA_PLATFORM=offscreen python tests/gui/parts/text/flood.py [--rate MB/s] [--seconds S] [--plain]
Prints one JSON object: gaps between two ticks of a 5 ms timer in ms, and growth of resident memory in MB.
"""

from __future__ import annotations

import argparse
import itertools
import json
import threading
import time
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.look.look import Look
from app.parts.text.output import OutputView
from runner.sandbox.output import Stream, Transcript

CHUNK = 1 << 16


def flood(transcript: Transcript, rate: float, seconds: float, line: bytes) -> None:
    """Write `rate` MB/s for `seconds`, in chunks as pipes give them."""
    data = (line * (CHUNK // len(line) + 1))[:CHUNK]
    begin = time.perf_counter()
    written = 0
    while (now := time.perf_counter() - begin) < seconds:
        while written < now * rate * 1e6:
            transcript.append(Stream.OUT, data)
            written += CHUNK
        time.sleep(0.002)
    transcript.end()


def resident() -> float:
    """MB of this process that are in memory."""
    fields = Path("/proc/self/statm").read_text("ascii").split()
    return int(fields[1]) * 4096 / 1e6


def measure(app: QApplication, look: Look, rate: float, seconds: float, line: bytes) -> dict[str, float]:
    """Flood one visible view; gaps are taken after the first half second."""
    view = OutputView(look)
    view.resize(1000, 700)
    view.show()
    app.processEvents()
    ticks: list[float] = []
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.setInterval(5)
    timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
    transcript = Transcript(1 << 20)
    view.set_source(transcript)
    view.ended.connect(app.quit)
    writer = threading.Thread(target=flood, args=(transcript, rate, seconds, line), daemon=True)
    memory = [resident()]
    QTimer.singleShot(round(seconds * 500), lambda: memory.append(resident()))
    timer.start()
    writer.start()
    app.exec()
    writer.join()
    timer.stop()
    memory.append(resident())
    gaps = sorted((after - before) * 1000 for before, after in itertools.pairwise(ticks))
    view.close()
    return {
        "mb": transcript.total / 1e6,
        "p50": round(gaps[len(gaps) // 2], 1),
        "p95": round(gaps[int(len(gaps) * 0.95)], 1),
        "p99": round(gaps[int(len(gaps) * 0.99)], 1),
        "worst": round(gaps[-1], 1),
        "memory_first_half": round(memory[1] - memory[0], 1),
        "memory_second_half": round(memory[2] - memory[1], 1),
    }


if __name__ == "__main__":
    wanted = argparse.ArgumentParser()
    wanted.add_argument("--rate", type=float, default=50)
    wanted.add_argument("--seconds", type=float, default=6)
    wanted.add_argument("--plain", action="store_true")
    chosen = wanted.parse_args()
    application = QApplication([])
    text = b"2025-11-21 10:04:11 INFO loaded 18,402 rows from sales.csv and went on with the next\n"
    line = text if chosen.plain else b"\x1b[32m" + text[:30] + b"\x1b[0m" + text[30:]
    print(json.dumps(measure(application, Look(application), chosen.rate, chosen.seconds, line)))
