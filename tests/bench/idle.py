"""What the console costs while nothing happens, against a bare window that wakes ten times a second."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.row import Row

SECONDS = 10.0
BARE = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication(sys.argv)
window = QMainWindow()
window.resize(1280, 800)
window.show()
timer = QTimer()
timer.timeout.connect(lambda: None)
timer.start(100)
sys.exit(app.exec())
"""


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"ASSENT_HOME": home, "ASSENT_PORT": "0"}
        console = subprocess.Popen([sys.executable, "-m", "app"], env=environment)
        bare = subprocess.Popen([sys.executable, "-c", BARE])
        try:
            door = Path(home) / "runtime" / "door.json"
            while not door.exists():
                assert console.poll() is None, "it ended"
                time.sleep(0.05)
            time.sleep(3.0)
            before = [_seconds(one.pid) for one in (console, bare)]
            time.sleep(SECONDS)
            after = [_seconds(one.pid) for one in (console, bare)]
        finally:
            for one in (console, bare):
                one.terminate()
                one.wait()
    share, floor = ((now - then) / SECONDS * 100 for then, now in zip(before, after, strict=True))
    return [Row("idle console", share, "% of a core", floor, at_most=5.0)]


def _seconds(pid: int) -> float:
    """Processor seconds that the threads of the process have used: to the nanosecond, as a bare window uses few."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text("ascii").split()[0]) for task in tasks) / 1e9
