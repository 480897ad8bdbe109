"""What would happen to a request and why, step by step in the order in which things are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from runner.model.decision import Ask, Decision, Verdict
from runner.policy.grants import no_outline
from runner.policy.rules import Action

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.policy.decide import Policy
    from runner.policy.grantfile import Grants
    from runner.policy.grants import Outline
    from runner.policy.rules import Rule


class Modes(Protocol):
    """How the console stands towards agents."""

    def denies(self, request: Request) -> Decision | None: ...

    def trusts(self, request: Request, assessment: Assessment, ask: Ask) -> Decision | None: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was asked, and its answer; plain text."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Explanation:
    request: Request
    """What it is about, as it would be sent today."""
    assessment: Assessment
    """As the rules raised it."""
    verdict: Verdict | None
    """None where a person is asked."""
    steps: tuple[Step, ...]
    """In the order in which they are asked; the last one decides."""


def explain(
    modes: Modes,
    policy: Policy,
    grants: Grants,
    request: Request,
    assessed: Assessment,
    registered: float = 0.0,
    outline: Outline = no_outline,
) -> Explanation:
    """Runs the same questions as the engine and changes nothing; `registered` and `outline` as for `Grants.find`."""
    weighed = policy.weigh(request, assessed)
    if (denied := modes.denies(request)) is not None:
        return Explanation(request, weighed, denied.verdict, (Step("Mode", denied.reason),))
    settled = policy.decide(request, weighed)
    rule = policy.rule(request)
    steps = [Step("Level", f"{weighed.level.name}: {weighed.reasons[0]}"), Step("Rules", _about(rule, policy))]
    if not isinstance(settled, Ask):
        done = "Approved without asking" if settled.verdict is Verdict.APPROVED else "Denied"
        return Explanation(
            request, weighed, settled.verdict, (*steps, Step("Then", f"{done}, by rule {settled.rule}."))
        )
    closed = policy.closed_to_grants(request, weighed.level)
    grant = None if closed else grants.find(request, weighed, registered, outline)
    if grant is not None:
        steps.append(Step("Remembered", f"{grant.name} covers it; used {grant.used} of {grant.uses} times."))
        return Explanation(
            request, weighed, Verdict.APPROVED, (*steps, Step("Then", "Approved by what you remembered."))
        )
    steps.append(Step("Remembered", closed or "Nothing that you remembered covers it."))
    if (trusted := modes.trusts(request, weighed, settled)) is not None:
        return Explanation(request, weighed, trusted.verdict, (*steps, Step("Mode", trusted.reason)))
    asked = settled.blocked or "Approve or deny it then."
    steps.append(Step("Then", f"You are asked, with {settled.window:g} s to answer. {asked}"))
    return Explanation(request, weighed, None, tuple(steps))


def _about(rule: Rule | None, policy: Policy) -> str:
    unreadable = " Some rule or setting cannot be read, so everything is asked." if policy.asks_everything else ""
    if rule is None:
        return f"No rule of yours matches.{unreadable}"
    match rule.action:
        case Action.DENY:
            return f"Your rule {rule.name} denies it.{unreadable}"
        case Action.ALLOW:
            return f"Your rule {rule.name} allows it, up to MEDIUM.{unreadable}"
        case Action.ASK:
            return f"Your rule {rule.name} asks.{unreadable}"
