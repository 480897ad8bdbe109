"""A package plan in words: its totals, and what is known of each package and what is odd about it."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.parts import dates
from app.parts.amounts import size
from app.parts.text.visible_characters import visible
from runner.model import engine_texts
from runner.model.plan import Oddity, Registry
from runner.model.translation import plural, tr
from runner.packages.sdist import BUILD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.plan import Plan, PlannedPackage

NEW_DAYS = 7
"""A release younger than this is pointed out: most malicious ones are found and removed within days."""
SHORT_HASH = 10
_DAY = 86_400.0
_YEAR = 365.25 * _DAY
ODD = {
    Oddity.LOOKS_LIKE: partial(plural, "{count} looks like another name", "{count} look like other names"),
    Oddity.AMBIGUOUS: partial(plural, "{count} is in several indexes", "{count} are in several indexes"),
    Oddity.WITHDRAWN: partial(plural, "{count} was withdrawn", "{count} were withdrawn"),
    Oddity.DEPRECATED: partial(plural, "{count} is deprecated", "{count} are deprecated"),
    Oddity.SCRIPTS: partial(plural, "{count} has install scripts", "{count} have install scripts"),
}
"""What is said of how many such packages."""
_LISTED = 3
"""Packages that are named where others are counted."""
_LONG_WORD = re.compile(r"\S{24}")
_DOT = "  \N{MIDDLE DOT}  "


def totals(plan: Plan, *, short: bool = False) -> str:
    """Return what would be installed in one sentence: how many, how large, from where and, unless `short`, for what."""
    hosts = ", ".join(map(visible, plan.hosts)) or tr("what was fetched before")
    planned = tr("; planned for {target}", target=visible(plan.target)) if plan.target and not short else ""
    return plural(
        "{count} package, {size}, from {hosts}{planned}.",
        "{count} packages, {size}, from {hosts}{planned}.",
        len(plan.packages),
        size=size(plan.size),
        hosts=hosts,
        planned=planned,
    )


def installed(plan: Plan) -> str:
    """Return what the kept sandbox had already, and what the plan therefore relies on; empty where it had nothing."""
    return tr("Installed already: {map}.", map=", ".join(map(visible, plan.installed))) if plan.installed else ""


def notable(plan: Plan, now: float | None = None) -> str:
    """Return how many packages have something odd about them, by what it is; empty where none has."""
    now = time.time() if now is None else now
    odd = [oddity for package in plan.packages for oddity in package.oddities]
    found = [ODD[oddity](count) for oddity in Oddity if (count := odd.count(oddity))]
    if built := len(plan.built):
        found.append(plural("{count} runs its own programs", "{count} run their own programs", built))
    if new := sum(is_new(one, now) for one in plan.packages):
        found.append(plural("{count} is less than a week old", "{count} are less than a week old", new))
    return tr("Look closer: {found}.", found=", ".join(found)) if found else ""


def is_new(package: PlannedPackage, now: float) -> bool:
    """Return whether this version was released less than a week ago."""
    return bool(package.released_at) and now - package.released_at < NEW_DAYS * _DAY


def age(package: PlannedPackage, now: float) -> str:
    """Return how old this version is."""
    if not package.released_at:
        return tr("release date not known")
    seconds = max(0.0, now - package.released_at)
    if seconds < _DAY:
        return tr("released today")
    if seconds < 60 * _DAY:
        return plural("{count} day old", "{count} days old", int(seconds // _DAY))
    if seconds < 2 * _YEAR:
        return tr("{seconds} months old", seconds=int(seconds // (30.44 * _DAY)))
    return tr("{seconds} years old", seconds=int(seconds // _YEAR))


def past(package: PlannedPackage) -> str:
    """Return how long the package has existed and in how many versions; empty where neither is known."""
    versions = plural("{count} version", "{count} versions", package.versions) if package.versions else ""
    since = _since(package.first_released_at, time.time()) if package.first_released_at else ""
    return " ".join(part for part in (versions, since) if part)


def _since(released: float, now: float) -> str:
    """Return the year of a first release, and its month while it is recent."""
    moment = time.gmtime(released)
    return tr("since {when}", when=moment.tm_year if now - released > _YEAR else dates.written(moment, dates.MONTH))


def wanted_by(package: PlannedPackage) -> str:
    """Return who needs it."""
    if not package.wanted_by:
        return tr("asked for by the agent")
    names = [visible(name) for name in package.wanted_by]
    more = tr(" and {count} more", count=len(names) - _LISTED) if len(names) > _LISTED else ""
    return tr("needed by {names}{more}", names=", ".join(names[:_LISTED]), more=more)


def host(package: PlannedPackage) -> str:
    """Return the host that the file comes from."""
    try:
        return visible(urlsplit(package.url).hostname or "") or tr("host not known")
    except ValueError:
        return visible(package.url)


def facts(package: PlannedPackage, now: float) -> str:
    """Return what is known of a package besides its age, on one line."""
    short = f"sha256\N{NO-BREAK SPACE}{package.sha256[:SHORT_HASH]}"
    place = tr("in {place}", place=visible(package.place)) if package.place else ""
    index = tr("found in {index}", index=visible(package.index)) if package.index else ""
    # What tells it apart comes first: in a small window the rest may be cut.
    return _DOT.join(part for part in (wanted_by(package), short, past(package), host(package), index, place) if part)


def warnings(package: PlannedPackage) -> tuple[str, ...]:
    """Return in sentences what is odd about a package, what misleads most first."""
    return (*(visible(engine_texts.in_words(one)) for one in package.oddities.values()), *_runs(package))


def _runs(package: PlannedPackage) -> Iterator[str]:
    """Yield in sentences what of a package runs; a text that is long is a part of the request by itself."""
    apart = [visible(one.name) for one in package.programs if not one.is_short]
    if backend := next((one.text for one in package.programs if one.name == BUILD), ""):
        runs = tr(", which runs {apart}", apart=", ".join(apart)) if apart else ""
        yield tr("Has to be built by {partition}{runs}.", partition=visible(backend.partition(",")[0]), runs=runs)
        return
    yield from (
        tr("Runs {name}: {words}", name=visible(one.name), words=visible(one.text))
        for one in package.programs
        if one.is_short
    )
    if apart:
        yield tr("Runs {apart}, shown by themselves.", apart=", ".join(apart))


def reach(plan: Plan, domains: tuple[str, ...]) -> str:
    """Return where programs of packages would run, and what they reach; empty where there are none."""
    if not plan.built:
        return ""
    if domains:
        return tr("Builds run apart from the agent's files and reach {map} only.", map=", ".join(map(visible, domains)))
    return tr("Builds run apart from the agent's files, without network; the hosts they ask for show in the run.")


def built_with(package: PlannedPackage) -> tuple[str, ...]:
    """Return the files that the build of a package uses, a line each."""
    return tuple(
        tr(
            "Built with {title}: {file}, {size}, sha256 {sha256}",
            title=visible(one.title),
            file=visible(one.file),
            size=size(one.size),
            sha256=one.sha256,
        )
        for one in package.build_files
    )


def in_order(plan: Plan) -> tuple[PlannedPackage, ...]:
    """Return the packages, those that something is odd about first, then those that the agent named."""
    now = time.time()
    odd = [(not warnings(one), not is_new(one, now), bool(one.wanted_by), one.name, one.place) for one in plan.packages]
    return tuple(one for _, one in sorted(zip(odd, plan.packages, strict=True), key=lambda pair: pair[0]))


def breakable(text: str) -> str:
    """Return `text` for the screen only: a word that is longer than a line may break."""
    return _LONG_WORD.sub("\\g<0>\N{ZERO WIDTH SPACE}", text)


def spoken(package: PlannedPackage, now: float) -> str:
    """Return all of a row, for screen readers."""
    parts = (f"{visible(package.name)} {visible(package.version)}", age(package, now), size(package.size))
    return ", ".join((*parts, past(package), wanted_by(package), host(package), *warnings(package)))


def whole(package: PlannedPackage) -> str:
    """Return every value that identifies the file, a line each, to be copied."""
    place = tr("\nplace: {place}", place=package.place) if package.place else ""
    tools = "".join(
        tr("\nbuilt with {file} sha256:{sha256}\n{url}", file=one.file, sha256=one.sha256, url=one.url)
        for one in package.build_files
    )
    return f"{package.name}=={package.version}\n{package.file}{place}\nsha256:{package.sha256}\n{package.url}{tools}"


def registry(plan: Plan) -> str:
    """Return the kind of registry as its users write it."""
    return {Registry.PYPI: "PyPI", Registry.NPM: "npm"}[plan.registry]
