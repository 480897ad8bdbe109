"""What the verb in a function's name says that it does with a file it is given, where no more is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.model.value import NO_LABELS, Value
from runner.risk.trace.files import FOUND_IN
from runner.risk.trace.remote import PART

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.risk.model.acts import Place, Trail
    from runner.risk.trace.world import World

WRITES = words("save write dump export store overwrite insert embed strip rewrite stamp render")
READS = words("load read open parse import")
FILE = expression(r"(?![a-z][a-z+]{1,11}://)[^\s@]{0,400}[^\s@/.]\.(?!com$|org$|net$|io$|dev$)[A-Za-z][A-Za-z0-9]{0,5}")
"""A text that is most likely the name of a file: it ends as one does, and is no address."""


def note_by_verb(trail: Trail, nested: World, called: Value, values: Sequence[Value], place: Place) -> frozenset[str]:
    """Note the file that a function writes or reads which is called `save` or `load`; return labels for its result."""
    last = called.name.removesuffix("()").rpartition(".")[2]
    parts = PART.findall(last)
    verb = parts[0].lower() if parts and not last[:1].isupper() else ""
    if verb not in WRITES and verb not in READS:
        return NO_LABELS
    path = next(filter(_is_file, values), None)
    if path is None:
        return NO_LABELS
    if verb in READS:
        return nested.done(trail.add("read", called.name, {"path": path}, place, called.labels))
    data = Value(items=[one for one in values if one is not path], labels=_made_of(values, path))
    return nested.done(trail.add("write", called.name, {"path": path, "data": data}, place, called.labels))


def _made_of(values: Iterable[Value], path: Value) -> frozenset[str]:
    return frozenset().union(*(one.labels for one in values if one is not path))


def _is_file(value: Value) -> bool:
    if value.items is not None or value.fields is not None or value.function is not None:
        return False
    if value.texts:
        return any(map(FILE.fullmatch, value.texts))
    # What a library made of a file that was found has its labels as well, and is none.
    return "(" not in SAME.sub("", value.name) and any(label.startswith(FOUND_IN) for label in value.labels)


SAME = expression(r"(?:pathlib\.Path|sorted|list|str|iter|reversed|glob\.i?glob|os\.(?:listdir|path\.join|fspath))\(\)")
"""Calls that give a path, or paths that they are given."""
