"""Deeds that are done only on a certain machine, for a certain user or at a certain time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.risk.model.acts import Act, Place, Trail

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


def note_condition(trail: Trail, on: frozenset[str], start: int, place: Place) -> None:
    """Note that what was done since the act number `start` depends on the condition at `place`, if it is a deed."""
    if not on:
        return
    grave_only = not on & {Source.WHO, Source.CLOCK}
    if any(_is_deed(act, grave_only) for act in trail.acts[start:]):
        trail.add("conditioned", "if", {"on": Value(labels=on)}, place)


def _is_deed(act: Act, grave_only: bool) -> bool:
    if act.kind == "command":
        return not grave_only and SHELL_DEEDS.match(act.get("line").text[:200]) is not None
    if act.kind == "execute" and act.get("language").text in TEXTS:
        return False
    return act.kind in (GRAVE if grave_only else DEEDS)
