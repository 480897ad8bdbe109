"""The folder that a program stands in: what a relative path means once that was changed."""

from __future__ import annotations

import copy

from runner.risk.model.value import HOLE, Value, concatenate, text

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
