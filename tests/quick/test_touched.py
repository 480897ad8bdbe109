"""The quick set: real changes pick the tests that a person would, nothing that changed is overlooked, time is kept."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.quick import __main__ as quick
from tests.quick.on_time import ENDS, ORDER
from tests.quick.touched import HOUSE, Touched, touched

if TYPE_CHECKING:
    from pathlib import Path

modules = cache(quick.modules)
MADE = {
    "runner/low.py": "",
    "runner/middle.py": "from runner import low\n",
    "runner/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from runner.low import One\n\nX = 1\n",
    "tests/conftest.py": "from runner import low\n",
    "tests/room/conftest.py": "import runner.middle\n",
    "tests/room/test_by_its_folder.py": "",
    "tests/other/test_many.py": "from runner import (\n    typed,\n    middle,\n)\n",
    "tests/other/test_started.py": "COMMAND = '-m runner.low'\n",
    "tests/other/test_types.py": "from runner import typed\n",
    "tests/test_low.py": "",
}


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ("app/queue/model.py", ["tests/gui/queue/test_queue.py", "tests/gui/queue/test_held_at_work.py"]),
        ("runner/risk/explain/class_reasons.py", ["tests/risk/test_class_reasons.py"]),
        ("runner/policy/rules.py", ["tests/policy/test_rules.py"]),
        ("resources/rules/dangers/files.yaml", ["tests/risk/test_rules.py", "tests/risk/test_rules_page.py"]),
        ("tests/audit/test_search.py", ["tests/audit/test_search.py"]),
        ("CONTRIBUTING.md", ["tests/test_contributing.py"]),
    ],
)
def test_a_change_begins_with_its_own_tests(changed: str, first: list[str]) -> None:
    assert [one.file for one in touched([changed], modules())[: len(first)]] == first


def test_a_low_module_reaches_the_window_and_a_page_does_not_reach_the_engine() -> None:
    low = {one.file: one.steps for one in touched(["runner/risk/explain/class_reasons.py"], modules())}
    assert low["tests/gui/class_reasons/test_class_reasons.py"] == 2 and low[HOUSE] <= 2
    page = {one.file for one in touched(["app/queue/model.py"], modules())}
    assert len(page) < 20 and not any(file.startswith(("tests/engine/", "tests/gateway/")) for file in page)


def test_imports_names_in_texts_and_folders_count_and_types_do_not() -> None:
    assert touched(["runner/low.py"], MADE) == [
        Touched(1, 0, "tests/test_low.py"),
        Touched(1, 2, "tests/other/test_started.py"),
        Touched(2, 2, "tests/other/test_many.py"),
        Touched(3, 2, "tests/room/test_by_its_folder.py"),
    ]


def test_what_is_gone_is_found_by_who_still_imports_it() -> None:
    left = {file: text for file, text in MADE.items() if file != "runner/middle.py"}
    assert touched(["runner/middle.py"], left) == [
        Touched(1, 2, "tests/other/test_many.py"),
        Touched(2, 2, "tests/room/test_by_its_folder.py"),
    ]


def test_what_is_committed_on_the_branch_new_or_gone_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def write(name: str) -> None:
        (tmp_path / name).write_text(name, "utf-8")

    git("init", "--initial-branch", "main")
    for name in ("same.py", "gone.py", "edited.py"):
        write(name)
    git("add", ".")
    git("commit", "-m", "a")
    git("checkout", "-b", "mine")
    write("committed.py")
    git("add", ".")
    git("commit", "-m", "b")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "edited.py").write_text("other", "utf-8")
    write("new ä.py")
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    assert sorted(quick.changes()) == ["committed.py", "edited.py", "gone.py", "new ä.py"]
    assert sorted(quick.changes("HEAD")) == ["edited.py", "gone.py", "new ä.py"]
    assert sorted(quick.modules()) == ["committed.py", "edited.py", "new ä.py", "same.py"]


@pytest.mark.parametrize("seconds", [-1.0, 600.0])
def test_only_the_nearest_begin_after_the_time_and_that_is_said(tmp_path: Path, seconds: float) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"test_{name}.py").write_text("def test_it():\n    raise SystemError\n", "utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(quick.ROOT),
        ENDS: str(time.monotonic() + seconds),
        ORDER: "test_b.py:test_a.py:test_c.py",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.quick.on_time", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    failed = re.findall(r"FAILED test_(\w)\.py", done.stdout)
    if seconds < 0:
        assert failed == ["b"] and "2 tests were left for the whole suite" in done.stdout
    else:
        assert failed == ["b", "a", "c"] and "left for" not in done.stdout


def test_a_check_that_is_not_through_in_time_is_stopped_and_fails(capfd: pytest.CaptureFixture[str]) -> None:
    endless = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert quick.ended(endless, time.monotonic()) == 1
    assert endless.stdin is not None
    endless.stdin.close()
    assert endless.poll() is not None and "Not through within a minute" in capfd.readouterr().out
    assert quick.ended(subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]), time.monotonic() + 600) == 3


def test_a_rule_is_tried_on_programs_that_others_wrote() -> None:
    assert "tests/risk/test_sets.py" in [one.file for one in touched(["resources/rules/dangers/files.yaml"], modules())]
