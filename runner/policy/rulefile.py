"""Reads rules from `rules.yaml` and from the settings file, in the form that is given (spec E3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.network import Destination, UnusableHost
from runner.model.request import Request, Tool
from runner.policy.decide import parameters
from runner.policy.rules import Action, Condition, Rule, Rules
from runner.system import document
from runner.system.document import Node, Unreadable
from runner.system.pattern import Pattern

if TYPE_CHECKING:
    from runner.system.places import Places

FILE = "rules.yaml"
LONGEST_WINDOW = 86_400.0
KNOWN = (
    *("name", "tools", "agents", "conditions", "description"),
    *("action", "require_approval", "level", "risk", "window", "timeout"),
)
"""`risk`, `timeout` and `require_approval` are the given names for level, window and action (spec E3)."""

SCHEMA = "1"
TOOLS = frozenset({*Tool, "code_install_package", "code_result", "approve"})
"""Tools that a rule may name (spec I2). A rule with any other name would silently never match."""

PARAMETERS = frozenset(parameters(Request("", "", Tool.CODE_EXECUTE, 0.0)))
"""Parameters that a condition may name. A condition on any other would silently never hold."""
HOSTS = ("domain", "allowed_domains")
"""Parameters whose values are hosts."""


class _Wrong(Exception):
    """A rule is invalid: line and reason."""

    def __init__(self, node: Node, what: str) -> None:
        super().__init__(what)
        self.line = node.line
        self.what = what


def read(places: Places, in_settings: Node | None = None) -> Rules:
    """Return the rules of `rules.yaml` beside the settings file, then those of the settings file. Never raises.

    An invalid rule is left out and reported in `Rules.problems` with its line; then every request is asked about.
    """
    rules: list[Rule] = []
    problems: list[str] = []
    try:
        root = document.read(places.config / FILE)
    except Unreadable as error:
        root, problems = None, [error.what]
    if root is not None:
        _take_file(root, rules, problems)
    _take(in_settings, places.settings.name, rules, problems)
    return Rules(tuple(rules), tuple(problems))


def of_text(text: str) -> Rules:
    """Return the rules of a text as it would stand in `rules.yaml`. Raises KnownError for one that cannot be read."""
    rules: list[Rule] = []
    problems: list[str] = []
    _take_file(document.parse(text, FILE), rules, problems)
    return Rules(tuple(rules), tuple(problems))


def _take_file(root: Node, rules: list[Rule], problems: list[str]) -> None:
    assert isinstance(root.value, Mapping)
    strangers = [key for key in root.value if key not in ("rules", "schema")]
    problems += [f"{FILE}, line {root.value[key].line}: {key[:80]} is not known here." for key in strangers]
    problems += [f"{FILE}, line {line}: {key[:80]} is there twice." for key, line in root.repeated]
    schema = root.value.get("schema")
    if schema is not None and schema.value != SCHEMA:
        problems.append(f"{FILE}, line {schema.line}: this Assent reads schema {SCHEMA}.")
    _take(root.value.get("rules"), FILE, rules, problems)


def _take(node: Node | None, file: str, rules: list[Rule], problems: list[str]) -> None:
    if node is None or node.value is None:
        return
    if not isinstance(node.value, tuple):
        problems.append(f"{file}, line {node.line}: rules must be a list.")
        return
    for item in node.value:
        try:
            rules.append(_rule(item))
        except _Wrong as wrong:
            problems.append(f"{file}, line {wrong.line}: {wrong.what}.")


def _rule(node: Node) -> Rule:
    if not isinstance(node.value, Mapping):
        raise _Wrong(node, "a rule needs names with values")
    given = node.value
    for name, line in node.repeated:
        raise _Wrong(Node(None, line), f"{name[:80]} is there twice")
    for name in given:
        if name not in KNOWN:
            raise _Wrong(given[name], f"{name[:80]} is no part of a rule; known are {', '.join(KNOWN)}")
    return Rule(
        name=_word(given, "name") or f"at line {node.line}",
        action=_action(given),
        tools=_tools(given),
        agents=_words(given, "agents"),
        conditions=_conditions(given),
        level=_level(given),
        window=_window(given),
        description=_word(given, "description"),
    )


def _action(given: Mapping[str, Node]) -> Action:
    word = _word(given, "action").lower()
    asks = _word(given, "require_approval").lower()
    if asks and asks not in ("true", "false", "yes", "no"):
        raise _Wrong(given["require_approval"], "require_approval must be true or false")
    if not word:
        return Action.ALLOW if asks in ("false", "no") else Action.ASK
    if word not in list(Action):
        raise _Wrong(given["action"], f"action {word[:40]!r} is not one of {', '.join(Action)}")
    return Action(word)


def _level(given: Mapping[str, Node]) -> Level | None:
    for name in ("level", "risk"):
        if word := _word(given, name):
            try:
                return Level.named(word)
            except KeyError:
                known = ", ".join(level.name for level in Level)
                raise _Wrong(given[name], f"{name} {word[:40]!r} is not one of {known}") from None
    return None


def _window(given: Mapping[str, Node]) -> float | None:
    for name in ("window", "timeout"):
        if word := _word(given, name):
            try:
                seconds = float(word)
            except ValueError:
                seconds = math.nan
            if not 0 < seconds <= LONGEST_WINDOW:
                raise _Wrong(given[name], f"{name} must be seconds above 0 and at most {LONGEST_WINDOW:,.0f}")
            return seconds
    return None


def _tools(given: Mapping[str, Node]) -> tuple[str, ...]:
    tools = _words(given, "tools")
    for tool in tools:
        if tool not in TOOLS:
            raise _Wrong(given["tools"], f"no tool is called {tool[:40]!r}; known are {', '.join(sorted(TOOLS))}")
    return tools


def _conditions(given: Mapping[str, Node]) -> tuple[Condition, ...]:
    node = given.get("conditions")
    if node is None or node.value is None:
        return ()
    if not isinstance(node.value, tuple):
        raise _Wrong(node, "conditions must be a list")
    return tuple(_condition(item) for item in node.value)


def _condition(node: Node) -> Condition:
    if not isinstance(node.value, Mapping):
        raise _Wrong(node, "a condition needs names with values")
    given = node.value
    for name, line in node.repeated:
        raise _Wrong(Node(None, line), f"{name[:80]} is there twice")
    unknown = [name for name in given if name not in ("param", "equals", "matches")]
    if unknown or "param" not in given or ("equals" in given) == ("matches" in given):
        raise _Wrong(node, "a condition needs param and either equals or matches, nothing else")
    if (name := _word(given, "param")) not in PARAMETERS:
        raise _Wrong(given["param"], f"there is no parameter {name[:40]!r}; known are {', '.join(sorted(PARAMETERS))}")
    if "equals" in given:
        _check_host(given)
        return Condition(_word(given, "param"), equals=_word(given, "equals"))
    try:
        return Condition(_word(given, "param"), matches=Pattern(_word(given, "matches")))
    except ValueError as error:
        raise _Wrong(given["matches"], str(error)) from error


def _check_host(given: Mapping[str, Node]) -> None:
    """Raise _Wrong where a condition on hosts names none: it would silently never hold."""
    if _word(given, "param") in HOSTS:
        try:
            Destination.parse(_word(given, "equals"))
        except UnusableHost as reason:
            raise _Wrong(given["equals"], f"equals names no host: {reason}") from None


def _word(given: Mapping[str, Node], name: str) -> str:
    node = given.get(name)
    if node is None or node.value is None:
        return ""
    if not isinstance(node.value, str):
        raise _Wrong(node, f"{name} must be a single value")
    return node.value


def _words(given: Mapping[str, Node], name: str) -> tuple[str, ...]:
    node = given.get(name)
    if node is None or node.value is None:
        return ()
    items = node.value if isinstance(node.value, tuple) else (node,)
    for item in items:
        if not isinstance(item.value, str) or not item.value:
            raise _Wrong(item, f"{name} must be a list of words")
    return tuple(str(item.value) for item in items)
