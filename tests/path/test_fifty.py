"""Three agents at once, and a person with real keys: every answer reaches the request it was meant for."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.components import require

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 6
"""Of each agent, the last ones, which are mixed; all fifty are for `python -m tests.path.fifty`."""


def test_what_is_denied_is_what_is_critical_and_nobody_waits_for_ever(tmp_path: Path) -> None:
    require("screen")
    require("bubblewrap")
    command = [sys.executable, "-m", "tests.path.fifty", str(tmp_path), str(CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    walk = json.loads((tmp_path / "walk.json").read_text())
    assert all(deed["decided"] == ("denied" if deed["level"] == "CRITICAL" else "approved") for deed in walk["deeds"])
    for name, statuses in walk["agents"].items():
        assert len(statuses) == CALLS
        mine = [deed for deed in walk["deeds"] if deed["agent"] == name]
        assert statuses.count("denied") == sum(deed["level"] == "CRITICAL" for deed in mine) == 2
        assert set(statuses) <= {"finished", "failed", "denied"}, statuses
    assert (tmp_path / "over.png").stat().st_size > 10_000
