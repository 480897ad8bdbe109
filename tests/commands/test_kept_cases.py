"""`assent assess --kept`: lists, shows, removes and assesses again."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest

from runner.commands import assess as assessing
from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.explain.disputed import DisputedCases, dispute
from runner.risk.tools.tools import weigh
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

DANGER = "import os\nos.system('rm -rf ~')\n"


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DisputedCases:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path))
    return DisputedCases(Places.under(tmp_path).disputed)


def keep(cases: DisputedCases, code: str, named: Level, then: str = "") -> str:
    """Keep a case of a classifier that said of `code` what this one says of `then`."""
    one = Request("1", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, code)
    earlier = weigh(Request("1", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, then or code))
    return cases.keep(dispute(one, earlier, named, "Not so.\x1b[2J", 0.0)).id


def test_cases_are_listed_with_what_is_said_of_them_now(
    cases: DisputedCases, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assessing.main(["--kept"]) == 0
    assert f"They would be in {cases.path}." in capsys.readouterr().out
    first = keep(cases, DANGER, Level.LOW)
    keep(cases, "print(1)\n", Level.HIGH, then=DANGER)
    assert assessing.main(["--kept"]) == 0
    told = capsys.readouterr().out
    assert f"{first}  python, CRITICAL class, worst finding CRITICAL, you: LOW   import os" in told
    assert "Kept cases: 2, now at the class you named: 1." in told
    assert "never sent" in told
    assert "\x1b" not in told
    assert assessing.main(["--kept", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["kept"], data["settled"]) == (2, 1)
    assert data["cases"][0]["then"]["findings"][0]["id"] == "files.destroy-root"


def test_one_is_shown_with_its_code(cases: DisputedCases, capsys: pytest.CaptureFixture[str]) -> None:
    id = keep(cases, DANGER, Level.LOW)
    assert assessing.main(["--kept", "--show", id[:6]]) == 0
    told = capsys.readouterr().out
    assert "      2  os.system('rm -rf ~')" in told
    assert "CRITICAL  files.destroy-root, line 2" in told
    assert assessing.main(["--kept", "--show", "zzz"]) == 1


def test_a_line_that_cannot_be_read_is_said_and_can_be_removed(
    cases: DisputedCases, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(cases, DANGER, Level.LOW)
    with cases.path.open("a") as file:
        file.write("damaged\n")
    assert assessing.main(["--kept"]) == 1
    assert "Line 2 is damaged" in capsys.readouterr().out
    assert assessing.main(["--kept", "--remove", cases.lines()[1].id, "--yes"]) == 0
    assert assessing.main(["--kept"]) == 0


def test_nothing_is_removed_without_asking(
    cases: DisputedCases, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    id = keep(cases, DANGER, Level.LOW)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert assessing.main(["--kept", "--remove", id]) == 1
    assert "--yes" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", Terminal("\n"))
    assert assessing.main(["--kept", "--remove", id]) == 1
    assert len(cases.lines()) == 1
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert assessing.main(["--kept", "--remove", id]) == 0
    assert cases.lines() == ()


@pytest.mark.parametrize(
    "words", [["--kept", "a.py"], ["--show", "x", "a.py"], ["--kept", "--format", "sarif"], ["--kept", "--explain"], []]
)
def test_options_that_do_not_go_together(words: list[str]) -> None:
    with pytest.raises(SystemExit) as wrong:
        assessing.main(words)
    assert wrong.value.code == 2


@pytest.mark.usefixtures("cases")
def test_the_class_of_a_file_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.py"
    file.write_text(DANGER)
    assert assessing.main([str(file), "--explain"]) == assessing.CRITICAL
    told = capsys.readouterr().out
    assert "Why this class:\n  CRITICAL because of line 2.\n" in told
    assert "  HIGH: without line 2.\n" in told
    for form in ("json", "sarif"):
        assessing.main([str(file), "--format", form])
        plain = json.loads(capsys.readouterr().out)
        assessing.main([str(file), "--format", form, "--explain"])
        whole = json.loads(capsys.readouterr().out)
        place = whole["runs"][0]["properties"] if form == "sarif" else whole
        why = place.pop("why")
        assert whole == plain
        assert why["lower"][0] == {
            "level": "HIGH",
            "possible": True,
            "remains": "HIGH",
            "without": [{"id": "files.destroy-root", "line": 2}],
        }
