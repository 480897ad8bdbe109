"""Every target takes its corpus and some more, in moments; and the command finds what fails. At length: `make fuzz`."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fuzz import mutation
from tests.fuzz.__main__ import targets

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

SECONDS = 0.1
WARNS = {"previews": pytest.mark.qt_log_level_fail("CRITICAL")}
"""Qt says of a damaged picture what is wrong with it."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.errors_expected
@pytest.mark.parametrize("target", [pytest.param(one, marks=WARNS.get(one, ())) for one in targets()])
def test_what_failed_once_fails_no_more(
    target: str, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutation, "FAILED", tmp_path)
    assert import_module(f"tests.fuzz.{target}").run(SECONDS, 1) > 0


def test_every_corpus_belongs_to_a_target() -> None:
    assert {path.name for path in mutation.CORPUS.iterdir()} <= set(targets())


def test_an_input_that_fails_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "FAILED", tmp_path)

    def check(data: bytes) -> None:
        assert b"bad" not in data

    with pytest.raises(AssertionError) as caught:
        mutation.fuzz("none", check, [b"good"], 5.0, 1, [b"bad"])
    (kept,) = tmp_path.iterdir()
    assert b"bad" in kept.read_bytes()
    assert str(kept) in caught.value.__notes__[0]


ENDLESS = """
import sys, time
from pathlib import Path
from tests.fuzz import mutation
mutation.FAILED = Path(sys.argv[1])
mutation.fuzz("none", lambda data: time.sleep(60), [b"slow"], 1.0, 1, limit=0.3)
"""


def test_an_input_that_takes_too_long_ends_the_target_and_is_kept(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert (tmp_path / "none.input").read_bytes() == b"slow"


def test_a_target_that_fails_fails_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--seconds", "0.1", "--seed", "1", "marks"]
    good = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stderr) == (0, "")
    assert "None failed." in good.stdout
    broken = {**os.environ, "PYTHONPATH": str(tmp_path)}
    (tmp_path / "sitecustomize.py").write_text(
        "import runner.sandbox.container.frames as frames\nframes.Marks.rest = lambda self: b'more'\n"
    )
    bad = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=broken)
    assert bad.returncode == 1
    assert "marks            FAILED with seed 1" in bad.stdout
