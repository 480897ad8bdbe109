"""An assessment as SARIF 2.1.0, which code hosts and editors show beside the lines."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from runner.model.assessment import Level

if TYPE_CHECKING:
    from runner.model.assessment import Assessment, Finding
    from runner.model.span import Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Level.CRITICAL: "error", Level.HIGH: "warning", Level.MEDIUM: "note", Level.LOW: "note"}
SEVERITIES = {Level.CRITICAL: "9.0", Level.HIGH: "6.0", Level.MEDIUM: "4.0", Level.LOW: "1.0"}
"""Severity by level, from 0 to 10: code hosts sort by it."""


def log(assessment: Assessment, file: str, version: str) -> dict[str, Any]:
    """Return a SARIF log with one run about one file. A path below the working folder stays relative.

    What belongs to no line, as what is found about packages, has no region: it is about the whole file.
    """
    rules: dict[str, Finding] = {}
    for finding in assessment.findings:
        rules.setdefault(finding.id, finding)
    order = list(rules)
    results = [_result(finding, order.index(finding.id), file) for finding in assessment.findings]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "Assent", "version": version, "rules": [_rule(one) for one in rules.values()]}
                },
                "columnKind": "unicodeCodePoints",
                "results": results,
                "properties": {"level": assessment.level.name, "reasons": list(assessment.reasons)},
            }
        ],
    }


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "shortDescription": {"text": finding.reason},
        "defaultConfiguration": {"level": LEVELS[finding.level]},
        "properties": {
            "tags": [finding.capability.value, *([finding.reference] if finding.reference else [])],
            "security-severity": SEVERITIES[finding.level],
        },
    }


def _result(finding: Finding, index: int, file: str) -> dict[str, Any]:
    uri = quote(PurePath(file).as_posix()) if file != "-" else "stdin"
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.span.place:
        place["region"] = _region(finding.span)
    return {
        "ruleId": finding.id,
        "ruleIndex": index,
        "level": LEVELS[finding.level],
        "message": {"text": finding.reason},
        "locations": [{"physicalLocation": place}],
    }


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }
