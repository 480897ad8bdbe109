"""Paths that JavaScript puts together, and the folders that it knows by a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.methods import Args, first
from runner.risk.model.value import HOLE, Value, concatenate, each, labels_of, text

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


def address(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """new URL("data.json", import.meta.url): a file beside the program."""
    if len(args) < 2 or args[1].name != "import.meta.url" or not args[0].texts or "://" in args[0].text:
        return None
    return file_address(machine, called, args[:1], named, place)


INSTALLED = "node_modules/"


def installed_path(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """require.resolve("express/package.json"): a file of a package that is installed."""
    known = first(args)
    if known.exact is None or known.exact[:1] in "./":
        return None
    inside = known.exact.count("/") > known.exact.startswith("@")
    path = f"{INSTALLED}{known.exact}" if inside else f"{INSTALLED}{known.exact}/{HOLE}"
    return Value((path,), name="require.resolve()", labels=known.labels)


def folder_of(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """path.dirname(path), of a file of an installed package; of others what is beside them is not known."""
    path = first(args)
    if not path.texts or not all(known.startswith(INSTALLED) for known in path.texts):
        return None
    return each(path, lambda known: known.rpartition("/")[0])


def home(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("~")


def temporary(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("/tmp")
