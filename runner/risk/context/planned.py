"""Findings about the packages of a plan: age, names, what their authors or registry say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Touch, combined
from runner.model.plan import Oddity, Registry
from runner.model.request import NetworkMode
from runner.model.verdict import MOST_ACTS, RiskVerdict, Verb, VerdictAct
from runner.risk.verdict.code import plain_verdict
from runner.risk.verdict.naming import listed, quoted
from runner.risk.verdict.touch import MOST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.model.plan import Plan, PlannedPackage
    from runner.model.request import Request

YOUNG_SECONDS = 7 * 86_400.0
"""Age below which a release is a finding: most of those that were planted are found out within days."""
INSTALLS = "Installs packages of strangers, whose code runs as soon as it is imported."


_ODD = {
    Oddity.LOOKS_LIKE: ("look-alike", Level.CRITICAL),
    Oddity.AMBIGUOUS: ("ambiguous", Level.CRITICAL),
    Oddity.WITHDRAWN: ("yanked", Level.CRITICAL),
    Oddity.DEPRECATED: ("deprecated", Level.HIGH),
    Oddity.SCRIPTS: ("scripts", Level.CRITICAL),
}


def assess_installing(request: Request) -> Assessment:
    """Return what installing the packages of `request` would do. Pure; never raises."""
    plan = request.plan
    if plan is None:
        reason = "What would be installed is not known."
        shown = ", ".join(request.packages)[:200]
        found = Finding("package.unknown", Level.CRITICAL, Capability.PACKAGES, WHOLE, shown, reason, "T1195.001")
        touch = Touch(packages=request.packages)
        level = combined(Level.HIGH, (found,))
        return Assessment(level, (reason,), (found,), touch, RiskVerdict(reason), base=Level.HIGH)
    findings = (*planned(plan, request.received_at), *_reached(request))
    level = combined(Level.HIGH, findings)
    reasons = tuple(dict.fromkeys(one.reason for one in sorted(findings, key=lambda one: -one.level)))
    named = tuple(package.title for package in plan.packages[:MOST])
    verdict = _verdict(plan, findings)
    return Assessment(level, reasons or (INSTALLS,), findings, Touch(packages=named), verdict, base=Level.HIGH)


SAYS = {
    "package.look-alike": "has a name like another package",
    "package.ambiguous": "is a name in several indexes",
    "package.yanked": "was withdrawn by its authors",
    "package.deprecated": "is deprecated",
    "package.scripts": "has scripts for installing",
    "package.young": "is less than a week old",
    "package.undated": "has no date of release",
}
"""What the sentence says of a package; the words of its authors are for the list of findings."""


def _verdict(plan: Plan, findings: Sequence[Finding]) -> RiskVerdict:
    """Return what is installed, those first that were asked for, and the gravest of what is known of it."""
    ordered = sorted(plan.packages, key=lambda package: bool(package.wanted_by))
    source = "PyPI" if plan.registry is Registry.PYPI else "npm"
    clauses = [f"installs {listed([quoted(one.title) for one in ordered])} from {source}"]
    builds = [quoted(package.name) for package in ordered if package.builds]
    if builds:
        clauses.append(f"runs programs of {listed(builds)} while installing")
    worst = max((one for one in findings if one.id != "package.builds"), key=lambda one: one.level, default=None)
    acts = [VerdictAct(Verb.INSTALLS, quoted(one.title), place=one.name[:80]) for one in ordered[:MOST_ACTS]]
    known = None if worst is None or worst.level < Level.HIGH else SAYS.get(worst.id)
    told = f"{quoted(worst.evidence)} {known}." if worst is not None and known else ""
    return plain_verdict(clauses, *acts, more=told)


def planned(plan: Plan, now: float) -> Iterator[Finding]:
    """Findings about the packages of a plan, at the time `now` (seconds since the epoch)."""
    for package in plan.packages:
        yield from _about(package, plan.registry, now)


def _reached(request: Request) -> Iterator[Finding]:
    if request.network is not NetworkMode.NONE:
        shown = ", ".join(request.domains)[:200]
        reason = "What is built could reach these hosts."
        yield Finding("request.network", Level.CRITICAL, Capability.NETWORK, WHOLE, shown, reason, "T1071")


def _about(package: PlannedPackage, registry: Registry, now: float) -> Iterator[Finding]:
    for oddity, words in package.oddities.items():
        yield _finding(*_ODD[oddity], package, words)
    if package.builds:
        yield _builds(package)
    if package.released_at > 0 and now - package.released_at < YOUNG_SECONDS:
        days = max(0, int((now - package.released_at) // 86_400))
        reason = f"This version is {days or 'less than a'} {'day' if days <= 1 else 'days'} old; few have looked at it."
        yield _finding("young", Level.HIGH, package, reason)
    if not package.released_at and registry is Registry.PYPI:
        yield _finding("undated", Level.HIGH, package, "The registry does not say when this version was released.")


def _builds(package: PlannedPackage) -> Finding:
    named = ", ".join(program.name for program in package.programs[:6])
    reason = f"It runs programs of its own while it is installed: {named}."
    if package.build_files:
        reason += f" Built with {', '.join(one.title for one in package.build_files[:6])}."
    return _finding("builds", Level.CRITICAL, package, reason)


def _finding(what: str, level: Level, package: PlannedPackage, reason: str) -> Finding:
    return Finding(f"package.{what}", level, Capability.PACKAGES, WHOLE, package.title[:200], reason, "T1195.001")
