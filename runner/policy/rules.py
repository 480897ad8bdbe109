"""The person's own rules: which requests are asked about, denied or allowed, and at which level (spec R5).

A rule names tools and agents, sets conditions on parameters, and says what follows. The first rule that matches
applies; one that allows is overruled by any that denies. Rules raise a level and never lower it (spec R4).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.model.network import Destination, UnusableHost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.assessment import Level
    from runner.system.pattern import Pattern

TRUE = ("true", "yes", "on")
FALSE = ("false", "no", "off")


class Action(StrEnum):
    ASK = "ask"
    DENY = "deny"
    ALLOW = "allow"
    """Approve without asking; only up to MEDIUM, whatever the rule says."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one parameter: equal to a value, or matched by a pattern."""

    parameter: str
    equals: str | None = None
    """As written in the file; numbers, yes or no and hosts are compared as such."""
    matches: Pattern | None = None

    def holds(self, parameters: Mapping[str, object]) -> bool:
        """Return whether the condition holds; False for a parameter that the request does not have."""
        if self.parameter not in parameters:
            return False
        value = parameters[self.parameter]
        return any(self._fits(one) for one in value) if isinstance(value, list) else self._fits(value)

    def _fits(self, value: object) -> bool:
        if self.matches is not None:
            return self.matches.found_in(_text(value))
        return self.equals is not None and _equal(self.equals, value)


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    action: Action = Action.ASK
    tools: tuple[str, ...] = ()
    """None named means every tool."""
    agents: tuple[str, ...] = ()
    """None named means every agent."""
    conditions: tuple[Condition, ...] = ()
    """All of them have to hold."""
    level: Level | None = None
    """The level is raised to this, never lowered."""
    window: float | None = None
    """Seconds to answer in."""
    description: str = ""

    def matches(self, agent: str, tool: str, parameters: Mapping[str, object]) -> bool:
        return (
            (not self.tools or tool in self.tools)
            and (not self.agents or agent in self.agents)
            and all(condition.holds(parameters) for condition in self.conditions)
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules in their order."""

    rules: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = ()
    """Errors, one sentence each. While there is one, every request is asked about."""

    def match(self, agent: str, tool: str, parameters: Mapping[str, object]) -> Rule | None:
        """Return the rule that applies to this request, None where none does."""
        matching = (rule for rule in self.rules if rule.matches(agent, tool, parameters))
        first = next(matching, None)
        if first is None or first.action is not Action.ALLOW:
            return first
        return next((rule for rule in matching if rule.action is Action.DENY), first)

    def naming(self, agent: str) -> tuple[str, ...]:
        """Return the names of the rules that are about `agent` by its name."""
        named = {"agent": agent}
        return tuple(
            rule.name
            for rule in self.rules
            if agent in rule.agents or any(one.parameter == "agent" and one.holds(named) for one in rule.conditions)
        )


def _equal(written: str, value: object) -> bool:
    match value:
        case Destination():
            return _names(written, value)
        case bool():
            return written.lower() in (TRUE if value else FALSE)
        case int() | float():
            try:
                return float(written) == float(value)
            except ValueError:
                return False
        case _:
            return written == str(value)


def _names(written: str, value: Destination) -> bool:
    """Return whether a rule's host is what a request may reach: at any port where the rule names none.

    A wildcard in the request reaches every name below it, so a rule about one of these names is about the request.
    """
    try:
        meant = Destination.parse(written)
    except UnusableHost:
        return False
    port = meant.port if written.strip().endswith(f":{meant.port}") else value.port
    meant = Destination(meant.host, port)
    return meant == value or value.fits(meant.host, port) or meant.fits(value.host, value.port)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
