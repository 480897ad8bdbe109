"""`assent assess`: text, JSON and SARIF about a file, and an exit code."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.commands import assess as assessing
from runner.commands import sarif
from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Span
from runner.model.request import Language

if TYPE_CHECKING:
    from pathlib import Path

DANGER = "import os\nprint('hello')\nos.system('rm -rf ~')\n"
LEVELS = ("none", "note", "warning", "error")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def written(folder: Path, name: str, code: str) -> str:
    (folder / name).write_text(code)
    return str(folder / name)


def test_text_names_level_line_reason_and_what_is_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assessing.main([written(tmp_path, "a.py", DANGER)]) == assessing.CRITICAL
    told = capsys.readouterr().out
    assert "a.py: CRITICAL" in told
    assert "3:1" in told
    assert "Deletes a whole system or home folder. [T1485]" in told
    assert "os.system('rm -rf ~')" in told
    assert "Files: ~" in told
    assert "Programs: rm" in told


def test_harmless_code_exits_0_and_says_that_nothing_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assessing.main([written(tmp_path, "a.py", "print(1)\n")]) == 0
    told = capsys.readouterr().out
    assert "No findings." in told
    assert "  Computes and prints; touches no files, no network.\n" in told


def test_what_the_code_says_cannot_move_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assessing.main([written(tmp_path, "a.sh", "rm -rf ~ '\x1b[2K\u202e'\n")]) == assessing.CRITICAL
    assert not {"\x1b", "\u202e"} & set(capsys.readouterr().out)


def test_json_is_the_same_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assessing.main([written(tmp_path, "a.sh", "ls\nrm -rf ~\n"), "--format", "json"]) == assessing.CRITICAL
    told = json.loads(capsys.readouterr().out)
    worst = next(finding for finding in told["findings"] if finding["level"] == "CRITICAL")
    assert (worst["id"], worst["line"], worst["column"], worst["end_column"]) == ("files.destroy-root", 2, 1, 9)
    assert told["language"] == "shell"
    assert told["attention"] == "CRITICAL"
    assert told["verdict"] == "Deletes a whole system or home folder (the home folder)."
    assert told["touch"]["files"] == ["~"]


def test_standard_input_needs_a_language(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def given(code: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(code.encode())))

    given(DANGER)
    assert assessing.main(["-"]) == 1
    assert "--language" in capsys.readouterr().err
    given(DANGER)
    assert assessing.main(["-", "--language", "python"]) == assessing.CRITICAL
    given("#!/bin/sh\nls\n")
    assert assessing.main(["-"]) == 0


def test_own_rules_count_and_a_mistake_in_them_is_reported(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = home / "config" / "rules"
    rules.mkdir(parents=True)
    rule = "{id: team.deploy, when: command, name: deploy, capability: starts processes, reason: Deploys.}"
    (rules / "team.yaml").write_text(f"schema: 1\nrules:\n  - {rule}\n")
    file = written(tmp_path, "a.sh", "deploy\n")
    assert assessing.main([file]) == assessing.CRITICAL
    (rules / "team.yaml").write_text("schema: 1\nrules: [\n")
    assert assessing.main([file]) == 1
    assert "rules/team.yaml" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert assessing.main(["/nowhere/a.py"]) == 1
    assert "/nowhere/a.py" in capsys.readouterr().err
    with pytest.raises(SystemExit) as wrong:
        assessing.main([])
    assert wrong.value.code == 2


@pytest.mark.parametrize("code", [DANGER, "print(1)\n", "x = 'a\u200bb'\n\n\nimport socket\n"])
def test_sarif_has_what_its_schema_requires(tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str) -> None:
    file = written(tmp_path, "a b.py", code)
    assessing.main([file, "--format", "sarif"])
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    assert "sarif-2.1.0" in log["$schema"]
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    assert (code == "print(1)\n") == (run["results"] == [])
    for result in run["results"]:
        _check(result, ids, len(code.split("\n")))


def _check(result: dict[str, Any], ids: list[str], lines: int) -> None:
    assert result["message"]["text"]
    assert result["level"] in LEVELS
    assert ids[result["ruleIndex"]] == result["ruleId"]
    (location,) = result["locations"]
    place = location["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("a%20b.py")
    region = place["region"]
    assert 1 <= region["startLine"] <= region["endLine"] <= lines
    assert region["startColumn"] >= 1
    assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"])


def test_what_belongs_to_no_line_has_none() -> None:
    about = Finding("package.new", Level.HIGH, Capability.PACKAGES, WHOLE, "", "It is new.")
    at = replace(about, span=Span(1, 0, 1, 4))
    found = Assessment(Level.HIGH, ("x",), (about, at))
    listed: Any = assessing.as_data(found, "a.py", Language.PYTHON)["findings"]
    assert [(one["line"], one["end_column"]) for one in listed] == [(None, None), (1, 5)]
    places = [one["locations"][0]["physicalLocation"] for one in sarif.log(found, "a.py", "1")["runs"][0]["results"]]
    assert ["region" in place for place in places] == [False, True]
