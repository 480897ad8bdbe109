"""A rule that a person composes from one request, put in front of those of `rules.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.policy import rulefile
from runner.policy.rules import Action
from runner.system import document
from runner.system.durable import replace_file
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from runner.model.assessment import Level
    from runner.system.places import Places

LONGEST_VALUE = 20_000
"""Characters of a value that a rule is about."""


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule in the making: it asks or denies, as one that allows is nothing to compose by clicks."""

    name: str
    action: Action
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    equal: tuple[tuple[str, str], ...] = ()
    """Parameters and the values that they must have."""
    level: Level | None = None

    def as_entry(self) -> dict[str, object]:
        """Return it as it stands in the file."""
        entry: dict[str, object] = {"name": self.name}
        if self.tools:
            entry["tools"] = list(self.tools)
        if self.agents:
            entry["agents"] = list(self.agents)
        if self.equal:
            entry["conditions"] = [{"param": name, "equals": value} for name, value in self.equal]
        entry["action"] = self.action.value
        if self.level is not None:
            entry["level"] = self.level.name
        return entry


def add_rule(places: Places, rule: NewRule) -> None:
    """Put the rule before all others of `rules.yaml`, so that it is asked first; everything else in it is unchanged.

    Raises KnownError where the file, or a rule in it, is wrong, where the rule would be, and where it cannot be
    written.
    """
    path = places.config / rulefile.FILE
    if problems := rulefile.read(places).problems:
        raise KnownError(problems[0], f"Correct {rulefile.FILE} first.")
    if rule.action is Action.ALLOW or any(len(value) > LONGEST_VALUE for _, value in rule.equal):
        raise KnownError("This is no rule that can be made from a request.", "Write it into the file.")
    try:
        old = read_file(path).decode("utf-8-sig") if path.exists() else ""
        new = with_rule(old, rule)
        _check(new, rule)
        replace_file(path, new)
    except OSError as error:
        raise KnownError(
            f"The rule could not be written to {path}: {error.strerror or error}.",
            "Free disk space or give yourself the right to write there, then add it again.",
        ) from error


def with_rule(old: str, rule: NewRule) -> str:
    """Return the text of a file of rules with one more in front. Raises KnownError for one that cannot be read."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    try:
        root, above = yaml.load(old), ""
    except YAMLError as error:
        raise KnownError(document.described(error, rulefile.FILE), document.REMEDY) from error
    if root is None:
        # The parser drops the comments of a file that has nothing else.
        root, above = CommentedMap(), "".join(line for line in old.splitlines(True) if line.lstrip().startswith("#"))
        root["schema"] = int(rulefile.SCHEMA)
    rules = root.get("rules")
    if not rules:
        root["rules"] = rules = CommentedSeq()
    rules.insert(0, rule.as_entry())
    out = StringIO()
    yaml.dump(root, out)
    return above + out.getvalue()


def _check(text: str, rule: NewRule) -> None:
    """Raise KnownError unless the text says what the rule says: it is read as the engine will read it."""
    read = rulefile.of_text(text)
    first = read.rules[0] if read.rules else None
    same = (
        first is not None
        and (first.name, first.action, first.tools, first.agents, first.level)
        == (rule.name, rule.action, rule.tools, rule.agents, rule.level)
        and tuple((one.parameter, one.equals) for one in first.conditions) == rule.equal
    )
    if read.problems or not same:
        raise KnownError(
            next(iter(read.problems), "The rule would not be read as it is meant."), "Write it into the file."
        )
