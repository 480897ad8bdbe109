"""Deeds that are done only on a certain machine, for a certain user or at a certain time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.value import Value, labels_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.risk.model.acts import Act, Place, Trail
    from runner.risk.trace.machine import Machine

WATCHED = expression(
    rf"{VALUE_OF}(?:CI|GITHUB_ACTIONS|GITLAB_CI|TRAVIS|CIRCLECI|TF_BUILD|JENKINS_\w+|BUILD_ID|PYTEST_CURRENT_TEST"
    r"|SSH_(?:CONNECTION|CLIENT|TTY)|SANDBOX\w*|VIRTUAL_ENV_PROMPT)"
)
"""Variables by which a program learns where it runs, or whether it is being tried out."""
DEEDS = frozenset(
    ("append", "chmod", "configure", "connect", "delete", "destroy", "discard", "execute", "fetch", "run", "schedule")
) | frozenset(("send", "start", "write"))
GRAVE = frozenset(("delete", "destroy", "discard", "send", "schedule"))
"""Deeds that count even where a variable, not the machine, decides."""
TEXTS = frozenset(("awk", "sed", "grep"))
"""Languages of texts: running those is no deed."""
SHELL_DEEDS = expression(
    r"(?:sudo )?(?:rm|rsync|scp|curl|wget|git (?:push|reset|clean)|kubectl|terraform|docker|systemctl|ssh|dd|mkfs|chmod"
    r"|chown|bash|sh|python3?|node|make|npm|\./\S+)(?: |$)"
)


def telling(labels: Iterable[str]) -> frozenset[str]:
    """Return those of the labels that say where, for whom or when a program runs."""
    kept = (Source.WHO, Source.CLOCK)
    return frozenset(label for label in labels if label in kept or WATCHED.fullmatch(label))


def difference(left: Value, right: Value, made: Value) -> Value:
    """Return `left - right`, which is `made`: time that has passed, such as the age of a file, is no time of day.

    What is left until a moment that is written down tells the time as well as the clock does.
    """
    labels = left.labels | right.labels
    if Source.CLOCK not in made.labels or Source.MOMENT in labels:
        return made
    other = right if Source.CLOCK in left.labels else left
    written = Source.CLOCK not in other.labels and (bool(other.texts) or bool(other.number))
    if written or other.name.endswith("timedelta()") or PART.search(left.name) or PART.search(right.name):
        return made
    copy = made.labelled((Source.FILE_TIME,))
    copy.labels -= {Source.CLOCK}
    return copy


PART = expression(
    r"\.(?:get(?:UTC)?(?:Hours|Minutes|Seconds|Day|Date|Month|FullYear)\(\)|(?:iso)?weekday\(\)"
    r"|hour|minute|second|day|month|year)$"
)
"""The name of an hour, a day or a year, which no difference turns into an age."""


def written_moment(
    machine: Machine, called: Value, args: list[Value], named: dict[str, Value], place: Place
) -> Value | None:
    """Return what a function gives that makes a date of what is written down; None where not all of that is known."""
    known = bool(args) and all(one.exact is not None or one.number is not None for one in args)
    return Value(name=f"{called.name}()", labels=frozenset({Source.MOMENT})) if known else None


def time_between(
    machine: Machine, called: Value, args: list[Value], named: dict[str, Value], place: Place
) -> Value | None:
    """`differenceInDays(one, other)`."""
    return difference(args[0], args[1], Value(labels=labels_of(args))) if len(args) > 1 else None


def note_condition(trail: Trail, on: frozenset[str], start: int, place: Place) -> None:
    """Note that what was done since the act number `start` depends on the condition at `place`, if it is a deed."""
    if not on:
        return
    grave_only = not on & {Source.WHO, Source.CLOCK}
    if any(_is_deed(act, grave_only) for act in trail.acts[start:]):
        trail.add("conditioned", "if", {"on": Value(labels=on)}, place)


def _is_deed(act: Act, grave_only: bool) -> bool:
    if act.kind == "command":
        return not grave_only and SHELL_DEEDS.match(act.get("line").text) is not None
    if act.kind == "execute" and act.get("language").text in TEXTS:
        return False
    return act.kind in (GRAVE if grave_only else DEEDS)
