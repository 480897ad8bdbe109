"""Findings about packages before they are installed: their source, and names that only look like known ones."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from itertools import pairwise

from runner.model.expression import expression
from runner.risk.rules.knowledge import table

SHORTEST = 5
"""Letters of a name below which a single other letter makes simply another name (`six`, `sir`)."""

URL = expression(r"(?i)(?:^|[\s@=])(?:git\+|hg\+|svn\+|bzr\+)?(?:https?|ssh|git|ftp|file)://|^git@|\.git(?:[#@]|$)")
HOSTED = expression(r"^(?:(?:github|gitlab|bitbucket|gist):)?[\w.-]+/[\w.-]+(?:#[\w./-]+)?$")
LOCAL = expression(r"^(?:\.{1,2}(?:/|$)|/|~/)|^[^@]*\.(?:whl|tgz|zip|tar\.(?:gz|bz2|xz))$")
NAME = expression(r"^(@[\w.-]+/[\w.-]+|[A-Za-z0-9][\w.-]*)")
SCOPED = expression(r"^@[\w.-]+/")


class PackageOrigin(StrEnum):
    """Where a package comes from, by how it is written."""

    REGISTRY = "registry"
    ADDRESS = "address"
    """An address of its own, such as a Git repository or an archive."""
    FOLDER = "folder"
    OPTION = "option"
    """Not a package at all, but an option for the installer."""


def source_of(written: str, ecosystem: str) -> PackageOrigin:
    """Return where the package that is written like this comes from. `ecosystem` is `python` or `javascript`."""
    written = written.strip()
    if written.startswith("-"):
        return PackageOrigin.OPTION
    if URL.search(written):
        return PackageOrigin.ADDRESS
    if LOCAL.match(written):
        return PackageOrigin.FOLDER
    if ecosystem == "javascript" and HOSTED.match(written) and not SCOPED.match(written):
        return PackageOrigin.ADDRESS
    return PackageOrigin.REGISTRY


def name_of(written: str, ecosystem: str) -> str:
    """Return the name alone, without version and extras, as registries compare names."""
    match = NAME.match(written.strip())
    if match is None:
        return ""
    name = match[1].lower()
    # Python's registry takes `-`, `_` and `.` for the same; npm's does not.
    return re.sub(r"[-_.]+", "-", name) if ecosystem == "python" else name


def fixed(written: str, ecosystem: str) -> bool:
    """Return whether one version is named."""
    if ecosystem == "python":
        return re.search(r"={2,3}\s*[\w.!+]+$", written) is not None
    return re.search(r"(?!^)@v?\d+\.\d+\.\d+[\w.+-]*$", written) is not None


def mistaken_for(name: str, ecosystem: str) -> str:
    """Return the much-used name that `name` looks like; empty when it is one itself or looks like none."""
    known = popular(ecosystem)
    plain = name.replace(".", "-") if ecosystem == "javascript" else name
    if not plain or plain in known or plain.startswith("@"):
        return ""
    folded = _folded(plain)
    for one, alike in _long(ecosystem):
        if folded == alike or (abs(len(one) - len(plain)) <= 1 and one_slip(plain, one)):
            return one
    return ""


def one_slip(name: str, known: str) -> bool:
    """Return whether one letter added, left out, replaced or swapped with its neighbor makes one of the other."""
    if len(name) > len(known):
        name, known = known, name
    at = next((i for i, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), len(name))
    if len(name) < len(known):
        return name[at:] == known[at + 1 :]
    if name[at + 1 :] == known[at + 1 :]:
        return at < len(name)
    return name[at : at + 2] == known[at : at + 2][::-1] and name[at + 2 :] == known[at + 2 :]


@cache
def popular(ecosystem: str) -> frozenset[str]:
    """Return the most used names of a registry, as `name_of` gives them."""
    return frozenset(str(table()["popular"].get(ecosystem, "")).split())


@cache
def _long(ecosystem: str) -> tuple[tuple[str, str], ...]:
    """Return the names that are long enough to be mistaken, each with what it reads as."""
    return tuple((name, _folded(name)) for name in sorted(popular(ecosystem)) if len(name) >= SHORTEST)


def _folded(name: str) -> str:
    """Return a form that is the same for names that look alike: separators, doubled letters, digits for letters."""
    plain = name.translate(str.maketrans("0135", "oles")).replace("-", "").replace("vv", "w").replace("rn", "m")
    return plain[:1] + "".join(b for a, b in pairwise(plain) if a != b)
