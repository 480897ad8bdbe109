"""What GNU parallel runs: a command for each value, with the values in place, or the values themselves."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("parallel -j 4 rm -rf ::: ~/a ~/b", "~/a"),
        ("parallel --jobs 4 --bar rm -rf {} ::: ~/a", "~/a"),
        ("parallel --joblog log --colsep , rm -rf ~/{1} ::: a", "~/a"),
        ("parallel -I % rm -rf ~/% ::: a", "~/a"),
        ("parallel 'ls {}; rm -rf ~/{}' ::: a", "~/a"),
        ("seq 2 | parallel 'echo {}; rm -rf ~/data{}'", "~/data"),
        ("parallel ::: 'rm -rf ~/a' ls", "~/a"),
        ("wipe() { rm -rf ~/a; }; export -f wipe; parallel wipe ::: 1 2", "~/a"),
        ("aws() { echo x; }\nparallel -j 2 aws s3 rm --recursive ::: s3://backups", "s3://backups"),
    ],
)
def test_what_it_runs_is_followed(code: str, named: str) -> None:
    said = assess(Request("1", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code))
    assert said.attention is not None and said.attention >= Level.HIGH
    assert "eletes" in said.verdict.sentence and named in said.verdict.sentence


def test_a_harmless_command_is_not_raised() -> None:
    code = "parallel -j 4 pytest {} ::: tests/a tests/b"
    said = assess(Request("1", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code))
    assert said.attention is None and "pytest" in said.verdict.sentence
