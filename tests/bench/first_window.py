"""From the start of the process to the first painted window, against a bare PySide6 window."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.row import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 9
BARE = """
import sys
from PySide6.QtWidgets import QApplication, QMainWindow
class Window(QMainWindow):
    def paintEvent(self, event):
        print("painted", flush=True)
app = QApplication(sys.argv)
window = Window()
window.resize(1280, 800)
window.show()
sys.exit(app.exec())
"""
FRAME = """
import sys
sys.argv = ["assent"]
from app.start import opening
class Frame(opening.Frame):
    def __init__(self, remembered):
        super().__init__(remembered)
        self.painted.connect(lambda: print("painted", flush=True))
opening.Frame = Frame
sys.exit(opening.main())
"""


def rows() -> list[Row]:
    bare: list[float] = []
    frame: list[float] = []
    for _ in range(ROUNDS):
        bare.append(painted((sys.executable, "-c", BARE)))
        frame.append(painted((sys.executable, "-c", FRAME)))
    floor, value = statistics.median(bare), statistics.median(frame)
    return [
        Row("first window painted (p50)", value, "ms", floor, at_most=1.6),
    ]


def painted(command: Sequence[str]) -> float:
    """Return milliseconds until the process says that it has painted."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"ASSENT_HOME": home, "ASSENT_PORT": "0"}
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=ROOT)
        assert process.stdout is not None
        while b"painted" not in process.stdout.readline():
            assert process.poll() is None, "it ended"
        took = (time.perf_counter() - start) * 1e3
        process.kill()
        process.wait()
        process.stdout.close()
        return took
