"""Temporary files of a program's own: what a path has to be so that it is surely one of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.value import HOLE, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TEMPORARY = "$temporary"
"""Begins the label of a temporary file or folder that the program has made."""
BESIDE = "beside-temporary"
"""The label of a path that was made of such a one and leads elsewhere, or may."""
MET = frozenset(("found", "listed"))
"""Labels of what was found in a folder: names without a way out of it."""

SURROUNDINGS = expression(
    r"(?i)env(?!=None)|\.tempdir\b|['\"]tempdir|\btempdir\s*=|preexec_fn|__dict__|\bvars\(|\bgetattr\(|\bReflect\b"
    r"|[,(]\s*\*\*\w|[{,]\s*\.\.\.\w+\s*[,}]"
    r"|\.cwd\b|\bObject\.assign\b|\bprocess\s*(?:\?\.)?\[|\bglobalThis\s*(?:\?\.)?\["
)
"""Words of Python and JavaScript by which variables of the environment may change, or where temporary folders are.

Options that are handed on as a whole may have some among them.
"""


class OwnFiles:
    """The temporary files that one program has made: where each is."""

    def __init__(self) -> None:
        self._roots: dict[str, tuple[str, ...]] = {}
        self._default = (f"/tmp/{HOLE}",)
        self._links: set[str] = set()
        """Links below them that lead elsewhere, or may."""

    def made(self, line: int, column: int, folder: Value, ending: str = "") -> Value:
        """Return the path of one that is made at a place of the code, in `folder`; its name is not known."""
        label = f"{TEMPORARY}{line}:{column}"
        texts = tuple(f"{known.rstrip('/')}/{HOLE}{ending}" for known in folder.texts or (HOLE,))
        return self.named(label, Value(texts, labels=folder.labels))

    def named(self, label: str, path: Value) -> Value:
        """Return the path of one with a label of its own."""
        self._roots[label] = path.texts
        return Value(path.texts, labels=path.labels | {label})

    def replaced(self, path: Value, by: Value | None = None) -> None:
        """Note that something else was put where one of them was, or below it: a link to `by`."""
        while path.fields is not None and "path" in path.fields:
            path = path.fields["path"]
        texts = {one.rstrip("/") for one in path.texts}
        for label in path.labels:
            if label.startswith(TEMPORARY) and texts & set(self._roots.get(label, self._default)):
                self._roots[label] = ()
        if by is not None and not (
            by.texts and any(one.startswith(TEMPORARY) for one in by.labels) and self.only(by) is by
        ):
            self._links |= texts

    def only(self, path: Value) -> Value:
        """Return `path`; where it is not surely one of them, or plainly below one, it is marked as beside them."""
        if path.fields is not None and "path" in path.fields:
            inner = self.only(path.fields["path"])
            if inner is path.fields["path"]:
                return path
            changed = copy.copy(path)
            changed.fields = {**path.fields, "path": inner}
            return changed
        labels = [label for label in path.labels if label.startswith(TEMPORARY)]
        if not labels or self._is_own(path, labels):
            return path
        changed = copy.copy(path)
        changed.labels = path.labels.difference(labels) | {BESIDE}
        return changed

    def _is_own(self, path: Value, labels: Iterable[str]) -> bool:
        if self._links and any(one.startswith(f"{link}/") for one in path.texts for link in self._links):
            return False
        met = not MET.isdisjoint(path.labels)
        roots = [root for label in labels for root in self._roots.get(label, self._default)]
        return (bool(path.texts) or met) and bool(roots) and all(_is_below(one, roots, met) for one in path.texts)


def _is_below(path: str, roots: Sequence[str], met: bool) -> bool:
    """Return whether a path is one of `roots`, or one of plain parts below it; `met` allows names that were found."""
    for root in roots:
        if path.startswith(root):
            rest = path[len(root) :]
            return ".." not in rest.split("/") and (met or HOLE not in rest)
    return met and path == HOLE
