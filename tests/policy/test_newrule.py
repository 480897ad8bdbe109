"""A rule composed from a request: it stands first in the file, says what was meant, and changes nothing else there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.policy import rulefile
from runner.policy.newrule import NewRule, add_rule
from runner.policy.rules import Action

if TYPE_CHECKING:
    from runner.system.places import Places

DENY = NewRule("no-codex-shell", Action.DENY, ("code_execute",), ("codex",), (("language", "shell"),))
OLD = """# mine
schema: 1
rules:
  # why this one
  - name: first
    tools: [code_execute]   # code alone
    action: ask
  - name: second
    action: deny
"""


@pytest.fixture
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    from runner.system.places import Places

    made = Places.under(tmp_path_factory.mktemp("home"))
    made.make()
    made.config.mkdir(parents=True, exist_ok=True)
    return made


@pytest.mark.parametrize("old", [None, "", "# only a remark\n", "schema: 1\n", "rules: []\n", OLD])
def test_it_is_asked_first_and_all_else_stays(places: Places, old: str | None) -> None:
    path = places.config / rulefile.FILE
    if old is not None:
        path.write_text(old)
    before = rulefile.read(places).rules
    add_rule(places, DENY)
    read = rulefile.read(places)
    assert read.problems == () and read.rules[1:] == before
    first = read.rules[0]
    assert (first.name, first.action, first.agents, first.tools) == (DENY.name, DENY.action, DENY.agents, DENY.tools)
    text = path.read_text()
    assert all(words in text for words in ("# mine", "# why this one", "# code alone") if old == OLD)
    assert "# only a remark" in text or old != "# only a remark\n"


@pytest.mark.parametrize("value", ["print(1)\nprint(2)\n", "no", "12", "- a: b", "*x", "\u202e", "'\"", " spaces "])
def test_any_value_is_read_as_it_was_meant(places: Places, value: str) -> None:
    rule = NewRule("exact", Action.ASK, equal=(("code", value),), level=Level.CRITICAL)
    add_rule(places, rule)
    (first,) = rulefile.read(places).rules
    assert first.conditions[0].equals == value and first.level is Level.CRITICAL


@pytest.mark.parametrize("broken", ["rules: [", "rules: 3\n", "other: 1\n", "rules:\n  - action: dance\n"])
def test_a_file_that_is_wrong_is_not_touched(places: Places, broken: str) -> None:
    path = places.config / rulefile.FILE
    path.write_text(broken)
    with pytest.raises(KnownError):
        add_rule(places, DENY)
    assert path.read_text() == broken


def test_what_would_allow_or_would_never_hold_is_not_written(places: Places) -> None:
    for rule in (
        NewRule("a", Action.ALLOW),
        NewRule("b", Action.DENY, equal=(("domain", "no host at all"),)),
        NewRule("c", Action.DENY, equal=(("colour", "red"),)),
        NewRule("d", Action.DENY, tools=("dance",)),
    ):
        with pytest.raises(KnownError):
            add_rule(places, rule)
    assert not (places.config / rulefile.FILE).exists()
