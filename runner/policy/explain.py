"""Explains what would happen to a request: asks the same deciders as its path does, without effect."""

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
    """One step of an explanation, in plain text."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Foresight:
    """What a decider would answer: a decision, a question for the next one, or nothing."""

    steps: tuple[Step, ...] = ()
    outcome: Decision | Ask | None = None


class Foreseeing(Protocol):
    """A decider that can tell in advance what it would answer."""

    def foresee(self, request: Request, assessment: Assessment, ask: Ask, outline: Outline) -> Foresight:
        """Return what `decide` would answer, without effect; `outline` is that of `Grants.find`."""
        ...


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would happen to a request, step by step."""

    request: Request
    """The request as it would be made today."""
    assessment: Assessment
    """The assessment, raised by the rules."""
    verdict: Verdict | None
    """None where a person is asked."""
    steps: tuple[Step, ...]
    """The steps in order; the last one decides."""


def explain(deciders: Iterable[Foreseeing], request: Request, assessment: Assessment, outline: Outline) -> Explanation:
    """Return what `deciders` would do, asked in order and without effect; `assessment` is that raised by the rules."""
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
    """Return what the person's rules and the levels of the settings would answer."""
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
    """Return the step in which a person is asked."""
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
