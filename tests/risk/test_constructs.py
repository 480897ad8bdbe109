"""Danger in disguise, and harmless code that looks like danger: one case for each construct, in `constructs/`.

Each file holds cases under headings `=== name`; its name says the language and what the cases are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

LANGUAGES = {"python": Language.PYTHON, "shell": Language.SHELL, "javascript": Language.JAVASCRIPT}
# TypeScript comes in as JavaScript: agents do not tell them apart.
LANGUAGES["typescript"] = Language.JAVASCRIPT


def cases(kind: str) -> list[ParameterSet]:
    found = []
    for path in sorted((Path(__file__).parent / "constructs").glob(f"*-{kind}.txt")):
        language = path.name.partition("-")[0]
        parts = re.split(r"(?m)^=== (.*)\n", path.read_text("utf-8"))
        for name, code in zip(parts[1::2], parts[2::2], strict=True):
            found.append(pytest.param(LANGUAGES[language], code, id=f"{language}: {name}"))
    return found


def level(language: Language, code: str) -> Level:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).level


@pytest.mark.parametrize(("language", "code"), cases("danger"))
def test_disguised_danger_is_critical(language: Language, code: str) -> None:
    assert level(language, code) is Level.CRITICAL


@pytest.mark.xfail(strict=True, reason="not found yet; one that is found belongs to the danger files")
@pytest.mark.parametrize(("language", "code"), cases("missed"))
def test_danger_that_is_missed(language: Language, code: str) -> None:
    assert level(language, code) is Level.CRITICAL


@pytest.mark.parametrize(("language", "code"), cases("harmless"))
def test_harmless_code_that_looks_like_danger_is_not(language: Language, code: str) -> None:
    assert level(language, code) is Level.HIGH
