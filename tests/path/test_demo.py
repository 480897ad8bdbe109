"""`assent demo`, as a newcomer starts it: its screen, its clicks and its programs are real."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.components import require
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path


def test_the_demo_comes_to_its_end(tmp_path: Path) -> None:
    """It fails by itself where what was refused ran, or where a project was changed before anybody applied."""
    require("screen")
    require("bubblewrap")
    done = subprocess.run(
        [sys.executable, "-m", "app", "demo"], cwd=tmp_path, capture_output=True, text=True, timeout=6 * HANGS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "changed in the project: report.py, test_report.py\n" in done.stdout
    shots = tmp_path / "build/demo"
    assert {"1-asked.png", "3-denying.png", "4-held.png", "6-applied.png"} <= {one.name for one in shots.iterdir()}
    frames = sorted(one.name for one in (shots / "card").iterdir())
    assert len(frames) > 10
    assert frames == [f"{number:03}.png" for number in range(len(frames))]
