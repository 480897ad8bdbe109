"""Reads what agents write for a package: a name in a registry with versions, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from runner.model.errors import Refused
from runner.risk.rules.packages import PackageOrigin, source_of

LONGEST = 200
"""Characters of one requirement."""
MOST = 50
"""Requirements of one request."""
_NPM = re.compile(r"(?P<name>(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@(?P<range>[\w.*^~<>=|+ -]*))?")
_NOT_A_NAME = "Name it as the registry does, e.g. {}; addresses, paths, options and Git are not taken."


@dataclass(frozen=True, slots=True)
class NpmRequirement:
    """A package of npm and the versions of it that will do."""

    name: str
    range: str


def python_requirements(written: tuple[str, ...]) -> tuple[Requirement, ...]:
    """Return the requirements in the form of PEP 508. Raises Refused for one that is not a name in a registry."""
    return tuple(_python(one) for one in _bounded(written))


def npm_requirements(written: tuple[str, ...]) -> tuple[NpmRequirement, ...]:
    """Return the requirements in npm's form. Raises Refused for one that is not a name in a registry."""
    return tuple(_npm(one) for one in _bounded(written))


def _bounded(written: tuple[str, ...]) -> tuple[str, ...]:
    if len(written) > MOST:
        raise Refused(f"{len(written)} packages are named; at most {MOST} are taken.", "Name fewer.")
    for one in written:
        if len(one) > LONGEST:
            raise Refused(f"A package is written in more than {LONGEST} characters.", "Name it shorter.")
    return written


def _python(written: str) -> Requirement:
    advice = _NOT_A_NAME.format("requests or requests==2.32.5")
    # What `packaging` reads as several lines or as a comment would be shown as one requirement.
    if not written.isascii() or not written.isprintable() or source_of(written, "python") is not PackageOrigin.REGISTRY:
        raise Refused(f"{written[:LONGEST]!a} is not a package of a registry.", advice)
    try:
        found = Requirement(written)
    except (InvalidRequirement, RecursionError, ValueError):
        raise Refused(f"{written!a} is not a package of a registry.", advice) from None
    if found.url is not None:
        raise Refused(f"{written!a} names an address.", advice)
    if found.marker is not None:
        raise Refused(f"{written!a} has a condition.", "Leave out what follows the semicolon.")
    found.name = canonicalize_name(found.name)
    return found


def _npm(written: str) -> NpmRequirement:
    match = _NPM.fullmatch(written.strip())
    origin = source_of(written, "javascript")
    if match is None or match["name"].startswith("-") or origin is not PackageOrigin.REGISTRY:
        advice = _NOT_A_NAME.format("lodash or lodash@4.17.21")
        raise Refused(f"{written[:LONGEST]!a} is not a package of a registry.", advice)
    return NpmRequirement(match["name"], (match["range"] or "").strip())
