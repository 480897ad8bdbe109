"""What the console costs while nothing happens."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.row import Row

SECONDS = 10.0


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"ASSENT_HOME": home, "ASSENT_PORT": "0"}
        console = subprocess.Popen([sys.executable, "-m", "app"], env=environment)
        door = Path(home) / "runtime" / "door.json"
        while not door.exists():
            assert console.poll() is None, "it ended"
            time.sleep(0.05)
        time.sleep(3.0)
        before = _seconds(console.pid)
        time.sleep(SECONDS)
        share = (_seconds(console.pid) - before) / SECONDS * 100
        console.terminate()
        console.wait()
    return [Row("idle console", share, "% of a core", None, "1 % of a core", share < 1)]


def _seconds(pid: int) -> float:
    """Processor seconds that the process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
