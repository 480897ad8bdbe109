"""What calls mean: from the names of functions in a language to acts that are the same in every language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from runner.risk.model.value import NO_LABELS, UNKNOWN, Value

RESERVED = frozenset({"calls", "act", "gives", "keeps", "becomes", "quiet"})


class Meaning(NamedTuple):
    """One act that a call does, with the places of its parts among the arguments.

    A place is a position, a keyword, both (`0/url`), `self` (what the method is called on), `self.path` (a part kept
    from an earlier call), `rest` (all arguments as a list; `rest:1` from the second on) or `=word` (always that word).
    """

    act: str
    fields: tuple[tuple[str, str], ...]
    gives: frozenset[str] = NO_LABELS
    keeps: tuple[tuple[str, str], ...] = ()
    becomes: str = ""
    """Name of the result, when it is not simply that of the call."""


class Vocabulary:
    """The meanings of one language: by full name, and by its last one or two parts (`*.drop_all`, `*.all.delete`)."""

    def __init__(self, entries: Sequence[Mapping[str, object]], attributes: Mapping[str, object]) -> None:
        self._entries = entries
        self.attributes = {name: frozenset(str(labels).split()) for name, labels in attributes.items()}

    @classmethod
    def of_file(cls, data: Mapping[str, object]) -> Vocabulary:
        """Return the vocabulary of a file's `calls` and `attributes`. Raises ValueError."""
        attributes = data["attributes"]
        assert isinstance(attributes, Mapping)
        return cls(list(entries(data["calls"])), attributes)

    @cached_property
    def _calls(self) -> dict[str, list[Meaning]]:
        """Meanings by full name, read when the first call of the language is looked up: most programs have one."""
        return self._read[0]

    @cached_property
    def _methods(self) -> dict[str, list[Meaning]]:
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[dict[str, list[Meaning]], dict[str, list[Meaning]]]:
        calls: dict[str, list[Meaning]] = {}
        methods: dict[str, list[Meaning]] = {}
        for entry in self._entries:
            meaning = _meaning(entry)
            for name in str(entry["calls"]).split():
                if name.startswith("*."):
                    methods.setdefault(name[2:], []).append(meaning)
                else:
                    calls.setdefault(name, []).append(meaning)
        return calls, methods

    def of(self, name: str) -> Sequence[Meaning]:
        """Return what a call of `name` does; nothing for names without a meaning."""
        if not name:
            return ()
        found = self._calls.get(name)
        if found is None and ("()" in name or "[]" in name):
            name = name.replace("()", "").replace("[]", "")
            found = self._calls.get(name)
        if found is not None:
            return found
        at = name.rfind(".")
        if at < 0:
            return ()
        before = name.rfind(".", 0, at)
        found = self._methods.get(name[before + 1 :]) if before >= 0 else None
        return found if found is not None else self._methods.get(name[at + 1 :], ())

    def knows(self, name: str) -> bool:
        return name in self._calls


def _meaning(entry: Mapping[str, object]) -> Meaning:
    keeps = entry.get("keeps") or {}
    assert isinstance(keeps, Mapping)
    return Meaning(
        act=str(entry.get("act", "")),
        fields=tuple((str(key), str(where)) for key, where in entry.items() if key not in RESERVED),
        gives=frozenset(str(entry.get("gives", "")).split()),
        keeps=tuple((str(key), str(where)) for key, where in keeps.items()),
        becomes=str(entry.get("becomes", "")),
    )


def picked(where: str, owner: Value | None, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return the argument that a place of a Meaning points at; UNKNOWN when the call has none there."""
    for choice in where.split("/"):
        value = _pick(choice, owner, args, named)
        if value is not None:
            return value
    return UNKNOWN


def _pick(choice: str, owner: Value | None, args: Sequence[Value], named: Mapping[str, Value]) -> Value | None:
    if choice.isdigit():
        index = int(choice)
        return args[index] if index < len(args) else None
    if choice[0] == "=":
        return Value((choice[1:],))
    if choice == "self":
        return owner
    if choice.startswith("self."):
        return (owner.fields or {}).get(choice[5:]) if owner is not None else None
    if choice.startswith("rest"):
        return Value(items=[*args[int(choice[5:] or 0) :], *named.values()])
    if "." in choice:
        outer, _, inner = choice.partition(".")
        value = _pick(outer, owner, args, named)
        return (value.fields or {}).get(inner) if value is not None else None
    return named.get(choice)


def quoted(words: str) -> str:
    """Return the first of `words` with quotation marks of its own; '' where none has."""
    return next((word for word in words.split() if word[0] in "'\"" or word[-1] in "'\""), "")


def entries(data: object) -> Iterator[Mapping[str, object]]:
    """The entries of a vocabulary file.

    Raises ValueError for what is not a list of mappings with `calls`, and for names and places that no call ever has:
    YAML takes a quotation mark inside a plain text as a letter, and `on` for a truth value.
    """
    if not isinstance(data, list):
        raise ValueError("`calls` is not a list")
    for entry in data:
        if not isinstance(entry, Mapping) or "calls" not in entry:
            raise ValueError(f"an entry has no `calls`: {entry!r:.80}")
        for key, value in entry.items():
            if not isinstance(key, str):
                raise ValueError(f"`{key}` is no text; put it in quotation marks: {entry!r:.80}")
            if isinstance(value, str) and (word := quoted(value)):
                raise ValueError(f"`{word:.40}` has quotation marks of its own; quote the whole text")
        yield entry
