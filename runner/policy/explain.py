"""What would happen to a request and why: the same list of deciders that its path goes over, asked without effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from runner.model.decision import Ask, Decision, Verdict
from runner.policy.rules import Action

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.policy.decide import Policy
    from runner.policy.grants import Outline
    from runner.policy.rules import Rule


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was asked, and its answer; plain text."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Foresight:
    """What a decider would answer: a decision, a question for whoever comes next, or nothing."""

    steps: tuple[Step, ...] = ()
    outcome: Decision | Ask | None = None


class Foreseeing(Protocol):
    """A decider that can say what it would answer."""

    def foresee(self, request: Request, assessment: Assessment, ask: Ask, outline: Outline) -> Foresight:
        """`outline` says what is the same in programs with other values, as for `Grants.find`."""
        ...


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


def explain(deciders: Iterable[Foreseeing], request: Request, assessment: Assessment, outline: Outline) -> Explanation:
    """Ask `deciders` in order what they would do; changes nothing. `assessment` is as the rules raised it."""
    steps: list[Step] = []
    ask = Ask(0.0)
    for decider in deciders:
        foreseen = decider.foresee(request, assessment, ask, outline)
        steps += foreseen.steps
        match foreseen.outcome:
            case Decision(verdict=verdict):
                return Explanation(request, assessment, verdict, tuple(steps))
            case Ask() as question:
                ask = question
            case None:
                pass
    return Explanation(request, assessment, None, tuple(steps))


def foresee_rules(policy: Policy, request: Request, assessment: Assessment) -> Foresight:
    """What the person's rules and the levels of the settings make of a request."""
    settled, rule = policy.decide(request, assessment), policy.rule(request)
    steps = (
        Step("Level", f"{assessment.level.name}: {assessment.reasons[0]}"),
        Step("Rules", _about(rule, policy)),
    )
    if isinstance(settled, Ask):
        return Foresight(steps, settled)
    done = "Approved without asking" if settled.verdict is Verdict.APPROVED else "Denied"
    return Foresight((*steps, Step("Then", f"{done}, by rule {settled.rule}.")), settled)


def foresee_question(ask: Ask) -> Foresight:
    """A person is asked."""
    answer = ask.blocked or "Approve or deny it then."
    return Foresight((Step("Then", f"You are asked, with {ask.window:g} s to answer. {answer}"),))


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
