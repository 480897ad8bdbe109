"""Reads what a registry of npm says about one package. All of it is untrusted."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from runner.packages.failures import Unusable
from runner.packages.index import bounded_json, moment, plain
from runner.packages.semver import SemVer, range_of, version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ACCEPT = "application/json"
MOST_VERSIONS = 50_000
CHECKED_EVERY = 500
"""Versions looked at between two looks at the time."""
MOST_NEEDS = 1_000
LONGEST_RANGE = 300
LONGEST_NAME = 214
"""Characters of a name, as npm has it."""
NAME = re.compile(r"(?:@[A-Za-z0-9~_-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~_-][A-Za-z0-9._~-]*")
SCRIPTS = ("preinstall", "install", "postinstall")
"""Scripts that run when a package is installed, in this order."""


@dataclass(frozen=True, slots=True)
class NpmVersion:
    """One version of a package, as its registry announces it."""

    name: str
    text: str
    number: SemVer
    url: str
    sha512: bytes
    released_at: float
    needs: Mapping[str, str]
    optional: frozenset[str]
    """Names of `needs` that may be missing."""
    peers: Mapping[str, str]
    os: tuple[str, ...]
    cpu: tuple[str, ...]
    libc: tuple[str, ...]
    deprecated: str
    scripts: tuple[str, ...]
    summary: str
    problem: str = ""
    """Why it is not used, where what it says of itself is not in order."""


@dataclass(frozen=True, slots=True)
class Packument:
    """All versions of a package."""

    name: str
    versions: tuple[NpmVersion, ...]
    """The latest first."""
    latest: str
    first_released_at: float

    def best(self, wanted: str, check: Callable[[], object]) -> NpmVersion | None:
        """Return the version that npm would take for a range: that named latest where it fits. Raises NotARange.

        `check` is called again and again, and raises where no time is left: a registry may list very many versions.
        """
        fits = range_of(wanted)
        found = []
        for at, one in enumerate(self.versions):
            if at % CHECKED_EVERY == 0:
                check()
            if fits.allows(one.number):
                found.append(one)
        named = [one for one in found if one.text == self.latest]
        current = [one for one in found if not one.deprecated]
        return next(iter((*named, *current, *found)), None)


def read(data: bytes, name: str, url: str) -> Packument:
    """Return what the answer from `url` says about the package `name`. Raises Unusable."""
    try:
        page = bounded_json(data)
    except (ValueError, RecursionError) as error:
        raise Unusable("its registry answers with a page that cannot be read") from error
    listed = _table(page.get("versions")) if isinstance(page, dict) else {}
    if not listed or len(listed) > MOST_VERSIONS:
        raise Unusable("its registry answers with a page that cannot be read")
    times = _table(page.get("time"))
    found = [one for text, said in listed.items() if (one := _version(name, text, said, times, url)) is not None]
    first = min((moment(times.get(text)) for text in listed if moment(times.get(text))), default=0.0)
    latest = _table(page.get("dist-tags")).get("latest")
    return Packument(
        name,
        tuple(sorted(found, key=lambda one: one.number.key, reverse=True)),
        latest if isinstance(latest, str) else "",
        first,
    )


def _version(name: str, text: str, said: object, times: Mapping[str, Any], url: str) -> NpmVersion | None:
    number = version(text)
    if number is None or not isinstance(said, dict) or said.get("name") != name:
        return None
    dist = _table(said.get("dist"))
    sha512 = _sha512(dist.get("integrity"))
    link = dist.get("tarball")
    if not sha512 or not isinstance(link, str):
        return None
    needs: dict[str, str] = {}
    optional: dict[str, str] = {}
    peers: dict[str, str] = {}
    problem = ""
    try:
        optional, peers = _ranges(said.get("optionalDependencies")), _ranges(said.get("peerDependencies"))
        needs = _ranges(said.get("dependencies")) | optional
    except Unusable as error:
        problem = str(error)
    marked = _table(said.get("peerDependenciesMeta"))
    needed = {one: wanted for one, wanted in peers.items() if _table(marked.get(one)).get("optional") is not True}
    scripts = _table(said.get("scripts"))
    return NpmVersion(
        name=name,
        text=text,
        number=number,
        url=urljoin(url, link)[:2_000],
        sha512=sha512,
        released_at=moment(times.get(text)),
        needs=needs,
        optional=frozenset(optional),
        peers=needed,
        os=_words(said.get("os")),
        cpu=_words(said.get("cpu")),
        libc=_words(said.get("libc")),
        deprecated=plain(said["deprecated"]) if isinstance(said.get("deprecated"), str) else "",
        scripts=tuple(one for one in SCRIPTS if one in scripts)
        or (("install",) if said.get("hasInstallScript") is True else ()),
        summary=plain(said["description"])[:200] if isinstance(said.get("description"), str) else "",
        problem=problem,
    )


def fits(listed: tuple[str, ...], here: str) -> bool:
    """Return whether a list such as `os` allows `here`; `!name` forbids one, an empty list allows all."""
    if not listed or "any" in listed:
        return True
    if f"!{here}" in listed:
        return False
    return here in listed or all(one.startswith("!") for one in listed)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _ranges(value: object) -> dict[str, str]:
    found = {name: wanted for name, wanted in _table(value).items() if isinstance(wanted, str)}
    if len(found) > MOST_NEEDS or any(len(one) > LONGEST_RANGE for one in found.values()):
        raise Unusable(f"it names more than {MOST_NEEDS:,} requirements, or one that is too long")
    for name in found:
        if NAME.fullmatch(name) is None or len(name) > LONGEST_NAME:
            raise Unusable(f"it asks for {name[:80]!a}, which is no name of a package")
    return found


def _words(value: object) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    return tuple(one[:40] for one in listed[:100] if isinstance(one, str)) if isinstance(listed, list) else ()


def _sha512(value: object) -> bytes:
    """Return the hash in Subresource Integrity's form; empty for another."""
    for one in value.split()[:10] if isinstance(value, str) else ():
        kind, _, text = one.partition("-")
        if kind == "sha512":
            try:
                found = base64.b64decode(text.partition("?")[0], validate=True)
            except (binascii.Error, ValueError):
                continue
            if len(found) == 64:
                return found
    return b""
