"""The claim of a title against what the code does: whether one contradicts the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.verdict import Verb

if TYPE_CHECKING:
    from runner.model.verdict import RiskVerdict

READING = frozenset(
    [
        "list",
        "show",
        "read",
        "print",
        "count",
        "check",
        "inspect",
        "look",
        "view",
        "report",
        "summarize",
        "summarise",
        "analyze",
        "analyse",
        "plot",
        "compute",
        "calculate",
        "compare",
        "find",
        "search",
        "preview",
        "explain",
        "describe",
        "validate",
        "verify",
        "lint",
        "measure",
        "display",
        "get",
        "fetch",
        "query",
        "explore",
        "review",
        "audit",
        "estimate",
    ]
)
"""Words that a title begins with that speaks of looking alone."""
DEEDS = {
    Verb.DELETES: "deletes",
    Verb.DISCARDS: "throws away",
    Verb.CHANGES_DATA: "",
    Verb.SENDS: "sends",
    Verb.RUNS_ON_START: "writes",
    Verb.STOPS: "stops",
    Verb.REWRITES: "rewrites",
}
"""What nobody expects behind such a word."""
OWN = "its own temporary files"
LONGEST_WORD = 20


def contradiction(title: str, verdict: RiskVerdict) -> str:
    """Return what the code does that its title denies, in words; '' where it denies nothing."""
    first = title.strip().partition(" ")[0].lower().rstrip(":,.")
    if first not in READING and "read-only" not in title.lower() and "dry run" not in title.lower():
        return ""
    for act in verdict.acts:
        verb = DEEDS.get(act.verb)
        if verb is not None and act.target != OWN:
            does = f"{verb} {act.target}".strip()
            return f"the title speaks of looking alone, but it {does}"
    return ""
