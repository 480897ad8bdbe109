"""The person's own rules: taken up beside those of Assent; a file that cannot be used is named with its line."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner.engine.foundation.configuration import Configuration
from runner.model.assessment import Level
from runner.model.decision import Decision
from runner.model.request import Language, Request, Tool
from runner.policy.decide import Ask
from runner.risk import user_rules
from runner.settings.loading import load
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

RULE = """\
schema: 1
rules:
  - id: team.deploy
    when: command
    name: deploy
    level: critical
    capability: starts processes
    reason: Puts a version into production.
    match:
      shell: ['deploy --now']
    clean:
      shell: ['echo deploy']
"""


def level(found: user_rules.Own, code: str) -> Level:
    return found.assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code)).level


def test_no_folder_means_the_rules_of_assent(tmp_path: Path) -> None:
    found = user_rules.read(tmp_path / "rules")
    assert found.problems == ()
    assert level(found, "deploy --now") is Level.HIGH


def test_an_own_rule_counts_beside_the_others(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(RULE)
    found = user_rules.read(tmp_path)
    assert found.problems == ()
    assert level(found, "sudo deploy --now") is Level.CRITICAL
    assert level(found, "rm -rf ~") is Level.CRITICAL


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RULE.replace("    when: command\n", "    when: comand\n"), ("line 3", "comand")),
        (RULE.replace("critical", "dreadful"), ("line 3", "dreadful")),
        (RULE.replace("starts processes", "magic"), ("line 3", "magic")),
        (RULE.replace("    reason: Puts a version into production.\n", ""), ("line 3", "reason")),
        (RULE.replace("    name: deploy\n", "    name: '~('\n"), ("line 3", "team.deploy")),
        (RULE.replace("    name: deploy\n", "    name: '~(?<!x)deploy'\n"), ("line 3", "team.deploy", "RE2")),
        (RULE.replace("    name: deploy\n", "    name: '~(d)\\1'\n"), ("line 3", "team.deploy", "RE2")),
        (RULE.replace("    name: deploy\n", f"    name: '~{'d' * 2001}'\n"), ("line 3", "2,000 characters")),
        (RULE.replace("deploy --now", "release --now"), ("line 3", "misses")),
        (RULE.replace("echo deploy", "deploy"), ("line 3", "finds")),
        (RULE.replace("team.deploy", "credentials.read"), ("line 3", "name of another")),
        (RULE.replace("    level: critical\n", "    reference: ABC\n"), ("line 3", "ABC")),
        ("schema: 1\nrules:\n  - id: [\n", ("line 4",)),
        ("schema: 1\nrules: 5\n", ("no list",)),
        ("rules: []\n", ("schema",)),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, text: str, told: tuple[str, ...]) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "team.yaml").write_text(text)
    found = user_rules.read(folder)
    assert len(found.problems) == 1
    assert "rules/team.yaml" in found.problems[0]
    for part in told:
        assert part in found.problems[0]


@pytest.mark.parametrize(
    "condition", ["text: '~(a+)+$'", "line: '~(a+)+$'", "line: '!~(a+)+$'", "line: '@~(a+)+$'", "name: '#(a+)+$'"]
)
def test_no_rule_of_a_person_takes_longer_than_the_text_is_long(tmp_path: Path, condition: str) -> None:
    when = "mention" if condition.startswith("text") else "command"
    rule = RULE.partition("    match:")[0].replace("when: command\n    name: deploy", f"when: {when}\n    {condition}")
    (tmp_path / "team.yaml").write_text(rule)
    # In a process of its own: an expression of Python holds every thread while it is searched for.
    code = ASSESSES.format(folder=str(tmp_path), code="echo " + "a" * 60 + "!")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.split() == ["done"], done.stderr


ASSESSES = """
import resource
from pathlib import Path
from runner.model.request import Language, Request, Tool
from runner.risk import user_rules
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
found = user_rules.read(Path({folder!r}))
assert not found.problems, found.problems
found.assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, {code!r}))
print("done")
"""


def test_a_text_that_a_person_looks_for_is_found(tmp_path: Path) -> None:
    rule = RULE.partition("    match:")[0].replace(
        "when: command\n    name: deploy", "when: mention\n    text: '~(?i)prod-[0-9]+'"
    )
    (tmp_path / "team.yaml").write_text(rule)
    found = user_rules.read(tmp_path)
    assert found.problems == ()
    assert level(found, "echo PROD-17") is Level.CRITICAL
    assert level(found, "echo PROD") is Level.HIGH


def test_the_other_files_still_count(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("schema: 1\nrules: [")
    (tmp_path / "latin.yaml").write_bytes(b"schema: 1\n# \xff\n")
    (tmp_path / "team.yaml").write_text(RULE)
    found = user_rules.read(tmp_path)
    assert len(found.problems) == 2
    assert level(found, "deploy") is Level.CRITICAL


def test_a_mistake_means_that_everything_is_asked(tmp_path: Path) -> None:
    places = Places.under(tmp_path)
    (places.own_rules).mkdir(parents=True)
    configuration = Configuration(places, load(places, {}), lambda _isolation: "")
    info = Request("id", "agent", Tool.CODE_SANDBOX_INFO, 0.0)
    assert isinstance(configuration.policy.decide(info, configuration.dangers.assess(info)), Decision)

    (places.own_rules / "team.yaml").write_text("schema: 1\nrules: [")
    configuration.reload({})
    assert "rules/team.yaml" in " ".join(configuration.problems)
    assert isinstance(configuration.policy.decide(info, configuration.dangers.assess(info)), Ask)
