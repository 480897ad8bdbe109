"""The bench itself: goals are ratios, and a row that fails or cannot be measured does not take others with it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
from dataclasses import asdict
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import tests.bench.__main__ as bench
from tests.bench import speed_page, unseen
from tests.bench.row import Row, attempt, received, skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SENDER = "from tests.bench.row import Row, send\nsend(Row('one', 2.0, 'ms', 1.0, at_most=3.0))\nprint('other')\n"


@pytest.mark.parametrize(
    ("row", "met"),
    [
        (Row("slow", 30.0, "ms", 10.0, at_most=2.0), False),
        (Row("the same on a slow machine", 3000.0, "ms", 2000.0, at_most=2.0), True),
        (Row("fast", 80.0, "MB/s", 100.0, at_least=0.8), True),
        (Row("no floor", 9.0, "MB", at_most=8.0), False),
        (Row("nothing left", 0, at_most=0), True),
        (Row("for the eye", 1.0, "ms", 1.0), None),
        (Row("failed", at_most=1.0, failed="why"), None),
    ],
)
def test_a_goal_bounds_the_ratio_where_there_is_a_floor(row: Row, met: bool | None) -> None:
    assert row.met is met


def test_what_was_measured_before_a_failure_stays() -> None:
    def work() -> Iterator[Row]:
        yield Row("first", 1.0)
        raise ValueError("broken\nin two lines")

    first, second = attempt("both", work)
    assert first == Row("first", 1.0)
    assert second == Row("both", failed="ValueError: broken in two lines")


def test_rows_of_a_process_that_ends_early_stay() -> None:
    command = [sys.executable, "-c", f"{SENDER}raise SystemExit(3)"]
    found = list(attempt("process", lambda: received(command, os.environ)))
    assert found == [
        Row("one", 2.0, "ms", 1.0, at_most=3.0),
        Row("process", failed="RuntimeError: its process ended with 3"),
    ]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Run the bench with these functions as its modules, on a machine without a display."""

    def run(*arguments: str, **parts: Callable[[], list[Row]]) -> int:
        for name, rows in parts.items():
            module = ModuleType(f"tests.bench.{name}", f"What {name} is.\n\nMore.")
            module.__dict__["rows"] = rows
            monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(bench, "MODULES", tuple(parts))
        return bench.main(list(arguments))

    monkeypatch.setattr(speed_page, "RESULT", tmp_path / "build" / "bench.json")
    monkeypatch.setattr(speed_page, "PAGE", tmp_path / "speed.md")
    monkeypatch.setattr(bench.shutil, "which", lambda _name: None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return run


def _good() -> list[Row]:
    return [Row("good", 2.0, "ms", 1.0, at_most=3.0)]


def _bad() -> list[Row]:
    raise OSError("no such thing")


def _away() -> list[Row]:
    skip("container engine: none here")
    return []


def test_one_that_fails_loses_no_other_and_decides_the_exit_code(
    measure: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(broken=_bad, absent=_away, window=_good, good=_good) == 1
    table = capsys.readouterr().out
    assert "broken" in table
    assert "FAILED: OSError: no such thing" in table
    assert "skipped: container engine: none here" in table
    assert "skipped: there is no display" in table
    assert "<= 3x met" in table
    assert "load average before" in table
    rows = json.loads(speed_page.RESULT.read_text())["rows"]
    assert [row["name"] for row in rows] == ["broken", "absent", "window", "good"]
    assert rows[-1]["met"] is True
    assert rows[-1]["ratio"] == 2.0


def _runs(name: str = "local run, python, bubblewrap (p50)") -> list[Row]:
    return [Row(name, 55.5, "ms", 37.0, at_most=1.5)]


def test_a_whole_run_makes_the_page_of_the_help_and_says_when_and_where(measure: Callable[..., int]) -> None:
    assert measure(runs=_runs, absent=_away) == 0
    page = speed_page.PAGE.read_text("utf-8")
    assert "| Python in the local sandbox | 55.5 ms | 37 ms, the interpreter, no sandbox | 1.50x |" in page
    assert f"{os.cpu_count()} processors" in page and "Load average before" in page
    assert "\nNot measured in that run: Python in Docker, a fresh container;" in page
    assert "## The window" not in page, "a part of which nothing was measured"
    assert measure("runs", runs=lambda: _runs("other")) == 0
    assert speed_page.PAGE.read_text("utf-8") == page, "one that measured a part makes no page"


def _result(*rows: Row, load: str = "0.1 0.2 0.3") -> dict[str, object]:
    made = [asdict(row) for row in rows]
    of = {"date": "1 May 2030", "processor": "some", "cores": 4, "memory_gb": 8, "system": "Linux 6"}
    return {**of, "load_before": load, "load_after": "9 9 9", "rows": made}


def test_a_row_whose_floor_is_ours_stands_the_right_way_round() -> None:
    page = speed_page.page(_result(Row("llm-sandbox on docker, cold, until removed", 3000.0, "ms", 600.0)))
    assert "beside llm-sandbox | 600 ms | 3,000 ms, llm-sandbox, until removed | 0.20x |" in page


def test_a_row_that_failed_has_no_figure() -> None:
    page = speed_page.page(_result(Row("search of the history", failed="it broke", at_most=1.0)))
    assert "| A search" not in page and "A search of the history." in " ".join(page.split())


def test_a_busy_machine_is_said() -> None:
    assert "had other work" in " ".join(speed_page.page(_result(load="2.5 1 1")).split())
    assert "other work" not in speed_page.page(_result(load="1.5 1 1"))


def test_the_page_takes_only_rows_that_are_measured() -> None:
    """By the texts of the calls: a row that is renamed would leave the page unnoticed."""
    texts: list[str] = []
    for file in speed_page.Path(bench.__file__).parent.glob("*.py"):
        if not file.name.startswith("test_"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    parts = (re.escape(one.value) if isinstance(one, ast.Constant) else ".+" for one in node.values)
                    texts.append("".join(parts))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts.append(re.escape(node.value) if file.name != "speed_page.py" else "-")
    of_rows = [text for text in texts if text != ".+" and not text.startswith(".+.+")]
    for part in speed_page.PARTS:
        for line in part.lines:
            assert any(re.fullmatch(text, line.row) for text in of_rows), line.row


def test_the_page_of_the_help_is_one_of_a_run() -> None:
    text = speed_page.PAGE.read_text("utf-8")
    assert text.startswith(speed_page.HEAD) and "\nMeasured on " in text and text.count(speed_page.HOW) == 1


def test_what_cannot_be_measured_here_is_no_failure(measure: Callable[..., int]) -> None:
    assert measure(absent=_away, good=_good) == 0


def test_one_alone_and_the_list(measure: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert measure("good", broken=_bad, good=_good) == 0
    assert measure("--list", broken=_bad, good=_good) == 0
    assert "broken         What broken is." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        measure("other", good=_good)


UNSEEN = (
    {
        "language": "python",
        "harmful": True,
        "name": "a",
        "facts": ["documents", "deletes|removes"],
        "lines": [2],
        "code": "import os, shutil\nshutil.rmtree(os.path.expanduser('~/Documents'))\n",
    },
    {"language": "shell", "harmful": False, "code": "echo hello\n"},
    {"language": "javascript", "harmful": True, "code": "console.log(1)\n", "lines": [1], "facts": ["nothing of it"]},
)


@pytest.mark.skipif(not (shutil.which("bwrap") and shutil.which("node")), reason="no bubblewrap, or no Node.js")
def test_programs_that_nobody_has_seen_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in UNSEEN))
    monkeypatch.setenv("ASSENT_UNSEEN", str(tmp_path / "set.jsonl"))
    notes = {row.name: row.note for row in unseen.rows()}
    assert notes["danger that reading makes HIGH or more"] == "1 of 2"
    assert notes["danger that reading makes HIGH or more, javascript"] == "0 of 1"
    assert notes["danger under a sentence that says it is none"] == "1 of 2"
    assert notes["harmless code that reading and trying raise so"] == "0 of 1"
    assert notes["sentences with all facts"] == notes["right line to look at"] == "1 of 2"
    told = [json.loads(line) for line in (tmp_path / "build/unseen.jsonl").read_text().splitlines()]
    assert [one["name"] for one in told] == ["a", "2", "3"] and "delete the folder" in told[0]["tried"]


@pytest.mark.parametrize("line", ['{"language": "python", "code": "", "harmful": 1}', '{"language": "cobol"}', "{"])
def test_a_line_that_is_no_program_is_said(line: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        unseen.programs(line)
