"""Lists of all that a server or a cloud keeps, and whether a program chooses among what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.model.value import NO_LABELS, Value, labels_of, text, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from runner.risk.model.acts import Act, Place, Trail

EVERYTHING = "everything"
"""The label of what comes from a list of all databases or buckets."""
CHOOSING = words(
    "filter find findLast slice splice includes has test match search indexOf startsWith endsWith localeCompare exec "
    "startswith endswith fnmatch fnmatchcase fullmatch"
)
"""Functions by which one thing is told from another."""
NARROWING = words("prefix Prefix filter Filter filters Filters search query project")
LISTS = expression(
    r"(?i)\bshow\s+(?:databases|schemas)\b(?!\s+(?:like|where))"
    r"|\bfrom\s+(?:pg_catalog\.)?(?:pg_database|information_schema\.schemata|sys\.databases)\b"
    r"(?![^;]*?\b(?:dat|schema_)?name\s*+(?:=|~|!|<|(?:not\s++)?(?:like|ilike|in)\b))"
)
"""Statements that list all databases."""
OF_SERVER = words(
    "admin local config postgres template0 template1 mysql information_schema performance_schema sys master tempdb "
    "model msdb"
)
"""Databases that a server keeps for itself: who spares them alone takes all the others."""
SPARES_THEM = expression(
    rf"(?i)\b(?:dat|schema_)?name\s*+(?:<>|!=|not\s++in\b)\s*+\(?(?:[\s,]*+'(?:{'|'.join(sorted(OF_SERVER))})')++\)?"
)


def choice(trail: Trail, values: Sequence[Value], place: Place) -> None:
    """Note that a program looks at what is in such a list, to tell one from another."""
    if EVERYTHING not in labels_of(values):
        return
    with_what = [one for value in values if EVERYTHING not in value.labels for one in texts_of(value)]
    if not with_what or not OF_SERVER.issuperset(with_what):
        trail.add("compare", "", {"with": Value(labels=frozenset({EVERYTHING}))}, place)


def given(gives: frozenset[str], args: Iterable[Value], named: Mapping[str, Value]) -> frozenset[str]:
    """Return the labels of what a call gives: a list that is asked for by a condition is not all."""
    if EVERYTHING in gives and not NARROWING.isdisjoint({*named, *(key for arg in args for key in arg.fields or ())}):
        return gives - {EVERYTHING}
    return gives


def lists_all(act: Act) -> frozenset[str]:
    """Return the label of what a statement of SQL gives that lists all databases."""
    known = any(LISTS.search(SPARES_THEM.sub("", one)) for one in act.get("sql").texts)
    return frozenset({EVERYTHING}) if known else NO_LABELS


def note_all(act: Act) -> None:
    """Note that what an act takes away is one of such a list, each in its turn."""
    if "repeated" in act.labels and EVERYTHING in labels_of(act.get(name) for name in ("what", "on", "sql")):
        act.fields["everything"] = text("yes")
