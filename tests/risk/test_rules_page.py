"""The help page on the classifier's rules is what their files say, and shows each rule with two examples."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Capability, Level
from runner.risk.rules.manual import LONGEST_EXAMPLE, rules_page
from runner.risk.rules.written import load
from runner.system.shipped import resources

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = resources() / "rules"
STALE = "Write it again: .venv/bin/python -m runner.risk.rules.manual > resources/help/rules.md"
TWO_RULES = """\
# Two rules
# for a test.
schema: 1
rules:
  - id: files.shown
    when: delete
    level: high
    capability: destroys files
    reason: Deletes.
    reference: T1485
    match:
      python: ["import os\\nos.remove('a')", "x"]
      shell: ['rm a']
    clean:
      shell: ['ls']
  - id: files.odd
    when: delete
    level: medium
    capability: destroys files
    reason: Is odd.
    match:
      shell: [LONG]
    clean:
      javascript: ["a = `b` + '\\u200b'"]
"""


@pytest.fixture(scope="module")
def page() -> str:
    return (resources() / "help/rules.md").read_text("utf-8")


def test_the_page_is_what_the_files_say(page: str) -> None:
    assert page == rules_page(FOLDER), STALE


def test_each_rule_has_an_entry_with_two_examples(page: str) -> None:
    rules = load(FOLDER).rules.all
    entries = re.split(r"(?m)^### ", page)[1:]
    assert [entry.splitlines()[0] for entry in entries] == [rule.id for rule in rules]
    levels, capabilities = "|".join(Level.__members__), "|".join(Capability)
    for entry, rule in zip(entries, rules, strict=True):
        assert re.match(rf"\S+\n\n({levels}), ({capabilities})(, (T|CWE-)[\d.]+)?: ", entry), entry
        assert rule.reason in entry
        assert re.search(r"(?s)Found:\n```+(\w+)\n.+?\n```+\n\nNot found:\n```+\w+\n.+?\n```", entry), entry


def written(folder: Path, long: str) -> Path:
    """A folder of rules that are the given ones, with the vocabulary of Assent."""
    for each in FOLDER.glob("*.yaml"):
        (folder / each.name).symlink_to(each)
    (folder / "dangers").mkdir()
    (folder / "dangers/two.yaml").write_text(TWO_RULES.replace("LONG", long), "utf-8")
    return folder


def test_the_shortest_example_is_shown_and_a_long_one_is_cut(tmp_path: Path) -> None:
    made = rules_page(written(tmp_path, "y" * 5000))
    assert "These are 2 rules." in made
    assert "## two\n\nTwo rules\nfor a test.\n" in made
    assert "HIGH, destroys files, T1485: Deletes.\n\nFound:\n```shell\nrm a\n```\n" in made
    assert "\nNot found:\n```shell\nls\n```\n" in made
    assert f"```shell\n{'y' * LONGEST_EXAMPLE} …\n```" in made


def test_code_cannot_leave_its_frame_and_hides_nothing(tmp_path: Path) -> None:
    made = rules_page(written(tmp_path, '"x ```` y"'))
    assert "`````shell\nx ```` y\n`````" in made
    assert "a = `b` + '\\u200b'" in made
