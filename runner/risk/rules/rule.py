"""Rules over acts: what, done to what, from where, makes a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from runner.model.assessment import Capability, Level
from runner.model.expression import expression
from runner.risk.model.acts import KINDS as ACTS
from runner.risk.model.acts import Act, Trail
from runner.risk.model.value import UNKNOWN, Value, labels_of, texts_of
from runner.risk.rules.targets import PLACES
from runner.risk.rules.vocabulary import quoted
from runner.system.pattern import Pattern

if TYPE_CHECKING:
    from runner.risk.rules.targets import Targets

MOST_FOR_A_RULE = 20
"""Findings that one rule makes in one request."""

REFERENCE = expression(r"T\d{4}(\.\d{3})?|CWE-\d{1,5}")

KEYS = frozenset(
    [
        "id",
        "when",
        "level",
        "capability",
        "reason",
        "reference",
        "match",
        "clean",
        "also",
        "without",
        "where",
        "languages",
    ]
)

Check = Callable[[Act], bool]
Search = Callable[[str], bool]
"""Whether an expression is found in a text."""
Compile = Callable[[str], Search]


def trusted(pattern: str) -> Search:
    """Return the search for an expression of the rules that come with Assent."""
    found = expression(pattern)
    return lambda text: found.search(text) is not None


def linear(pattern: str) -> Search:
    """Compile an expression that a person wrote, to be found in linear time. Raises ValueError."""
    return Pattern(pattern).found_in


class Clause(NamedTuple):
    """Kinds of act and what must hold of one of them."""

    kinds: tuple[str, ...]
    names: frozenset[str] | None
    """Exact names of which one is needed; None when any will do."""
    checks: tuple[Check, ...]

    def holds(self, act: Act) -> bool:
        if self.names is not None and act.name not in self.names:
            return False
        for check in self.checks:  # noqa: SIM110 - a third of the time of `all`, and most of judging
            if not check(act):
                return False
        return True


class DangerRule(NamedTuple):
    id: str
    condition: Clause
    level: Level
    capability: Capability
    reason: str
    reference: str
    also: tuple[Clause, ...] = ()
    without: tuple[Clause, ...] = ()
    match: Mapping[str, Sequence[str]] = {}
    clean: Mapping[str, Sequence[str]] = {}
    mention: str = ""
    """The expression of a rule about texts that are enough by themselves."""
    compile: Compile = trusted
    """How its expressions are compiled."""


def compiled(data: object, targets: Targets, compile: Compile = trusted) -> DangerRule:
    """Return a rule from its YAML. Raises ValueError or re.error for what is wrong with it."""
    if not isinstance(data, Mapping):
        raise ValueError("it is not a mapping")
    for needed in ("id", "when", "capability", "reason"):
        if not isinstance(data.get(needed), str):
            raise ValueError(f"it has no `{needed}`, or it is not a text")
    reference = str(data.get("reference", ""))
    if reference and REFERENCE.fullmatch(reference) is None:
        raise ValueError(f"`{reference:.40}` is neither an ATT&CK technique (T1059.004) nor a weakness (CWE-78)")
    return DangerRule(
        id=data["id"],
        condition=_condition(data, targets, compile),
        level=_level(str(data.get("level", "critical"))),
        capability=_capability(data["capability"]),
        reason=data["reason"],
        reference=reference,
        also=tuple(_condition(part, targets, compile) for part in _list(data.get("also"))),
        without=tuple(_condition(part, targets, compile) for part in _list(data.get("without"))),
        match=_examples(data.get("match")),
        clean=_examples(data.get("clean")),
        mention=str(data["text"])[1:] if data["when"] == "mention" else "",
        compile=compile,
    )


def _level(word: str) -> Level:
    try:
        return Level.named(word)
    except KeyError:
        raise ValueError(f"`{word:.40}` is no level; levels are {', '.join(one.name for one in Level)}") from None


def _capability(word: str) -> Capability:
    try:
        return Capability(word)
    except ValueError:
        raise ValueError(f"`{word:.40}` is no capability; known are {', '.join(Capability)}") from None


def _list(data: Any) -> list[Mapping[str, object]]:
    if data is None:
        return []
    parts: list[Mapping[str, object]] = data if isinstance(data, list) else [data]
    for part in parts:
        if not isinstance(part, Mapping):
            raise ValueError("`also` and `without` hold conditions")
    return parts


def _examples(data: object) -> dict[str, list[str]]:
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise ValueError("examples stand under their language")
    return {str(language): [codes] if isinstance(codes, str) else list(codes) for language, codes in data.items()}


def _condition(data: Mapping[str, object], targets: Targets, compile: Compile) -> Clause:
    kinds = tuple(str(data.get("when", "")).split())
    if not kinds or (strange := next((kind for kind in kinds if kind not in ACTS), None)) is not None:
        raise ValueError(f"`{strange:.40}` is nothing that code does" if kinds else "a condition has no `when`")
    names: frozenset[str] | None = None
    checks: list[Check] = []
    for key, wanted in data.items():
        if not isinstance(key, str):
            raise ValueError(f"`{key}` is no text; put it in quotation marks")
        if key in KEYS:
            continue
        tokens = [wanted] if isinstance(wanted, str) and wanted.startswith(("~", "!~", "@~")) else _tokens(wanted)
        for token in tokens:
            if not token.startswith(("~", "!~", "@~")) and (word := quoted(token)):
                raise ValueError(f"`{word:.40}` has quotation marks of its own; quote the whole text")
        if key == "name" and all(re.fullmatch(r"[\w.+:-]+", token) for token in tokens):
            names = frozenset(tokens)
        else:
            checks.append(_check(key, tokens, targets, compile))
    return Clause(kinds, names, tuple(checks))


def _tokens(wanted: object) -> list[str]:
    if isinstance(wanted, bool):
        return ["yes" if wanted else "!yes"]
    if isinstance(wanted, list):
        return [str(token) for token in wanted]
    return str(wanted).split()


Test = Callable[[Value], bool]


def _check(key: str, tokens: Sequence[str], targets: Targets, compile: Compile) -> Check:
    wanted = [_test(token, targets, compile) for token in tokens if not token.startswith("!")]
    unwanted = [_test(token[1:], targets, compile) for token in tokens if token.startswith("!")]

    field = _field(key)
    if len(wanted) == 1 and not unwanted:
        only = wanted[0]
        return lambda act: only(field(act))
    if len(unwanted) == 1 and not wanted:
        never = unwanted[0]
        return lambda act: not never(field(act))

    def check(act: Act) -> bool:
        value = field(act)
        return (not wanted or any(test(value) for test in wanted)) and not any(test(value) for test in unwanted)

    return check


def _field(key: str) -> Callable[[Act], Value]:
    """Return the function that gives the part of an act which a rule calls `key`."""
    # A part may be looked at twice: `path` and `path-also` must both hold.
    key = key.removesuffix("-also")
    match key:
        case "name":
            return lambda act: Value((act.name,))
        case "called":
            return lambda act: Value((act.name,), labels=act.labels)
        case "language":
            return lambda act: act.fields.get("language") or Value((act.language,))
        case "outer":
            return lambda act: Value((act.language or "program",))
        case _:
            return lambda act: act.fields.get(key, UNKNOWN)


WORDS: dict[str, Test] = {
    "known": lambda value: value.exact is not None or value.number is not None,
    "unknown": lambda value: value.exact is None and value.number is None,
    "given": lambda value: not value.unknown or bool(value.labels),
    "worded": lambda value: any(character.isalnum() for character in value.text),
    "unworded": lambda value: not any(character.isalnum() for character in value.text),
    "some": lambda value: not value.unknown and value.fields != {} and value.items != [],
    "yes": lambda value: value.text == "yes" or value.name == "True",
}
"""Tests that are a word alone."""


def _test(token: str, targets: Targets, compile: Compile) -> Test:
    if token.startswith("@"):
        return _label_test(token[1:], compile)
    if token.startswith("#"):
        named = compile(token[1:])
        return lambda value: named(value.name)
    if token.startswith("~"):
        pattern = compile(token[1:])
        return lambda value: any(pattern(known) for known in _texts(value))
    if token.startswith("="):
        return lambda value: token[1:] in value.texts
    if token in WORDS:
        return WORDS[token]
    if token in targets.names or token in PLACES:
        return lambda value: any(token in targets.of(known) for known in _texts(value, 1))
    raise ValueError(f"`{token}` is neither a kind of target nor a test")


def _texts(value: Value, depth: int = 3) -> Sequence[str]:
    """Return every text in the value; most values are one text, or nothing that is known."""
    plain = value.items is None and value.fields is None and (value.texts or value.number is None)
    return value.texts if plain else texts_of(value, depth)


def _labels(value: Value) -> frozenset[str]:
    return value.labels if value.items is None and value.fields is None else labels_of((value,))


def _label_test(label: str, compile: Compile) -> Test:
    if label.startswith("~"):
        names = compile(label[1:])
        return lambda value: any(names(known) for known in _labels(value))
    if label.endswith("*"):
        return lambda value: any(known.startswith(label[:-1]) for known in _labels(value))
    return lambda value: label in _labels(value)


class _OfKind:
    """The rules about one kind of act."""

    def __init__(self, rules: Sequence[DangerRule]) -> None:
        self.always = [rule for rule in rules if rule.condition.names is None]
        self.by_name: dict[str, list[DangerRule]] = {}
        for rule in rules:
            for name in rule.condition.names or ():
                self.by_name.setdefault(name, []).append(rule)


class DangerRules:
    """All rules, by the kind of act they look at; those of a table are compiled when the first such act is judged."""

    def __init__(self, rules: Sequence[DangerRule | Mapping[str, object]], targets: Targets) -> None:
        self.sources = list(rules)
        self.targets = targets
        self._places: dict[str, list[int]] = {}
        self._ready: dict[str, _OfKind] = {}
        for at, rule in enumerate(self.sources):
            for kind in rule.condition.kinds if isinstance(rule, DangerRule) else str(rule["when"]).split():
                self._places.setdefault(kind, []).append(at)

    @property
    def all(self) -> tuple[DangerRule, ...]:
        """Raises ValueError for a rule that is wrong."""
        return tuple(map(self._made, range(len(self.sources))))

    @cached_property
    def mentions(self) -> Search | None:
        """What to look for in texts."""
        return _mentions([self._made(at) for at in self._places.get("mention", ())])

    def _made(self, at: int) -> DangerRule:
        rule = self.sources[at]
        if not isinstance(rule, DangerRule):
            rule = self.sources[at] = compiled(rule, self.targets)
        return rule

    def _of(self, kind: str) -> _OfKind:
        if (found := self._ready.get(kind)) is None:
            found = self._ready[kind] = _OfKind([self._made(at) for at in self._places.get(kind, ())])
        return found

    def mentioned(self, code: str) -> Search | None:
        """Return what to look for in the texts of `code`; None when it is nowhere in it, which spares the looking."""
        return self.mentions if self.mentions is not None and self.mentions(code) else None

    def judge(self, trail: Trail) -> Iterator[tuple[DangerRule, Act]]:
        """Every rule that an act of the trail breaks, with that act."""
        counts: dict[str, int] = {}
        known: dict[int, bool] = {}

        def somewhere(condition: Clause) -> bool:
            if (found := known.get(id(condition))) is None:
                found = known[id(condition)] = _somewhere(condition, trail)
            return found

        for act in trail.acts:
            of_kind = self._of(act.kind)
            for rule in (*of_kind.always, *of_kind.by_name.get(act.name, ())):
                if counts.get(rule.id, 0) >= MOST_FOR_A_RULE or not rule.condition.holds(act):
                    continue
                if all(map(somewhere, rule.also)) and not any(map(somewhere, rule.without)):
                    counts[rule.id] = counts.get(rule.id, 0) + 1
                    yield rule, act


def _mentions(rules: Sequence[DangerRule]) -> Search | None:
    """Return the search for the expressions of all rules about texts that are enough by themselves."""
    ours = [rule.mention for rule in rules if rule.mention and rule.compile is trusted]
    searches = [rule.compile(rule.mention) for rule in rules if rule.mention and rule.compile is not trusted]
    if ours:
        searches.append(trusted("|".join(f"(?:{pattern})" for pattern in ours)))
    return (lambda text: any(search(text) for search in searches)) if searches else None


def _somewhere(condition: Clause, trail: Trail) -> bool:
    return any(act.kind in condition.kinds and condition.holds(act) for act in trail.acts)
