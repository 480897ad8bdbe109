"""The knowledge of the classifier: rules, vocabularies and target kinds of `resources/rules`, read once."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from runner.model.errors import KnownError
from runner.model.expression import expression
from runner.risk.rules.rule import DangerRules
from runner.risk.rules.targets import Targets
from runner.risk.rules.vocabulary import Vocabulary
from runner.system.shipped import resources

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

    from runner.risk.rules.rule import DangerRule

TABLE = "table.json"
"""All rule files as one that is quickly read: `runner.risk.rules.written` makes it, and a test compares them."""


class RulesUnreadable(KnownError):
    """A rule file cannot be read; nothing may be approved by rule until it can."""


class Foreign(NamedTuple):
    """A pattern for a language without a grammar here, and the act that it stands for."""

    languages: frozenset[str]
    pattern: re.Pattern[str]
    act: str
    fields: tuple[tuple[str, str], ...]


class Knowledge(NamedTuple):
    """All that the classifier goes by."""

    python: Vocabulary
    javascript: Vocabulary
    targets: Targets
    foreign: tuple[Foreign, ...]
    rules: DangerRules


def made(data: Mapping[str, Any]) -> Knowledge:
    """Return the knowledge of all rule files. What is wrong with a rule comes out when it is first needed."""
    targets = Targets(data["targets"])
    return Knowledge(
        python=Vocabulary(data["python"]["calls"], data["python"]["attributes"]),
        javascript=Vocabulary(data["javascript"]["calls"], data["javascript"]["attributes"]),
        targets=targets,
        foreign=tuple(_foreign(entry) for entry in data["foreign"]),
        rules=DangerRules(data["rules"], targets),
    )


@cache
def table() -> Mapping[str, Any]:
    """Return the files that come with Assent as data. Raises RulesUnreadable."""
    try:
        data: Mapping[str, Any] = json.loads((resources() / "rules" / TABLE).read_bytes())
    except (OSError, ValueError) as error:
        raise RulesUnreadable(f"{TABLE} cannot be read: {error}.", "Install Assent again.") from None
    return data


@cache
def bundled() -> Knowledge:
    """Return what comes with Assent. Raises RulesUnreadable."""
    return made(table())


def extended(knowledge: Knowledge, rules: Sequence[DangerRule]) -> Knowledge:
    """`knowledge` with more rules."""
    return knowledge._replace(rules=DangerRules([*knowledge.rules.sources, *rules], knowledge.targets))


def _foreign(entry: Mapping[str, Any]) -> Foreign:
    fields = tuple((key, str(value)) for key, value in entry.items() if key not in ("languages", "pattern", "act"))
    languages = frozenset(str(entry["languages"]).split())
    return Foreign(languages, expression(entry["pattern"]), str(entry["act"]), fields)
