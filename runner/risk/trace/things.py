"""Things at a service that a value stands for: a table, a bucket, a queue, and what each is called.

`knex("orders").where(...)` and `storage.bucket("backups").file("a")` say at their beginning what they are about, and
delete at their end. A label carries it there: of the first one `thing:table=orders`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.acts import THING
from runner.risk.model.bounds import excerpt
from runner.risk.rules.vocabulary import picked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from runner.risk.model.value import Value

LONGEST_NAME = 60


def package_of(name: str) -> str:
    """Return the package that the name of a function begins with: `@a/b` of `@a/b.c`, `discord.js` of its `Client`."""
    first, dot, rest = name.partition(".")
    return f"{first}.js" if dot and rest.partition(".")[0] == "js" else first


def standing_for(
    result: Value,
    names: Iterable[tuple[str, str]],
    owner: Value | None,
    args: Sequence[Value],
    named: Mapping[str, Value],
) -> Value:
    """Return `result` with the labels of what it stands for; of a kind that it has already the new one counts."""
    kept = result.labels
    for kind, where in names:
        begins = f"{THING}{kind}="
        new = f"{begins}{excerpt(_name(picked(where, owner, args, named), kind), LONGEST_NAME)}"
        kept = frozenset(one for one in kept if not one.startswith(begins)) | {new}
    copy = result.labelled(kept)
    copy.labels = kept
    return copy


def _name(given: Value, kind: str) -> str:
    """Return what a thing is called that a value names, or that it stands for already; '' where that is not known."""
    if given.texts:
        return given.text if len(given.texts) == 1 else ""
    if (known := things(given.labels)).get(kind):
        return known[kind]
    last = given.name.rpartition(".")[2]
    return last if kind == "table" and last.isidentifier() and "(" not in given.name else ""


def things(labels: Iterable[str]) -> dict[str, str]:
    """Return the names of things by their kinds; of several of a kind none is known."""
    found: dict[str, str] = {}
    for label in labels:
        if label.startswith(THING):
            kind, _, name = label[len(THING) :].partition("=")
            found[kind] = name if found.get(kind, name) == name else ""
    return found
