"""Meanings of calls: from the names of functions in a language to acts that are the same in every language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from runner.model.expression import expression
from runner.risk.model.value import NO_LABELS, UNKNOWN, Value

RESERVED = frozenset({"calls", "act", "gives", "keeps", "becomes", "quiet", "of", "stands-for", "needs", "unless"})
FIRST_WORD = expression(r"_*(?:(?:[Bb]atch|[Bb]ulk|[Aa]sync|[Bb]egin)_?(?=[A-Za-z]))?([A-Z]?[a-z]+)")
"""The verb that the name of a method begins with: `delete_topics`, `batchDeleteImage`, `DeleteBucketCommand`."""


class Meaning(NamedTuple):
    """One act that a call does, with the places of its parts among the arguments.

    A place is a position, a keyword, both (`0/url`), `self` (what the method is called on), `self.path` (a part kept
    from an earlier call), `self.url+0` (an address below that part), `rest` (all arguments as a list; `rest:1` from the
    second on), `named` (those with a name) or `=word` (always that word).
    """

    act: str
    fields: tuple[tuple[str, str], ...]
    gives: frozenset[str] = NO_LABELS
    keeps: tuple[tuple[str, str], ...] = ()
    becomes: str = ""
    """Name of the result, when it is not simply that of the call."""
    needs: str = ""
    """The field without which the act is not done: a picture of a page is a file only where it is given a path."""
    unless: str = ""
    """The place at which nothing is given where the act is done."""
    stands_for: tuple[tuple[str, str], ...] = ()
    """What the result stands for at a service, as a kind and the place of its name: `table`, `bucket`."""


class Vocabulary:
    """The meanings of one language.

    A name is looked up as a whole, by its last one or two parts (`*.drop_all`, `*.all.delete`), and, of libraries that
    an entry names with `of`, by the verb that its last part begins with (`delete*`).
    """

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
    def _families(self) -> dict[str, list[tuple[tuple[str, ...], Meaning]]]:
        """Meanings by a verb, each with what the names of its libraries begin with."""
        return self._read[2]

    @cached_property
    def _libraries(self) -> tuple[str, ...]:
        return tuple({library for family in self._families.values() for of, _ in family for library in of})

    @cached_property
    def _read(
        self,
    ) -> tuple[dict[str, list[Meaning]], dict[str, list[Meaning]], dict[str, list[tuple[tuple[str, ...], Meaning]]]]:
        calls: dict[str, list[Meaning]] = {}
        methods: dict[str, list[Meaning]] = {}
        families: dict[str, list[tuple[tuple[str, ...], Meaning]]] = {}
        for entry in self._entries:
            meaning = _meaning(entry)
            of = tuple(str(entry.get("of", "")).split())
            for name in str(entry["calls"]).split():
                if name.endswith("*"):
                    families.setdefault(name[:-1], []).append((of, meaning))
                elif name.startswith("*."):
                    methods.setdefault(name[2:], []).append(meaning)
                else:
                    calls.setdefault(name, []).append(meaning)
        return calls, methods, families

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
        if found is None:
            found = self._methods.get(name[at + 1 :])
        if found is None and name.startswith(self._libraries):
            found = self._by_verb(name, name[at + 1 :])
        return found if found is not None else ()

    def _by_verb(self, name: str, method: str) -> list[Meaning]:
        """Return what a method of a library does whose name begins with a verb that is known of it."""
        verb = FIRST_WORD.match(method) if method[:1].islower() or method.endswith("Command") else None
        family = self._families.get(verb[1].lower(), ()) if verb is not None else ()
        return [meaning for of, meaning in family if name.startswith(of)]

    def acts_below(self, module: str) -> bool:
        """Return whether a function of the module does something."""
        return module in self._acting

    @cached_property
    def _acting(self) -> frozenset[str]:
        names = (name for name, meanings in self._calls.items() if any(meaning.act for meaning in meanings))
        return frozenset(name.rpartition(".")[0] for name in names)

    def has_library(self, name: str) -> bool:
        """Return whether a function is of a library of which it is known what its methods do by their verbs."""
        return name.startswith(self._libraries)

    def knows(self, name: str) -> bool:
        return name in self._calls


def _meaning(entry: Mapping[str, object]) -> Meaning:
    keeps, stands_for = entry.get("keeps") or {}, entry.get("stands-for") or {}
    assert isinstance(keeps, Mapping)
    assert isinstance(stands_for, Mapping)
    return Meaning(
        act=str(entry.get("act", "")),
        fields=tuple((str(key), str(where)) for key, where in entry.items() if key not in RESERVED),
        gives=frozenset(str(entry.get("gives", "")).split()),
        keeps=tuple((str(key), str(where)) for key, where in keeps.items()),
        becomes=str(entry.get("becomes", "")),
        needs=str(entry.get("needs", "")),
        unless=str(entry.get("unless", "")),
        stands_for=tuple((str(key), str(where)) for key, where in stands_for.items()),
    )


def picked(where: str, owner: Value | None, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return the argument that a place of a Meaning points at; UNKNOWN when the call has none there."""
    for choice in where.split("/"):
        value = _pick(choice, owner, args, named)
        if value is not None:
            return value
    return UNKNOWN


def _pick(choice: str, owner: Value | None, args: Sequence[Value], named: Mapping[str, Value]) -> Value | None:
    if "+" in choice:
        kept, _, inner = choice.partition("+")
        value = _pick(inner, owner, args, named)
        return None if value is None or value.fields is not None else below(_pick(kept, owner, args, named), value)
    if choice.isdigit():
        index = int(choice)
        return args[index] if index < len(args) else None
    if choice[0] == "=":
        return Value((choice[1:],))
    if choice == "self":
        return owner
    if choice.startswith("self."):
        return (owner.fields or {}).get(choice[5:]) if owner is not None else None
    if choice == "named":
        return Value(fields=dict(named)) if named else None
    if choice.startswith("rest"):
        return Value(items=[*args[int(choice[5:] or 0) :], *named.values()])
    if "." in choice:
        outer, *inside = choice.split(".")
        value = _pick(outer, owner, args, named)
        for inner in inside:
            if value is None:
                return None
            if value.items is not None and inner.isdigit():
                value = value.items[int(inner)] if int(inner) < len(value.items) else None
            else:
                value = (value.fields or {}).get(inner)
        return value
    return named.get(choice)


def below(base: Value | None, address: Value) -> Value:
    """Return the address of a request by a client that has one itself; what begins with a scheme is whole."""
    if base is None or not base.texts or not address.texts:
        return address
    known = [
        one if SCHEME.match(one) else f"{start.rstrip('/')}/{one.lstrip('/')}"
        for start in base.texts
        for one in address.texts
    ]
    return Value(tuple(dict.fromkeys(known)), labels=address.labels | base.labels)


SCHEME = expression(r"[A-Za-z][A-Za-z0-9+.-]{0,20}:|//")


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
