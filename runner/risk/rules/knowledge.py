"""The rules, vocabularies and target kinds of `resources/rules`, read once."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import yaml

from runner.model.errors import KnownError
from runner.risk.rules.expression import Expression
from runner.risk.rules.rule import Compile, DangerRule, DangerRules, compiled, trusted
from runner.risk.rules.targets import Targets
from runner.risk.rules.vocabulary import Vocabulary, entries
from runner.system.document import is_too_deep
from runner.system.places import resources
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# libyaml is ten times as fast; it is part of every wheel of PyYAML, but not of every build.
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class RulesUnreadable(KnownError):
    """A rule file cannot be read; nothing may be approved by rule until it can."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A pattern for a language without a grammar here, and the act that it stands for."""

    languages: frozenset[str]
    pattern: Expression
    act: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that the classifier goes by."""

    python: Vocabulary
    javascript: Vocabulary
    targets: Targets
    foreign: tuple[Foreign, ...]
    rules: DangerRules


def load(folder: Path) -> Knowledge:
    """Return the files of `folder`. Raises RulesUnreadable, naming file and line."""
    targets = Targets(_section(folder / "targets.yaml", "targets"))
    rules: list[DangerRule] = []
    for path in sorted((folder / "dangers").glob("*.yaml")):
        rules += read_rules(path, targets)
    return Knowledge(
        python=_vocabulary(folder / "python.yaml"),
        javascript=_vocabulary(folder / "javascript.yaml"),
        targets=targets,
        foreign=_foreign(folder / "foreign.yaml"),
        rules=DangerRules(rules, targets),
    )


@cache
def bundled() -> Knowledge:
    """Return what comes with Assent."""
    return load(resources() / "rules")


def extended(knowledge: Knowledge, rules: Sequence[DangerRule]) -> Knowledge:
    """`knowledge` with more rules."""
    return replace(knowledge, rules=DangerRules([*knowledge.rules.all, *rules], knowledge.targets))


def read(path: Path) -> dict[str, object]:
    """Return a rule file as data. Raises RulesUnreadable."""
    try:
        text = read_file(path).decode("utf-8")
        if is_too_deep(text):
            raise RulesUnreadable(f"{path.name} is nested too deeply.", "Correct the file.")
        data = yaml.load(text, Loader)
    except OSError as error:
        raise RulesUnreadable(
            f"{path.name} cannot be read: {error.strerror}.", "Check the file and its rights."
        ) from None
    except UnicodeDecodeError as error:
        raise RulesUnreadable(f"{path.name} is not UTF-8 at byte {error.start}.", "Save it as UTF-8.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise RulesUnreadable(f"{path.name} cannot be read{where}: {problem}.", "Correct the line.") from None
    if not isinstance(data, dict) or data.get("schema") != 1:
        raise RulesUnreadable(f"{path.name} has no `schema: 1`.", "Put it into the first line.")
    return data


def _section(path: Path, name: str) -> Mapping[str, Sequence[str]]:
    section = read(path).get(name)
    if not isinstance(section, dict):
        raise RulesUnreadable(f"{path.name} has no `{name}`.", "Add the section.")
    return section


def _vocabulary(path: Path) -> Vocabulary:
    data = read(path)
    attributes = data.get("attributes") or {}
    assert isinstance(attributes, dict)
    try:
        return Vocabulary(list(entries(data.get("calls"))), attributes)
    except ValueError as error:
        raise RulesUnreadable(f"{path.name}: {error}.", "Correct the entry.") from None


def _foreign(path: Path) -> tuple[Foreign, ...]:
    made = []
    for entry in read(path).get("patterns") or ():  # type: ignore[attr-defined]
        fields = tuple((k, str(v)) for k, v in entry.items() if k not in ("languages", "pattern", "act"))
        made.append(
            Foreign(frozenset(str(entry["languages"]).split()), Expression(entry["pattern"]), str(entry["act"]), fields)
        )
    return tuple(made)


def read_rules(path: Path, targets: Targets, compile: Compile = trusted) -> list[DangerRule]:
    """Return the rules of one file. Raises RulesUnreadable with the line of the rule that is wrong."""
    data = read(path)
    rules = data.get("rules")
    if not isinstance(rules, list):
        raise RulesUnreadable(f"{path.name} has no list `rules`.", "Add it.")
    made = []
    for number, rule in enumerate(rules, 1):
        try:
            made.append(compiled(rule, targets, compile))
        except (ValueError, TypeError, re.error) as error:
            name = rule.get("id", f"number {number}") if isinstance(rule, dict) else f"number {number}"
            line = line_of(path, str(name), number)
            raise RulesUnreadable(
                f"{path.name}, line {line}: rule {name} is wrong: {error}.", "Correct the rule."
            ) from None
    return made


def line_of(path: Path, name: str, number: int) -> int:
    """Return the line on which a rule starts."""
    count = 0
    for at, line in enumerate(read_file(path).decode("utf-8").split("\n"), 1):
        if re.match(r"\s*- ", line) and (indent := len(line) - len(line.lstrip())) <= 2 and indent >= 0:
            count += 1
            if re.match(rf"\s*- id:\s*['\"]?{re.escape(name)}['\"]?\s*$", line) or count == number:
                return at
    return 1
