"""The front door of the classifier: from a request to its assessment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from runner.assessment import Assessment, Capability, Finding, Level, Span, Touch
from runner.request import NetworkMode, Request, Tool
from runner.risk.lines import Lines
from runner.risk.text import tricks

MOST_CHARACTERS = 2_000_000
"""Code longer than this is not read at all (twice what the gateway takes by default)."""

NOT_READ = "The code is too large to assess."


def assess(request: Request) -> Assessment:
    """What `request` would do, and how much that matters. Pure; never raises, whatever the code is.

    Levels are those of spec R1: running code is at least HIGH, network access is CRITICAL.
    """
    match request.tool:
        case Tool.CODE_SANDBOX_INFO:
            return Assessment(Level.LOW, ("Only reads what the sandbox says about itself.",))
        case Tool.CODE_EXECUTE:
            return _assess_code(request)
        case _:
            assert_never(request.tool)


def _assess_code(request: Request) -> Assessment:
    if len(request.code) > MOST_CHARACTERS:
        return unreadable(NOT_READ)
    findings = in_order((*tricks(Lines(request.code)), *_surroundings(request)))
    level = max((finding.level for finding in findings), default=Level.HIGH)
    touch = Touch(hosts=request.domains, packages=request.packages)
    return Assessment(max(level, Level.HIGH), _reasons(findings), findings, touch)


def unreadable(reason: str) -> Assessment:
    """The assessment of code that could not be read to the end."""
    finding = Finding(
        "risk.unreadable", Level.CRITICAL, Capability.UNREADABLE, Span(1, 0, 1, 0), "", reason, "CWE-1007"
    )
    return Assessment(Level.CRITICAL, (reason,), (finding,))


def _surroundings(request: Request) -> Iterable[Finding]:
    if request.network is not NetworkMode.NONE:
        yield Finding(
            "request.network",
            Level.CRITICAL,
            Capability.NETWORK,
            Span(1, 0, 1, 0),
            ", ".join(request.domains)[:200],
            "The code would have network access.",
            "T1071",
        )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by place, the worst first where several start together, none twice."""
    unique = {(finding.id, finding.span): finding for finding in findings}
    return tuple(sorted(unique.values(), key=lambda f: (f.span.line, f.span.column, -f.level, f.id)))


def _reasons(findings: Iterable[Finding]) -> tuple[str, ...]:
    worst = sorted(findings, key=lambda finding: -finding.level)
    told = tuple(dict.fromkeys(finding.reason for finding in worst))
    return told or ("Runs code; nothing in it stands out.",)
