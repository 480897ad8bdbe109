"""Finds the install scripts of npm packages, and the order in which they run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runner.model.plan import OwnProgram, ProgramKind
from runner.packages.failures import Unusable
from runner.packages.npm_registry import SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.model.plan import PlannedPackage
    from runner.packages.tarball import Tarball

LONGEST_LINE = 10_000
LONGEST_PROGRAM = 200_000
"""Characters of a script, and of a file that it starts."""
MOST_BINS = 100
DATA = (".json", ".node", "/package.json")
"""What a path may stand for in Node without being a program's text."""
_STARTS = re.compile(r"(?:^|[;&|])\s*node\s+(?:\./)?(?P<path>[\w.][\w.-]*(?:/[\w.-]+)*)(?![^\s;&|])", re.ASCII)
"""Where a script starts a file of its package; what follows are its arguments."""
_BIN = re.compile(r"\w[\w.-]{0,99}", re.ASCII)


def programs(tarball: Tarball, manifest: Mapping[str, Any]) -> tuple[OwnProgram, ...]:
    """Return what of a package runs when it is installed: its scripts, and the files that they start by name.

    Raises Unusable for what nobody would read.
    """
    said = manifest.get("scripts")
    found: dict[str, OwnProgram] = {}
    started: dict[str, OwnProgram] = {}
    for name in SCRIPTS:
        line = said.get(name) if isinstance(said, dict) else None
        if not isinstance(line, str) or not line.strip():
            continue
        if len(line) > LONGEST_LINE or "\0" in line:
            raise Unusable(f"its {name} script is too long to be read")
        found[name] = OwnProgram(name, line, ProgramKind.SHELL)
        for match in _STARTS.finditer(line.strip()):
            started |= _file(tarball, match["path"])
    return (*found.values(), *started.values())


def _file(tarball: Tarball, path: str) -> dict[str, OwnProgram]:
    """Return the file that Node starts for `path`; none where that is data, or what a folder names as its main file.

    In Node's order: showing the next one would show what does not run.
    """
    there = set(tarball.paths)
    for ending in ("", ".js", ".json", ".node", "/package.json", "/index.js"):
        if (found := f"{path}{ending}") in there:
            text = None if ending in DATA else tarball.text(found, LONGEST_PROGRAM)
            return {} if text is None else {found: OwnProgram(found, text, ProgramKind.JAVASCRIPT)}
    return {}


def lines(package: PlannedPackage) -> list[tuple[str, str]]:
    """Return the scripts of a package in the order in which they run: name and line."""
    return [(one.name, one.text) for one in package.programs if one.kind is ProgramKind.SHELL]


def bins(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the commands of a package by their names: the file of each, below its folder."""
    said, name = manifest.get("bin"), manifest.get("name")
    if isinstance(said, str) and isinstance(name, str):
        said = {name.rpartition("/")[2]: said}
    pairs = list(said.items())[:MOST_BINS] if isinstance(said, dict) else []
    return {
        command: path.removeprefix("./")
        for command, path in pairs
        if isinstance(path, str) and isinstance(command, str) and _BIN.fullmatch(command) and _is_below(path)
    }


def _is_below(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/") and path.isprintable()


def in_order(built: Iterable[PlannedPackage], needs: Mapping[str, Iterable[str]]) -> list[PlannedPackage]:
    """Return the packages so that each comes after those that it needs; where they need each other, by their names.

    `needs` has the names that a package asks for, by the places of all packages.
    """
    waiting = {one.place: one for one in sorted(built, key=lambda one: one.place)}
    found: list[PlannedPackage] = []
    seen: set[str] = set()
    for start in tuple(waiting):
        trail = [(start, False)]
        while trail:
            place, done = trail.pop()
            if done:
                if place in waiting:
                    found.append(waiting[place])
                continue
            if place in seen:
                continue
            seen.add(place)
            trail.append((place, True))
            below = (resolved(place, name, needs) for name in sorted(needs.get(place, ()), reverse=True))
            trail += [(one, False) for one in below if one]
    return found


def resolved(place: str, name: str, places: Mapping[str, object]) -> str:
    """Return the place of the package that code in the folder `place` gets for `name`; '' where it gets none."""
    folder = place
    while True:
        candidate = f"{folder}/node_modules/{name}" if folder else name
        if candidate in places:
            return candidate
        if not folder:
            return ""
        folder = folder.rpartition("/node_modules/")[0]
