"""The folder that a program stands in: what a relative path means once that was changed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from runner.risk.model.value import HOLE, Value, concatenate, text

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT_RELATIVE = ("/", "~", HOLE, "-", "$")
"""How a path begins that means the same in each folder, or of which that is not known."""


def is_relative(path: str) -> bool:
    """Return whether what a path means depends on the folder that the program stands in."""
    return not path.startswith(NOT_RELATIVE) and ":" not in path[:3]


def moved(now: Value | None, folder: Value) -> Value:
    """Return the folder that a program stands in after it has gone from `now` to `folder`."""
    if not folder.texts:
        return Value((HOLE,), labels=folder.labels)
    return folder if now is None else placed(folder, now)


def placed(path: Value, folder: Value) -> Value:
    """Return a path seen from a folder; one that is not relative as it is."""
    if path.fields is not None and "path" in path.fields:
        changed = copy.copy(path)
        changed.fields = {**path.fields, "path": placed(path.fields["path"], folder)}
        return changed
    if not path.texts or not all(map(is_relative, path.texts)):
        return path
    changed = copy.copy(path)
    below = Value(tuple(one.removeprefix("./") or "." for one in path.texts))
    slash = text("/" if all(not one.endswith("/") for one in folder.texts) else "")
    whole = folder if path.texts in ((".",), ("./",)) else concatenate((folder, slash, below))
    changed.texts, changed.labels = whole.texts, path.labels | whole.labels
    return changed


def through(path: Value, links: Mapping[str, Value]) -> Value:
    """Return what a path means that leads through a link of the program's own; a link itself is no way."""
    if path.fields is not None and "path" in path.fields:
        changed = copy.copy(path)
        changed.fields = {**path.fields, "path": through(path.fields["path"], links)}
        return changed
    met = [(known, _link(known, links)) for known in path.texts]
    if not any(link for _, link in met):
        return path
    changed = copy.copy(path)
    texts = [
        f"{to}{known.removeprefix('./')[len(link) :]}" if link else known
        for known, link in met
        for to in (links[link].texts if link else ("",))
    ]
    changed.texts = tuple(dict.fromkeys(texts))
    return changed


def _link(path: str, links: Mapping[str, Value]) -> str:
    plain = path.removeprefix("./")
    return next((one for one in links if plain.startswith(f"{one}/")), "")
