"""Distinguish code that only writes a plain action in a roundabout way from code that hides what it does.

Putting the name of a function or a command together, or writing letters as numbers, is a danger because nobody can read
what is meant. Where all of it was put together here as well, where everything that the program does is known by its
kind, and where no other rule finds more than what is noted, there is nothing that anybody would not see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.expression import expression
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE
from runner.risk.verdict.computing import TEXT_COMMANDS, only_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.model.assessment import Finding
    from runner.risk.model.acts import Act, Trail
    from runner.risk.model.value import Value
    from runner.risk.rules.rule import DangerRule

HIDING = frozenset(
    [
        "hidden.call",
        "hidden.command-name",
        "hidden.crumbs",
        "hidden.decoded-code",
        "hidden.decoded-command",
        "hidden.escaped",
    ]
)
"""Rules about what cannot be read, which does not hold where it could."""
REASON = "Says in a roundabout way what it runs. All of it could be read, and nothing else was found in it."
KINDS = words(
    "append command compare crumbs delete escaped execute exists forever identity import make module read run search "
    "start store trap variable walk write"
)
"""Kinds of acts of which a rule would say what is dangerous about them, where all of their parts are known."""
PARTS = words("arguments code command line module name path program")
"""What must be known of each."""
COMMANDS = TEXT_COMMANDS | words(
    "alias base64 command dir du env file find git ls mkdir mapfile nice pwd read readarray rm rmdir shopt stat "
    "timeout touch trap wait xxd"
)
"""What is known well enough to be run under a name that is put together."""
SAYS = words("echo printf true false : test [ seq expr")
"""Commands that do the same with whatever they get."""
INTERPRETED = expression(
    r"python3? (?:-m (?:pytest|unittest)(?![\w.])|-c )|node -e |pytest(?= |\Z)"
    r"|(?:npm|pnpm|yarn) (?:run )?(?:test|build|lint)(?= |\Z)|make(?= |\Z)"
    r"|(?:go|cargo) (?:build|test|vet|check)(?= |\Z)"
)
"""Begins what may be run under a hidden name as well: text that is followed here, or the project's own tests and build.

What interpreters are given besides may hold anything.
"""
OWN_PLACES = expression(r"(?:globals\(\)\[|os\.environ\[|process\.env[.\[])\w+\]?")
"""Where programs keep texts of their own; rules know the names that mean something there."""
MADE_AGAIN = expression(
    r"(?:\./)?+(?:build|dist|out|target|coverage|node_modules|__pycache__|\.?cache)(?:/(?!\.\.(?:/|\Z))[\w.-]++)*+/?+"
)
"""Paths of what a build makes again. A name that hides which other file is deleted is a danger."""
OF_A_FILE = frozenset(["csv.DictReader", "csv.reader", "json.load"])
"""Reads what `open` gave, whose path is looked at there."""
CALLERS = frozenset(
    [
        ".catch",
        ".finally",
        ".then",
        "Promise",
        "asyncio.run",
        "events",
        "events().emit",
        "events().on",
        "events().once",
        "process.nextTick",
        "setImmediate",
    ]
)
"""Call what they are given, which is followed where it is given."""
PARAMETER = expression(r"~\w+")
"""The name of a function's parameter: what calls it has been found to be known."""
MOST_WORDS = 40
"""Of a command, of which more are not looked at everywhere."""
MOST_ACTS = 400


def only_roundabout(
    language: Language | None, trail: Trail, judged: Sequence[tuple[DangerRule, Act]], other: Iterable[Finding]
) -> bool:
    """Return whether nothing is worse about the program than that what is in it was composed or written as numbers."""
    hiding = [act for rule, act in judged if rule.id in HIDING]
    if not hiding or len(trail.acts) > MOST_ACTS or any(finding.level > Level.LOW for finding in other):
        return False
    if any(rule.level > Level.LOW for rule, _ in judged if rule.id not in HIDING):
        return False
    return all(map(_is_plain, trail.acts)) and _calls_only_known(language, trail)


def _calls_only_known(language: Language | None, trail: Trail) -> bool:
    """As `only_known`, but for what calls a function that it is given; and a script of a shell may hand on texts."""
    called = {name for name in trail.called if name not in CALLERS and not PARAMETER.fullmatch(name)}
    if language is not Language.SHELL or not called:
        return only_known(language, trail, called)
    return only_known(Language.PYTHON, trail, called) or only_known(Language.JAVASCRIPT, trail, called)


def _is_plain(act: Act) -> bool:
    if act.kind not in KINDS or HOLE in act.name or "unparsed" in act.fields:
        return False
    if act.kind == "store":
        return OWN_PLACES.fullmatch(act.name) is not None
    if act.kind == "read" and act.name in OF_A_FILE:
        return True
    if act.kind == "delete":
        return all(MADE_AGAIN.fullmatch(one) for one in act.get("path").texts or ("",))
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
