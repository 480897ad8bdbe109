"""Every rule finds its own examples and leaves its counter-examples alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.rules.knowledge import bundled, table
from runner.risk.rules.rule import compiled
from runner.risk.rules.vocabulary import Vocabulary
from runner.risk.rules.written import EXAMPLES, collected, load
from runner.risk.rules.written import table as made
from runner.system.places import resources

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet


FOLDER = resources() / "rules"
WRITTEN = load(FOLDER)


def examples(which: str) -> list[ParameterSet]:
    return [
        pytest.param(rule.id, Language(language), code, id=f"{rule.id}-{language}-{number}")
        for rule in WRITTEN.rules.all
        for language, codes in (rule.match if which == "match" else rule.clean).items()
        for number, code in enumerate(codes, 1)
    ]


def test_the_table_is_what_the_files_say() -> None:
    text = (FOLDER / "table.json").read_text("utf-8")
    assert text == made(FOLDER), "Write it again: .venv/bin/python -m runner.risk.rules.written > FILE, then move it"
    said = collected(FOLDER)
    said["rules"] = [{key: one[key] for key in one.keys() - EXAMPLES} for one in said["rules"]]
    assert table() == said
    assert [rule.id for rule in bundled().rules.all] == [rule.id for rule in WRITTEN.rules.all]


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
    for rule in WRITTEN.rules.all:
        assert rule.match and rule.clean, rule.id
        assert rule.reference, rule.id


@pytest.mark.parametrize(
    "data",
    [
        [{"calls": "socket.recv '*.recv'", "act": "receive"}],
        [{"calls": "socket.recv", "act": "receive", "data": '"0"'}],
        [{"calls": "socket.recv", "act": "receive", True: "self"}],
    ],
)
def test_an_entry_that_no_call_ever_has_is_refused(data: list[dict[object, str]]) -> None:
    """YAML takes a quotation mark inside a plain text as a letter, and `on` for a truth value."""
    with pytest.raises(ValueError, match="quotation marks"):
        Vocabulary.of_file({"calls": data, "attributes": {}})


@pytest.mark.parametrize("condition", [{"name": "a 'b'"}, {"path": "=/x '=/y'"}, {True: "self"}, {"path": ['"=/x"']}])
def test_a_condition_that_nothing_ever_meets_is_refused(condition: dict[object, object]) -> None:
    rule = {"id": "a", "when": "read", "capability": "files", "reason": "A.", **condition}
    with pytest.raises(ValueError, match="quotation marks"):
        compiled(rule, WRITTEN.targets)
