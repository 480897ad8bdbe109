"""The levels of the tools that run no code: spec R1."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import PROMISED, Isolation, Language, Request, Tool
from runner.risk.tools.tools import weigh


@pytest.mark.parametrize(
    ("request_", "level"),
    [
        (Request("1", "a", Tool.CODE_SANDBOX_INFO, 0.0), Level.LOW),
        (Request("1", "a", Tool.CODE_CREATE_SANDBOX, 0.0, Language.PYTHON), Level.LOW),
        (Request("1", "a", Tool.CODE_CREATE_SANDBOX, 0.0, isolation=Isolation.E2B), Level.MEDIUM),
        (Request("1", "a", Tool.CODE_DESTROY_SANDBOX, 0.0, sandbox="x"), Level.LOW),
        (Request("1", "a", Tool.CODE_LIST_FILES, 0.0, files=(".",), sandbox="x"), Level.MEDIUM),
        (Request("1", "a", Tool.CODE_READ_FILE, 0.0, files=("a",), sandbox="x"), Level.MEDIUM),
        (Request("1", "a", Tool.CODE_WRITE_FILE, 0.0, code="a,b", files=("a.csv",), sandbox="x"), Level.MEDIUM),
        (Request("1", "a", Tool.CODE_WRITE_FILE, 0.0, code="x", files=("x",), executable=True), Level.HIGH),
        (Request("1", "a", Tool.CODE_WRITE_FILE, 0.0, code="rm -rf ~\n", files=("a.sh",)), Level.CRITICAL),
        (Request("1", "a", Tool.CODE_WRITE_FILE, 0.0, code="x\u202ey", files=("a.md",)), Level.HIGH),
        (Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(1)"), Level.HIGH),
    ],
)
def test_level_of_a_tool(request_: Request, level: Level) -> None:
    found = weigh(request_)
    assert found.level is level
    assert found.reasons


def test_an_empty_sandbox_elsewhere_says_where_it_is_and_that_it_costs() -> None:
    there = Request(
        "1", "a", Tool.CODE_CREATE_SANDBOX, 0.0, isolation=Isolation.E2B, protections=(f"{PROMISED}cloud.example",)
    )
    said = "Makes an empty sandbox at cloud.example, not on this machine; it costs until it is removed."
    assert weigh(there).reasons == (said,)
    assert weigh(there).verdict.sentence == said
