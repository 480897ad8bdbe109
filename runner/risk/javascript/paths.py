"""Paths that JavaScript puts together, and the folders that it knows by a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.methods import Args, first
from runner.risk.model.value import Value, concatenate, labels_of, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.risk.model.acts import Place
    from runner.risk.trace.machine import Machine

    Named = Mapping[str, Value]


def joined_path(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return concatenate([arg for arg in args if arg.exact != ""], "/")


def resolved_path(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """path.resolve(...): what stands before a path from the root does not count."""
    from_root = [at for at, arg in enumerate(args) if arg.text.startswith(("/", "~"))]
    return joined_path(machine, called, args[from_root[-1] :] if from_root else args, named, place)


def file_address(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """url.pathToFileURL(path): stands for the path, and so do its parts."""
    path = Value(first(args).texts, labels=labels_of(args))
    return Value(path.texts, labels=path.labels, fields={"href": path, "pathname": path})


def home(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("~")


def temporary(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("/tmp")
