"""The names of Python modules for files, by their paths below the workspace."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.model.request import KnownFile

INIT = "/__init__.py"


class KnownModule(NamedTuple):
    """A module whose text is known."""

    file: KnownFile
    is_package: bool


def is_standard(name: str) -> bool:
    """Return whether a module is one of Python's standard library."""
    return name.partition(".")[0] in sys.stdlib_module_names


def modules(files: Sequence[KnownFile]) -> dict[str, KnownModule]:
    """Return those of `files` that Python imports, by the name of the module; a package goes before a module.

    Those in a folder that is no package among `files`, and those of names that the standard library has, are none.
    """
    packages = {one.path.removesuffix(INIT) for one in files if one.path.endswith(INIT)}
    found: dict[str, KnownModule] = {}
    for file in files:
        is_package = file.path.endswith(INIT)
        whole = file.path.removesuffix(INIT if is_package else ".py")
        parts = whole.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts)))
        named = all(map(str.isidentifier, parts)) and not is_standard(parts[0])
        if file.path.endswith(".py") and named and packages.issuperset(above) and (is_package or whole not in packages):
            found[".".join(parts)] = KnownModule(file, is_package)
    return found
