"""A decision: the verdict on a request, by whom or by which rule, why, and after how long."""

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
    """A grant; `rule` has its name."""
    ENGINE = "engine"
    """Assent itself: expiry, closing, a ledger that cannot be written."""
    AGENT = "agent"
    """The agent itself, which only withdraws."""


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
    accepted: str = ""
    """The kind of sandbox that a person accepted for this request although the minimum is stronger; empty for none."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The policy's answer that a person has to decide."""

    window: float
    """Attention window in seconds (spec R1)."""
    rule: str = ""
    blocked: str = ""
    """Why approval is not possible (spec R7); empty where it is."""
    why: str = ""
    """Why a person is asked although the agent is trusted; empty otherwise."""
    accepts: str = ""
    """The kind of sandbox that a person may accept for this one request although it is `blocked`; empty for none."""
