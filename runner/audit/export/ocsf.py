"""Events of the Open Cybersecurity Schema Framework (OCSF) 1.8.0: one API Activity for each request, as JSON Lines.

The class is API Activity (6003) with the profile `security_control`: an agent called a tool, and was allowed or not.
Code and output are not in it, as these events travel further than the history does.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from runner.audit.export.shown import seen
from runner.audit.export.table import findings, sandbox
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.request import Tool, canonical
from runner.model.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from runner.audit.export.source import ExportedRequest
    from runner.audit.row import Row

VERSION = "1.8.0"
"""Version of the schema whose classes, names and numbers are used here."""
CATEGORY, CLASS = 6, 6003
OTHER = 99
_ACTIVITIES = {
    Tool.CODE_CREATE_SANDBOX: (1, "Create"),
    Tool.CODE_READ_FILE: (2, "Read"),
    Tool.CODE_LIST_FILES: (2, "Read"),
    Tool.CODE_SANDBOX_INFO: (2, "Read"),
    Tool.CODE_WRITE_FILE: (3, "Update"),
    Tool.CODE_DESTROY_SANDBOX: (4, "Delete"),
}
"""`activity_id` and its name; what runs code is none of them."""
_SEVERITY = {
    Level.LOW: (2, "Low"),
    Level.MEDIUM: (3, "Medium"),
    Level.HIGH: (4, "High"),
    Level.CRITICAL: (5, "Critical"),
}
_TECHNIQUE = re.compile(r"T\d{4}(\.\d{3})?", re.ASCII)
_ENDPOINT = {"name": "localhost", "ip": "127.0.0.1"}
"""Agents reach Assent on this machine only."""


def ocsf_events(requests: Iterable[ExportedRequest]) -> Generator[str, None, None]:
    """Yield one line for each request. Only ASCII: no character in it ends a line or reorders it on screen."""
    for request in requests:
        yield canonical(_event(request)).decode("ascii") + "\n"


def _event(request: ExportedRequest) -> dict[str, Any]:
    row = request.row
    activity, name = (0, "Unknown") if row is None else _ACTIVITIES.get(row.tool, (OTHER, "Execute"))
    event: dict[str, Any] = {
        "activity_id": activity,
        "activity_name": name,
        "category_uid": CATEGORY,
        "category_name": "Application Activity",
        "class_uid": CLASS,
        "class_name": "API Activity",
        "type_uid": CLASS * 100 + activity,
        "type_name": f"API Activity: {'Other' if activity == OTHER else name}",
        "metadata": _metadata(request),
        "src_endpoint": _ENDPOINT,
    }
    if row is None:
        return event | {
            "time": _first_time(request),
            "severity_id": 0,
            "status_id": 0,
            "actor": {"app_name": "unknown"},
            "api": {"operation": "unknown", "request": {"uid": request.line.id}},
            "unmapped": {"problem": seen(request.problem)},
        }
    return event | _known(request, row)


def _known(request: ExportedRequest, row: Row) -> dict[str, Any]:
    severity, severity_name = (0, "Unknown") if row.level is None else _SEVERITY[row.level]
    found: dict[str, Any] = {
        "time": _milliseconds(row.arrived_at),
        "start_time": _milliseconds(row.started_at),
        "end_time": _milliseconds(row.finished_at),
        "duration": None if row.duration is None else round(row.duration * 1000),
        "severity_id": severity,
        "severity": severity_name,
        "message": _message(row),
        "actor": {"app_name": seen(row.agent)},
        "api": {
            "operation": str(row.tool),
            "request": {"uid": row.id},
            "response": _response(request, row),
            "service": {"name": "Assent"},
        },
        "attacks": _attacks(request),
        **_status(request, row),
        **_control(row),
        "unmapped": {
            "digest": row.digest,
            "language": row.language,
            "decided_by": row.decider,
            "waited_seconds": row.waited,
            "findings": findings(request),
            "sandbox": sandbox(request),
            "problem": seen(request.problem),
        },
    }
    found["unmapped"] = {name: value for name, value in found["unmapped"].items() if value not in (None, "", [])}
    return {name: value for name, value in found.items() if value not in (None, "", [], {})}


def _metadata(request: ExportedRequest) -> dict[str, Any]:
    return {
        "version": VERSION,
        "product": {"name": "Assent", "vendor_name": "Assent", "version": _own_version()},
        "profiles": ["security_control"],
        "uid": request.line.id,
        "sequence": request.line.seq,
        "log_name": "ledger",
    }


def _status(request: ExportedRequest, row: Row) -> dict[str, Any]:
    """Return whether the call did what the agent wanted; unknown while nobody has decided or it still runs."""
    if row.verdict not in (None, Verdict.APPROVED):
        number, name, code = 2, "Failure", str(row.verdict)
    elif row.outcome is not None:
        good = row.outcome is Outcome.OK
        number, name, code = (1, "Success", str(row.outcome)) if good else (2, "Failure", str(row.outcome))
    else:
        number, name, code = 0, "Unknown", str(row.phase)
    reason = request.decision.get("reason")
    return {
        "status_id": number,
        "status": name,
        "status_code": code,
        "status_detail": seen(reason) if isinstance(reason, str) else "",
    }


def _control(row: Row) -> dict[str, Any]:
    """Return the attributes of the profile `security_control`."""
    if row.verdict is None:
        decided: dict[str, Any] = {"action_id": 0, "action": "Unknown", "disposition_id": 0, "disposition": "Unknown"}
    elif row.verdict is Verdict.APPROVED:
        decided = {"action_id": 1, "action": "Allowed", "disposition_id": 1, "disposition": "Allowed"}
    else:
        decided = {"action_id": 2, "action": "Denied", "disposition_id": 2, "disposition": "Blocked"}
    if row.rule:
        decided["policy"] = {"name": seen(row.rule), "is_applied": True}
    if row.level is not None:
        decided["risk_level_id"], decided["risk_level"] = int(row.level), row.level.name.capitalize()
    return decided


def _response(request: ExportedRequest, row: Row) -> dict[str, Any]:
    error = request.result.get("error")
    response = {"code": row.exit_code, "message": row.outcome, "error_message": seen(error) if error else ""}
    return {name: value for name, value in response.items() if value not in (None, "")}


def _attacks(request: ExportedRequest) -> list[dict[str, Any]]:
    """Return the ATT&CK techniques that findings refer to, each once."""
    found = request.assessment.get("findings")
    named = [one.get("reference") for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [_attack(name) for name in dict.fromkeys(named) if isinstance(name, str) and _TECHNIQUE.fullmatch(name)]


def _attack(name: str) -> dict[str, Any]:
    attack: dict[str, Any] = {"technique": {"uid": name[:5]}}
    return attack | {"sub_technique": {"uid": name}} if "." in name else attack


def _message(row: Row) -> str:
    what = " ".join(filter(None, (str(row.tool), row.language and str(row.language))))
    decided = f"{row.verdict} by {row.decider}" if row.verdict else str(row.phase)
    return seen(f"{row.agent}: {what}, {decided}{f', {row.outcome}' if row.outcome else ''}")


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1000)


def _first_time(request: ExportedRequest) -> int:
    return request.steps[0].at // 1000 if request.steps else 0


@cache
def _own_version() -> str:
    try:
        return metadata.version("assent")
    except metadata.PackageNotFoundError:
        return "0"
