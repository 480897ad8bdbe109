"""Deeds in tools that run commands, reach elsewhere or change what is trusted; and everyday uses of the same tools.

The cases are the lines of `deeds.txt`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

LEVELS = {"nothing": (None,), "finding": (Level.MEDIUM, Level.HIGH, Level.CRITICAL), "critical": (Level.CRITICAL,)}


def cases() -> list[ParameterSet]:
    found = []
    for line in (Path(__file__).parent / "deeds.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        what, language, wanted, code = line.split(" | ", 3)
        marks = pytest.mark.xfail(strict=True, reason="not modelled yet") if wanted.startswith("?") else ()
        plain = json.loads(code)
        found.append(
            pytest.param(Language(language), plain, wanted.strip("?"), id=f"{what}: {plain[:60]}", marks=marks)
        )
    return found


@pytest.mark.parametrize(("language", "code", "wanted"), cases())
def test_a_deed_is_found_and_everyday_use_is_not(language: Language, code: str, wanted: str) -> None:
    assert assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).attention in LEVELS[wanted]
