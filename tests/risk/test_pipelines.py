"""A redirect ends with its line, however long the pipeline before it is, and whatever follows."""

from __future__ import annotations

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

STAGES = ("cat a.log", "sort", "uniq -c", "sort -rn", "tr a b", "cut -c1-3", "tail -5", "head -20")
AFTER = (
    "wc -l top.txt && cat top.txt",
    "wc -l top.txt",
    "cat top.txt || true",
    "echo done; wc -l top.txt",
    "if true; then wc -l top.txt && cat top.txt; fi",
    "\n# a comment\nwc -l top.txt || cat top.txt",
)


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("number", range(1, len(STAGES) + 1))
def test_a_redirect_ends_with_its_line(number: int, after: str) -> None:
    code = f"{' | '.join(STAGES[:number])} > top.txt\n{after}\n"
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code))
    assert found.verdict.sentence == "Writes top.txt and reads a.log."
    assert found.touch.files == ("a.log", "top.txt")


def test_what_is_hidden_behind_a_pipeline_is_seen() -> None:
    code = f"{' | '.join(STAGES)} > top.txt\nrm -rf ~/Documents || true\n"
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code))
    assert "files.destroy" in " ".join(one.id for one in found.findings)


def test_each_of_many_pipelines_ends_with_its_line() -> None:
    line = f"{' | '.join(STAGES)} > top.txt\ncat top.txt || true\n"
    code = f"{line * 6}{' | '.join(STAGES)} > top.txt\nrm -rf ~/Documents || true\n"
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code))
    assert "files.destroy" in " ".join(one.id for one in found.findings)
