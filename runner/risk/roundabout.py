"""Distinguish code that only writes a plain action in a roundabout way from code that hides what it does.

Putting the name of a function or a command together is a danger because nobody can read what is called. Where all of
it was put together here as well, where everything that the program does is known by its kind, and where no other rule
finds more than what is noted, there is nothing that anybody would not see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.expression import expression
from runner.risk.model.value import HOLE
from runner.risk.outline_data import words
from runner.risk.verdict.computing import TEXT_COMMANDS, only_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.model.assessment import Finding
    from runner.model.request import Language
    from runner.risk.model.acts import Act, Trail
    from runner.risk.model.value import Value
    from runner.risk.rules.rule import DangerRule

HIDING = frozenset(["hidden.call", "hidden.command-name", "hidden.decoded-code", "hidden.decoded-command"])
"""Rules about what cannot be read, which does not hold where it could."""
REASON = "Says in a roundabout way what it runs. All of it could be read, and nothing else was found in it."
KINDS = words(
    "append command compare execute exists forever identity import module read run search start trap "
    "variable walk write"
)
"""Kinds of acts of which a rule would say what is dangerous about them, where all of their parts are known."""
PARTS = words("arguments code command line module name path program")
"""What must be known of each."""
COMMANDS = TEXT_COMMANDS | words(
    "base64 command dir du env file find git ls mkdir nice pwd stat timeout touch trap wait xxd"
)
"""What is known well enough to be run under a name that is put together."""
SAYS = words("echo printf true false : test [ seq expr")
"""Commands that do the same with whatever they get."""
INTERPRETED = expression(r"python3? (?:-m (?:pytest|unittest)(?![\w.])|-c )|node -e ")
"""Begins what an interpreter may be given: text that is followed here, or tests; a file may hold anything."""
MOST_WORDS = 40
"""Of a command, of which more are not looked at everywhere."""
MOST_ACTS = 400


def only_roundabout(
    language: Language | None, trail: Trail, judged: Sequence[tuple[DangerRule, Act]], other: Iterable[Finding]
) -> bool:
    """Return whether nothing is worse about the program than that names in it, or a text that it runs, are composed."""
    hiding = [act for rule, act in judged if rule.id in HIDING]
    if not hiding or len(trail.acts) > MOST_ACTS or any(finding.level > Level.LOW for finding in other):
        return False
    if any(rule.level > Level.LOW for rule, _ in judged if rule.id not in HIDING):
        return False
    return all(map(_is_plain, trail.acts)) and only_known(language, trail)


def _is_plain(act: Act) -> bool:
    if act.kind not in KINDS or HOLE in act.name or "unparsed" in act.fields:
        return False
    if len(act.get("line").text.split()) > MOST_WORDS:
        return False
    if act.kind == "command" and act.name in SAYS:
        return True
    if act.kind in ("command", "start") and act.name not in COMMANDS and not INTERPRETED.match(act.get("line").text):
        return False
    return all(_is_known(value) for part, value in act.fields.items() if part in PARTS)


def _is_known(value: Value) -> bool:
    """Return whether there is no such part, or all of it is known."""
    if value.items is not None:
        return all(one.exact is not None and HOLE not in one.exact for one in value.items)
    return value.exact is not None and HOLE not in value.exact if value.texts or value.labels else value.unknown
