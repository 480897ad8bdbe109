"""Folders of the program's own from which later programs are started, because PATH names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.workspace import WORKSPACE
from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.bounds import bounded
from runner.risk.model.value import HOLE, text
from runner.risk.trace.files import is_temporary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.risk.model.acts import Place, Trail
    from runner.risk.model.value import Value

NAME = expression(r"\$[A-Z_][A-Z0-9_]{0,60}")
MOST_FOLDERS = 200
LONGEST_FOLDER = 200
OF_TOOLS = expression(r"(?:^|/)(?:node_modules/\.bin|\.?v?env/bin|vendor/bin)$")
"""Folders that installers fill, which are in PATH for every script of theirs."""
HERE = "$pwd"
"""The label of the folder that a program stands in; other languages ask the system for it."""
ELSEWHERE = ("/", "~", "$", "%", "-", HOLE)
SIGNS = expression(r"[\w./@+-]+")


def note_programs(trail: Trail, path: Value, place: Place) -> None:
    """Note the folders that whoever writes in the working folder can fill, where PATH is set to `path`."""
    first = path.text.partition(":")[0]
    only = HOLE in first and "env:PATH" in path.labels and path.text.count(HOLE) == 1
    of_variable = (
        any(label.startswith(VALUE_OF) or NAME.fullmatch(label) for label in path.labels) or "argument" in path.labels
    )
    if (
        HOLE in first
        and of_variable
        and not only
        and not path.labels & {Source.HOST_INFO, HERE}
        and not is_temporary(path)
    ):
        trail.add("programs", "PATH", {"path": path}, place)
    known = path.text.replace(f"{HOLE}/", "./") if path.labels & {Source.HOST_INFO, HERE} else path.text
    for folder in _own(trail, known):
        trail.add("programs", "PATH", {"path": text(folder)}, place)


def _own(trail: Trail, path: str) -> Iterator[str]:
    for entry in bounded(trail, path.split(":"), MOST_FOLDERS, "folders of PATH"):
        folder = entry.rstrip("/")
        inside = folder.removeprefix(f"{WORKSPACE}/")
        while inside.startswith("./"):
            inside = inside[2:]
        if folder in (".", WORKSPACE):
            yield "."
        elif inside.startswith(ELSEWHERE) or not SIGNS.fullmatch(inside) or len(inside) > LONGEST_FOLDER:
            continue
        elif not OF_TOOLS.search(inside):
            yield inside
