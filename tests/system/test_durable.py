"""Small files are replaced whole, and what a killed writer leaves beside them is removed by the next."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from runner.system.durable import replace_file

if TYPE_CHECKING:
    from pathlib import Path

KILLED = """
import os, signal, sys
from pathlib import Path
from runner.system.durable import replace_file
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
replace_file(Path(sys.argv[1]), "half")
"""


def test_what_a_killed_writer_left_is_removed_by_the_next_and_nothing_else_is(tmp_path: Path) -> None:
    file = tmp_path / "seen.json"
    replace_file(file, "old")
    assert subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False).returncode == -9
    assert len(list(tmp_path.iterdir())) == 2 and file.read_text() == "old"
    others = [
        tmp_path / f".seen.json.{os.getppid()}.new",
        tmp_path / ".seen.json.mine.new",
        tmp_path / ".other.json.1.new",
    ]
    for other in others:
        other.write_text("somebody's")
    replace_file(file, "new")
    assert file.read_text() == "new"
    assert {*tmp_path.iterdir()} == {file, *others}
