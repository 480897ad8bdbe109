"""The scenarios (spec S1 to S10) that concern local execution, by their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.contract import ImportRule
from tests.patience import HANGS, until_it_speaks

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.sandbox.conftest import Lab


def test_1_hello(lab: Lab) -> None:
    result = lab.run("print('Hello')")
    assert (result.stdout, result.stderr, result.exit_code) == ("Hello\n", "", 0)
    assert result.outcome is Outcome.OK
    assert result.error == ""
    assert 0 < result.duration < HANGS
    assert result.meta.isolation is lab.sandbox.isolation
    assert result.meta.runtime == result.meta.isolation.value
    assert result.meta.versions["python"].startswith("3.")


def test_3_time_limit(lab: Lab) -> None:
    code = "print('on', flush=True)\nwhile True: pass"
    result, given = until_it_speaks(lambda seconds: lab.run(code, seconds=seconds), 0.6)
    assert result.outcome is Outcome.TIMED_OUT
    assert result.exit_code == -1
    assert "timed out" in result.stderr
    assert result.error == f"Execution timed out after {given:g} s"
    assert result.meta.timed_out
    assert result.stdout == "on\n"
    assert given <= result.duration < given + HANGS


def test_4_output_is_cut(lab: Lab) -> None:
    code = 'for i in range(20000):\n    print(f"Line {i}: " + "X" * 100)'
    result = lab.run(code, output_bytes=10 * 1024)
    assert result.outcome is Outcome.OK
    assert "... (output truncated" in result.stdout
    assert result.meta.truncated
    assert len(result.stdout.encode()) < 11 * 1024
    assert result.stdout.startswith("Line 0: X")
    assert result.stdout.endswith("Line 19999: " + "X" * 100 + "\n")
    whole = sum(len(f"Line {i}: ") + 101 for i in range(20000))
    mark = f"\n... (output truncated: {result.meta.dropped_stdout:,} bytes left out) ...\n"
    assert len(result.stdout) - len(mark) + result.meta.dropped_stdout == whole


def test_5_error(lab: Lab) -> None:
    result = lab.run('x = 1\n\ndef f():\n    raise ValueError("Something went wrong")\n\nf()\n')
    assert (result.outcome, result.exit_code) == (Outcome.FAILED, 1)
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith('main.py", line 6, in <module>')
    assert lines[3].endswith('main.py", line 4, in f')
    assert lines[-1] == "ValueError: Something went wrong"
    assert len(lines) == 6
    assert result.error == "Exit code 1"


def test_6_blocked_import(lab: Lab) -> None:
    rule = ImportRule(None, ("os", "subprocess", "shutil", "socket"))
    result = lab.run('import subprocess\nprint("ran")\nsubprocess.run(["rm", "-rf", "/nowhere"])', imports=rule)
    assert result.outcome is Outcome.FAILED
    assert result.meta.blocked_imports == ("subprocess",)
    assert result.stdout == ""
    assert "Blocked import: subprocess (line 1)" in result.stderr
    assert "Instead of subprocess:" in result.stderr
    assert "Blocked: os, subprocess, shutil, socket." in result.stderr
    assert "subprocess" in result.error


def test_8_own_folder(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = """
import os
open("test.txt", "w").write("data")
print(os.path.realpath("test.txt"), oct(os.stat("..").st_mode))
"""
    result = lab.run(code)
    assert result.exit_code == 0, result.stderr
    path, mode = result.stdout.split()
    assert path.endswith("/workspace/test.txt")
    assert list(tmp_path.iterdir()) == []
    assert list(lab.root.iterdir()) == []
    if not lab.bubblewrap:
        assert path.startswith(str(lab.root))
        assert mode == "0o40700"


def test_10_every_language(lab: Lab) -> None:
    javascript = lab.run("console.log('Hi'); process.exitCode = 3", Language.JAVASCRIPT)
    shell = lab.run('echo "Hi"; exit 3', Language.SHELL)
    for result in (javascript, shell):
        assert (result.stdout, result.exit_code, result.outcome) == ("Hi\n", 3, Outcome.FAILED), result
