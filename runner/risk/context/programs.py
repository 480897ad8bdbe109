"""Findings about the programs of packages that run while these are installed, as far as their text is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, combined
from runner.model.plan import ProgramKind
from runner.model.request import Language, Request, Tool
from runner.risk.model.bounds import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.model.plan import OwnProgram, PlannedPackage

MOST_READ = 12
"""Programs that are followed; each takes its time, and the plan is CRITICAL in any case."""
LANGUAGES = {
    ProgramKind.PYTHON: Language.PYTHON,
    ProgramKind.JAVASCRIPT: Language.JAVASCRIPT,
    ProgramKind.SHELL: Language.SHELL,
}


def with_programs(assessment: Assessment, request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    """Return `assessment` with what is found in the programs of the packages. Pure; never raises."""
    plan = request.plan
    if plan is None or not plan.built:
        return assessment
    pairs = [(package, one) for package in plan.built for one in package.programs if one.kind in LANGUAGES]
    found: list[Finding] = []
    for package, program in pairs[:MOST_READ]:
        found += _found(package, program, classify)
    if len(pairs) > MOST_READ:
        reason = f"Of {len(pairs)} programs of packages only the first {MOST_READ} were read."
        found.append(Finding("package.unread", Level.CRITICAL, Capability.UNREADABLE, WHOLE, "", reason, "T1195.001"))
    reasons = tuple(
        dict.fromkeys((*assessment.reasons, *(one.reason for one in sorted(found, key=lambda f: -f.level))))
    )
    findings = (*assessment.findings, *found)
    level = combined(Level.CRITICAL, findings)
    return replace(assessment, level=level, reasons=reasons, findings=findings, base=Level.CRITICAL)


def _found(
    package: PlannedPackage, program: OwnProgram, classify: Callable[[Request], Assessment]
) -> Iterator[Finding]:
    """Yield each kind of finding in one program once; they belong to no line of the request's own code."""
    read = classify(Request("", "", Tool.CODE_EXECUTE, 0.0, LANGUAGES[program.kind], program.text))
    seen: set[str] = set()
    for finding in read.findings:
        if finding.id not in seen:
            seen.add(finding.id)
            where = f"{excerpt(package.title, 100)}, {excerpt(program.name, 100)}"
            yield replace(finding, span=WHOLE, reason=f"In {where}: {finding.reason}")
