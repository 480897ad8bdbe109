"""`assent export`: its formats, its filters, and what it refuses."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from runner.commands import cli
from runner.commands.export import _since, _until
from tests.audit.story import KEY, approved, denied, request, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    write(path, [*approved(request("r1")), *denied(request("r2", agent="other"))], KEY)
    return str(path)


def test_each_format_and_the_verifier_are_written(
    ledger: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("out.jsonl", "out.csv", "out.html"):
        assert cli.main(["export", ledger, "--output", str(tmp_path / name)]) == 0
        assert capsys.readouterr() == (f"2 requests were written to {tmp_path / name}.\n", "")
    program = str(tmp_path / "assent_verify.py")
    assert cli.main(["export", "--verifier", "--output", program]) == 0
    capsys.readouterr()
    assert cli.main(["export", ledger, "--entries", "--output", str(tmp_path / "e.jsonl")]) == 0
    # What the command says to run is a whole and good check.
    given = capsys.readouterr().out.splitlines()[-1].split()
    assert given[:4] == ["python3", "-I", "assent_verify.py", "e.jsonl"]
    found = subprocess.run([sys.executable, *given[1:]], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (found.returncode, "are as they were written" in found.stdout) == (0, True), found


def test_filters_are_those_of_the_history(ledger: str, tmp_path: Path) -> None:
    wanted = {
        "r1": (["--agent", "claude"], ["--outcome", "ok"], ["--level", "high"], ["--decision", "approved"]),
        "r2": (["--agent", "other"], ["--level", "CRITICAL", "--language", "python"]),
    }
    path = tmp_path / "out.jsonl"
    for name, filters in wanted.items():
        for given in filters:
            assert cli.main(["export", ledger, "--force", "--output", str(path), *given]) == 0
            assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == [name]
    assert cli.main(["export", ledger, "--force", "--output", str(path), "--until", "2020-01-01"]) == 0
    assert path.read_text() == ""


def test_a_day_is_meant_whole() -> None:
    day = datetime(2026, 1, 31).timestamp()
    assert (_since("2026-01-31"), _until("2026-01-31")) == (day, datetime(2026, 2, 1).timestamp())
    assert _until("2026-01-31T08:00") == day + 8 * 3600
    with pytest.raises(argparse.ArgumentTypeError):
        _until("9999-12-31")


def test_what_it_cannot_do_is_said_and_nothing_is_written(
    ledger: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.jsonl"
    assert cli.main(["export", ledger, "--entries", "--agent", "claude", "--output", str(path)]) == 1
    assert "A filter chooses requests" in capsys.readouterr().err
    assert cli.main(["export", ledger, "--output", str(tmp_path / "out.txt")]) == 1
    assert "Add --format" in capsys.readouterr().err
    assert cli.main(["export", str(tmp_path / "none"), "--output", str(path / "out.csv")]) == 1
    assert list(tmp_path.iterdir()) == []


def test_manual_page_and_completions_know_it() -> None:
    given = cli.whole_parser().parse_args(["export", "--entries", "--output", "x"])
    assert given.entries and given.output == "x"
