"""Entry points of installed packages, found without loading any of them."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

USABLE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""How what an installed package brings may be called in a setting."""
LONGEST = 200
"""Characters of what a package says of itself, on one line."""


def entries(group: str) -> tuple[EntryPoint, ...]:
    """Return what installed packages bring in a group, without packages of which the description cannot be read.

    Reads folders of this machine.
    """
    from importlib.metadata import distributions  # takes longer than all of this, and is seldom needed

    found: dict[tuple[str, str, str], EntryPoint] = {}
    seen: set[str] = set()
    for package in distributions():
        # One package with a broken description must not be the end of the page of settings, or of the start.
        with contextlib.suppress(Exception):
            called = str(package.metadata["Name"]).lower()
            if called not in seen:  # the first in the path of imports is the one that is imported
                seen.add(called)
                found |= {(called, one.name, one.value): one for one in package.entry_points if one.group == group}
    return tuple(found.values())


def the_one(group: str, name: str, kind: str) -> EntryPoint:
    """Return the entry point of that name; `kind` is the word for what it brings, as `sandbox`.

    Raises KnownError where there is none, or more than one.
    """
    every = entries(group)
    there = tuple(one for one in every if one.name == name)
    packages = sorted({package_of(one) for one in there})
    if not there:
        names = sorted({one.name for one in every})
        others = f"There are: {', '.join(names)}." if names else "No package here brings one."
        raise KnownError(
            f"No installed package brings a {kind} with the name {name}. {others}",
            f"Install its package beside Assent, or choose another {kind} in Settings.",
        )
    if len(packages) > 1 or len({one.value for one in there}) > 1:
        raise KnownError(
            f"More than one {kind} has the name {name}: of {' and of '.join(packages)}. None is taken.",
            "Remove all but one of these packages.",
        )
    return there[0]


def names(group: str) -> tuple[str, ...]:
    """Return the names that installed packages bring in a group, and that a setting can name, in order."""
    return tuple(sorted({one.name for one in entries(group) if USABLE.fullmatch(one.name)}))


def package_of(entry: EntryPoint) -> str:
    """Return the name and version of the package that brings it."""
    return f"{line(entry.dist.name)} {line(entry.dist.version)}" if entry.dist is not None else "an unknown package"


def error_line(error: BaseException) -> str:
    """Return what can be shown on one line of an error of a package."""
    return f"{type(error).__name__}: {line(str(error))}".rstrip(": ")


def line(said: object) -> str:
    """Return what can be shown on one line of what a package says."""
    return "".join(one if one.isprintable() else " " for one in str(said)[:LONGEST]).strip()
