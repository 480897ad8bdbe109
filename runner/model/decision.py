"""A decision: what became of the question, by whom or by which rule, why, and how quickly."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Decider(StrEnum):
    PERSON = "person"
    RULE = "rule"
    GRANT = "grant"
    """What a person chose to remember; `rule` has its name."""
    ENGINE = "engine"
    """Assent itself: expiry, closing, a ledger that cannot be written."""
    AGENT = "agent"
    """Only ever withdraws."""


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    by: Decider
    reason: str
    """For the agent and the history; plain text, at most 500 characters."""
    rule: str = ""
    after_seconds: float = 0.0
    """Seconds between the question being asked and the answer."""
    digest: str = ""
    """The digest that was decided on; only an approval with the request's own digest runs."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Policy's other answer: a person has to say."""

    window: float
    """Attention window in seconds (spec R1)."""
    rule: str = ""
    blocked: str = ""
    """Why Approve is not to be had (spec R7); empty when it is."""
