"""Paths that pathlib makes of another one: the same with another name or ending, below it, above it, or elsewhere."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from runner.risk.model.value import HOLE, UNKNOWN, Value, each
from runner.risk.python.arguments import first
from runner.risk.python.files import path_joined
from runner.risk.trace.files import FOUND_IN

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special

A_PATH = "pathlib.Path()"


def _made(change: Callable[[str, str], str]) -> Special:
    """Return what `change` makes of the path and the text that is given."""

    def call(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
        owner, given = called.owner or UNKNOWN, first(args)
        by = given.text if given.texts else HOLE
        folders = [label[len(FOUND_IN) :].rstrip("/") for label in owner.labels if label.startswith(FOUND_IN)]
        if owner.texts and change is _ending and owner.text.endswith(HOLE):
            whole = Value(tuple(f"{known}{by}" if known.endswith(HOLE) else change(known, by) for known in owner.texts))
        elif owner.texts:
            whole = each(owner, lambda known: change(known, by))
        else:
            whole = Value((change(f"{folders[0]}/{HOLE}", by) if len(folders) == 1 else HOLE,))
        # It is another file than the one that was found.
        labels = {label for label in owner.labels | given.labels if label != "found" and not label.startswith(FOUND_IN)}
        return Value(whole.texts, A_PATH, frozenset(labels))

    return call


def _named(known: str, name: str) -> str:
    return posixpath.join(posixpath.dirname(known), name)


def _ending(known: str, suffix: str) -> str:
    return f"{posixpath.splitext(known)[0]}{suffix}"


def _stem(known: str, stem: str) -> str:
    return posixpath.join(posixpath.dirname(known), f"{stem}{posixpath.splitext(known)[1]}")


def _below(known: str, folder: str) -> str:
    below = known.removeprefix(folder).lstrip("/")
    return below if known.startswith(folder) and below else HOLE


def _joined(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    whole = path_joined(machine, called, [called.owner or UNKNOWN, *args], named, place) or UNKNOWN
    return Value(whole.texts or (HOLE,), A_PATH, whole.labels)


def _working(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    folder = machine.trail.folder
    return Value((".",), A_PATH) if folder is None else Value(folder.texts, A_PATH, folder.labels)


DERIVED: dict[str, Special] = {
    "pathlib.Path.with_name": _made(_named),
    "pathlib.Path.with_suffix": _made(_ending),
    "pathlib.Path.with_stem": _made(_stem),
    "pathlib.Path.relative_to": _made(_below),
    "pathlib.Path.readlink": _made(lambda known, by: HOLE),
    "pathlib.Path.with_segments": _made(lambda known, by: by),
    "pathlib.Path.joinpath": _joined,
    "pathlib.Path.cwd": _working,
}
