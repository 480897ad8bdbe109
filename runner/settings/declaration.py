"""The declaration of a setting: type, default, sentence, names and bounds, and the parsing of its value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar, assert_never
from urllib.parse import urlsplit

from runner.model.network import Destination, UnusableHost, canonical_host
from runner.system.entry_points import USABLE

Value = bool | int | float | str | tuple[str, ...]
T = TypeVar("T", bound=Value)

TRUE = frozenset({"true", "yes", "on", "1"})
FALSE = frozenset({"false", "no", "off", "0"})
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*([kmgt]?)i?b?", re.IGNORECASE | re.ASCII)
_IN_MB = {"": 1.0, "k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2}
_DECLARED = "declared"


class Kind(StrEnum):
    BOOL = "yes or no"
    WHOLE = "whole number"
    NUMBER = "number"
    TEXT = "text"
    CHOICE = "choice"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Declared:
    """One setting, as the dialog and the help page use it."""

    name: str
    kind: Kind
    default: Value
    sentence: str
    group: str
    environment: tuple[str, ...]
    """Environment variables; the first one that is set applies."""
    yaml: tuple[str, ...]
    """Dotted paths in the file; a new value is written to the first."""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    """Other words for choices: (word, choice)."""
    named: str = ""
    """Begins a value that names what is no choice of Assent's: an installed package may bring it."""
    idle: str = ""
    """Why it has no effect; empty where it has one. Such a setting is not shown in the dialog."""
    restart: bool = False
    """Counts from the next start only."""
    hosts: bool = False
    """Whether each entry of a list names a host."""

    def parse(self, raw: object) -> Value:
        """Return the value that `raw` (a text, or a value from the dialog) stands for.

        Raises ValueError, half a sentence.
        """
        match self.kind:
            case Kind.BOOL:
                return _boolean(raw)
            case Kind.WHOLE:
                return int(self._bounded(_whole(raw, self.unit)))
            case Kind.NUMBER:
                return float(self._bounded(_number(raw)))
            case Kind.TEXT:
                return _text(raw)
            case Kind.CHOICE:
                return self._choice(raw)
            case Kind.LIST:
                words = _words(raw)
                if self.hosts:
                    return tuple(dict.fromkeys(map(_host, words)))
                return tuple(dict.fromkeys(map(self._choice, words))) if self.choices else words
            case _:
                assert_never(self.kind)

    def shown(self, value: Value) -> str:
        """Return `value` with its unit, in words."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple):
            return ", ".join(value) or "none"
        if isinstance(value, float):
            return f"{value:g} {self.unit}".strip()
        return f"{value} {self.unit}".strip() if value != "" else "not set"

    def _bounded(self, number: float) -> float:
        low, high = self.minimum, self.maximum
        if (low is not None and number < low) or (high is not None and number > high):
            raise ValueError(f"{number:g} is not between {_edge(low)} and {_edge(high)}")
        return number

    def _choice(self, raw: object) -> str:
        word = _text(raw).lower()
        word = dict(self.synonyms).get(word, word)
        if word in self.choices:
            return word
        if self.named and word.startswith(self.named) and USABLE.fullmatch(word.removeprefix(self.named)):
            return word
        raise ValueError(f"{_quoted(raw)} is none of {', '.join(self.choices)}")


def setting(
    default: T,
    sentence: str,
    *,
    group: str,
    yaml: str,
    env: str = "",
    unit: str = "",
    at_least: float | None = None,
    at_most: float | None = None,
    choices: str = "",
    synonyms: tuple[tuple[str, str], ...] = (),
    named: str = "",
    idle: str = "",
    restart: bool = False,
    hosts: bool = False,
) -> T:
    """Return a dataclass field that carries its declaration. `env`, `yaml` and `choices` are names parted by blanks."""
    draft = Declared(
        name="",
        kind=_kind(default, choices),
        default=default,
        sentence=sentence,
        group=group,
        environment=tuple(env.split()),
        yaml=tuple(yaml.split()),
        unit=unit,
        minimum=at_least,
        maximum=at_most,
        choices=tuple(choices.split()),
        synonyms=synonyms,
        named=named,
        idle=idle,
        restart=restart,
        hosts=hosts,
    )
    made: T = field(default=default, metadata={_DECLARED: draft})
    return made


def draft_of(metadata: Any) -> Declared:
    """Return the declaration in the metadata of a field made by `setting`."""
    draft = metadata[_DECLARED]
    assert isinstance(draft, Declared)
    return draft


def _kind(default: Value, choices: str) -> Kind:
    # bool before int: a bool is one.
    if isinstance(default, bool):
        return Kind.BOOL
    if isinstance(default, int):
        return Kind.WHOLE
    if isinstance(default, float):
        return Kind.NUMBER
    if isinstance(default, tuple):
        return Kind.LIST
    return Kind.CHOICE if choices else Kind.TEXT


def _boolean(raw: object) -> bool:
    word = str(raw).strip().lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise ValueError(f"{_quoted(raw)} is neither true nor false")


def _whole(raw: object, unit: str) -> float:
    text = str(raw).strip()
    if unit == "MB" and (found := _SIZE.fullmatch(text)):
        return _exact(float(found[1]) * _IN_MB[found[2].lower()], raw)
    return _exact(_number(text), raw)


def _exact(number: float, raw: object) -> float:
    if number != int(number):
        raise ValueError(f"{_quoted(raw)} is not a whole number")
    return number


def _number(raw: object) -> float:
    # Digits only: float() also takes "nan" and "infinity", and no limit may be one.
    text = str(raw).strip().replace("_", "")
    if isinstance(raw, bool) or not re.fullmatch(r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?", text, re.ASCII):
        raise ValueError(f"{_quoted(raw)} is not a number")
    return float(text)


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError(f"{_quoted(raw)} is not a text")
    if any(not character.isprintable() for character in raw):
        raise ValueError(f"{_quoted(raw)} holds characters that cannot be shown")
    return raw.strip()


def _words(raw: object) -> tuple[str, ...]:
    """Return a YAML list, or a text with commas."""
    if isinstance(raw, str):
        raw = raw.split(",")
    if not isinstance(raw, Iterable):
        raise ValueError(f"{_quoted(raw)} is not a list")
    return tuple(dict.fromkeys(word for item in raw if (word := _text(item))))


def _host(word: str) -> str:
    """Return one host, with its port where that is not 443, as a request names it; a URL of the web as it is."""
    parts = urlsplit(word) if "://" in word else None
    try:
        if parts is None:
            return str(Destination.parse(word))
        canonical_host(parts.hostname or "")
        if parts.scheme not in ("http", "https"):
            raise UnusableHost("its scheme is not http or https")
        return word
    except UnusableHost as reason:
        raise ValueError(f"{_quoted(word)} names no host: {reason}") from None


def _edge(bound: float | None) -> str:
    return "anything" if bound is None else f"{bound:,.10g}"


def _quoted(raw: object) -> str:
    text = repr(raw) if isinstance(raw, str) else f"{type(raw).__name__} {raw!r}"
    return text if len(text) <= 60 else text[:57] + "..."
