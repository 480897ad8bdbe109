"""Every rule finds its own examples and leaves its counter-examples alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.rules.knowledge import bundled

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet


def examples(which: str) -> list[ParameterSet]:
    return [
        pytest.param(rule.id, Language(language), code, id=f"{rule.id}-{language}-{number}")
        for rule in bundled().rules.all
        for language, codes in (rule.match if which == "match" else rule.clean).items()
        for number, code in enumerate(codes, 1)
    ]


def found(language: Language, code: str) -> set[str]:
    return {finding.id for finding in assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).findings}


@pytest.mark.parametrize(("rule", "language", "code"), examples("match"))
def test_finds(rule: str, language: Language, code: str) -> None:
    assert rule in found(language, code)


@pytest.mark.parametrize(("rule", "language", "code"), examples("clean"))
def test_leaves_alone(rule: str, language: Language, code: str) -> None:
    assert rule not in found(language, code)


def test_ids_are_unique() -> None:
    ids = [rule.id for rule in bundled().rules.all]
    assert len(ids) == len(set(ids))


def test_every_rule_has_examples_and_a_reference() -> None:
    for rule in bundled().rules.all:
        assert rule.match and rule.clean, rule.id
        assert rule.reference, rule.id
