"""The data by which a language is read: what its grammar calls things, and what its functions do."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tree_sitter import Language as Grammar

from runner.model.language_support import LANGUAGES
from runner.risk.rules.knowledge import table
from runner.risk.rules.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.request import Language

SETS = (
    *("same", "lists", "joins", "strings", "contents", "defines", "functions", "parameters", "references"),
    *("imports", "standard", "harmless", "harmless_modules", "passes"),
)
"""Sections that are lists of words."""
TABLES = ("calls", "names", "assigns")
"""Sections that say of a kind of nodes which fields of it count, in their order."""


class Mark(NamedTuple):
    """A construct that does something without being a call."""

    begins: str
    """What its text begins with."""
    act: str
    """What it does."""
    what: str
    """What it is called, or for `unfollowed` a clause on what is not followed."""
    ends: str = ""
    """What its text ends with."""
    but: frozenset[str] = frozenset()
    """First words with which it does nothing."""


class CallReading(NamedTuple):
    """How one language is read. The sections are described in `resources/rules/languages/README.md`."""

    title: str
    grammar: Grammar
    words: Mapping[str, frozenset[str]]
    fields: Mapping[str, Mapping[str, tuple[str, ...]]]
    marks: Mapping[str, tuple[Mark, ...]]
    vocabulary: Vocabulary
    short_names: bool
    """Whether a name counts without the packages before it, which begin with a small letter."""
    escapes: bool
    """Whether letters of the code itself may be written as numbers."""
    separator: str

    def short(self, name: str) -> str:
        """Return a name without the packages before a class, where these do not count: `File` of `java.io.File`."""
        parts = name.split(".")
        at = begins = int(parts[0] == "new")
        while at < len(parts) - 1 and parts[at].isidentifier() and parts[at].islower():
            at += 1
        # `files.remove` is of a variable.
        is_class = self.short_names and parts[at][:1].isupper()
        return ".".join([*parts[:begins], *parts[at:]]) if is_class else name

    def is_harmless(self, name: str) -> bool:
        """Return whether the call of a function is known to reach nothing outside of the program."""
        harmless, parts = self.words["harmless"], name.replace("()", "").split(".")
        if not harmless.isdisjoint((name, ".".join(parts))) or (len(parts) > 1 and f"*.{parts[-1]}" in harmless):
            return True
        return any(".".join(parts[:length]) in self.words["harmless_modules"] for length in range(1, len(parts)))


@cache
def reading_of(language: Language) -> CallReading:
    """Return how `language` is read; of one that Assent brings, by its own data."""
    support = LANGUAGES[language]
    assert support.toolchain is not None
    data = support.toolchain.reading or table()["languages"][language.value]
    return read(support.title, data)


def read(title: str, data: Mapping[str, Any]) -> CallReading:
    """Return the data of one language as it is used. Raises KeyError, ValueError and ImportError where it is wrong."""
    return CallReading(
        title=title,
        grammar=Grammar(importlib.import_module(str(data["grammar"])).language()),
        words={name: frozenset(str(data.get(name, "")).split()) for name in SETS},
        fields={
            name: {str(node): tuple(str(which).split()) for node, which in (data.get(name) or {}).items()}
            for name in TABLES
        },
        marks=_marks(data.get("marks") or []),
        vocabulary=Vocabulary.of_file({"calls": data["grave"], "attributes": {}}),
        short_names=bool(data.get("short_names")),
        escapes=bool(data.get("escapes")),
        separator=str(data.get("separator", ".")),
    )


def _marks(entries: list[Mapping[str, Any]]) -> dict[str, tuple[Mark, ...]]:
    found: dict[str, tuple[Mark, ...]] = {}
    for one in entries:
        begins, act, what, ends, but = (str(one.get(name, "")) for name in ("begins", "act", "what", "ends", "but"))
        mark = Mark(begins, act, what, ends, frozenset(but.split()))
        for node in str(one["node"]).split():
            found[node] = (*found.get(node, ()), mark)
    return found
