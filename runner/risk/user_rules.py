"""The person's own rules: every `*.yaml` of a folder beside the settings, added to those that come with Assent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from runner.model.request import Language, Request, Tool
from runner.risk.assess import Classifier
from runner.risk.model.bounds import excerpt
from runner.risk.rules.knowledge import Knowledge, RulesUnreadable, bundled, extended
from runner.risk.rules.rule import linear
from runner.risk.tools.tools import weigh

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.risk.rules.rule import DangerRule


@dataclass(frozen=True, slots=True)
class Own:
    assess: Callable[[Request], Assessment]
    """As `runner.risk.tools.tools.weigh`, with these rules as well."""
    problems: tuple[str, ...] = ()
    """What could not be read, a sentence each, with file and line. While there is one, every request is asked about."""


def read(folder: Path) -> Own:
    """Return the classifier with the rules of `folder`; that of Assent alone where there are none. Never raises.

    An invalid file is left out and reported. A rule whose own examples say otherwise is a mistake as well.
    Expressions are RE2's: whatever a person wrote, an agent's text must not make it take exponential time.
    """
    paths = sorted(folder.glob("*.yaml")) if folder.is_dir() else []
    if not paths:
        return Own(weigh)
    # Imported here: reading YAML is what takes longest of all, and most people have no rules of their own.
    from runner.risk.rules.written import read_rules

    base = bundled()
    taken: list[DangerRule] = []
    problems: list[str] = []
    for path in paths:
        try:
            rules = read_rules(path, base.targets, linear)
        except RulesUnreadable as error:
            problems.append(f"{folder.name}/{error.what}")
            continue
        problems += _mistaken(path, rules, {rule.id for rule in (*base.rules.all, *taken)}, base)
        taken += rules
    return Own(partial(weigh, classify=Classifier(extended(base, taken)).assess), tuple(problems))


def _mistaken(path: Path, rules: list[DangerRule], known: set[str], base: Knowledge) -> list[str]:
    """Return what is wrong with rules that can be read: names that are taken, examples that are not kept."""
    from runner.risk.rules.written import line_of

    problems: list[str] = []
    classifier = Classifier(extended(base, rules))
    for number, rule in enumerate(rules, 1):
        where = f"{path.parent.name}/{path.name}, line {line_of(path, rule.id, number)}: rule {rule.id}"
        if rule.id in known:
            problems.append(f"{where} has the name of another rule.")
        known.add(rule.id)
        for examples, wanted in ((rule.match, True), (rule.clean, False)):
            for language, codes in examples.items():
                if language not in list(Language):
                    problems.append(
                        f"{where} has examples in {excerpt(language, 40)}, which is none of {', '.join(Language)}."
                    )
                elif any(_finds(classifier, rule.id, Language(language), code) is not wanted for code in codes):
                    problems.append(f"{where} {'misses' if wanted else 'finds'} one of its own examples.")
    return problems


def _finds(classifier: Classifier, id: str, language: Language, code: str) -> bool:
    request = Request("example", "", Tool.CODE_EXECUTE, 0.0, language, code)
    return any(finding.id == id for finding in classifier.assess(request).findings)
