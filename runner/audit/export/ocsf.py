"""Events of the Open Cybersecurity Schema Framework (OCSF) 1.8.0: one API Activity for each request, as JSON Lines.

The class is API Activity (6003) with the profile `security_control`: an agent called a tool, and was allowed or not.
Code and output are not in it, as these events travel further than the history does.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from importlib import metadata
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any

from runner.audit.export.shown import seen
from runner.audit.export.table import findings, sandbox, techniques
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.request import Tool, canonical
from runner.model.result import Outcome
from runner.model.tool_facts import FACTS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from runner.audit.export.source import ExportedRequest
    from runner.audit.ledger.row import Row
    from runner.model.decision import Decider
    from runner.model.lifecycle import Phase
    from runner.model.request import Language

VERSION = "1.8.0"
"""Version of the schema whose classes, names and numbers are used here."""
CATEGORY, CLASS = 6, 6003
OTHER = 99
_SEVERITY = {
    Level.LOW: (2, "Low"),
    Level.MEDIUM: (3, "Medium"),
    Level.HIGH: (4, "High"),
    Level.CRITICAL: (5, "Critical"),
}
_TECHNIQUE = re.compile(r"T\d{4}(\.\d{3})?", re.ASCII)
_ENDPOINT = {"name": "localhost", "ip": "127.0.0.1"}
"""Agents reach Assent on this machine only."""
FEW = 1024
"""Different ones that are remembered as they stand in an event."""


def ocsf_events(requests: Iterable[ExportedRequest]) -> Generator[str, None, None]:
    """Yield one line for each request. Only ASCII: no character in it ends a line or reorders it on screen."""
    for request in requests:
        row = request.row
        parts = _unreadable(request) if row is None else _known(request, row)
        # As `canonical` would write it, in a third of the time: most of what is in an event is in many others.
        yield f"{{{','.join(sorted(parts))}}}\n"


def _unreadable(request: ExportedRequest) -> list[str]:
    """Return the attributes of a request whose line in the history cannot be read."""
    return [
        *_activity(None),
        _metadata(request),
        *_attributes(
            time=_first_time(request),
            severity_id=0,
            status_id=0,
            actor={"app_name": "unknown"},
            api={"operation": "unknown", "request": {"uid": request.line.id}},
            unmapped={"problem": seen(request.problem)},
        ),
    ]


def _known(request: ExportedRequest, row: Row) -> list[str]:
    parts = [
        *_activity(row.tool),
        _metadata(request),
        f'"time":{int(row.arrived_at * 1000)}',
        *_severity(row.level),
        _message(row.agent, row.tool, row.language, row.verdict, row.decider, row.phase, row.outcome),
        _actor(row.agent),
        f'"api":{{"operation":{quoted(row.tool)},"request":{{"uid":{quoted(row.id)}}},{_response(request, row)}'
        '"service":{"name":"Assent"}}',
        *_status(row.verdict, row.outcome, row.phase),
        *_control(row.verdict, row.rule, row.level),
        _unmapped(request, row),
    ]
    if row.started_at is not None:
        parts.append(f'"start_time":{int(row.started_at * 1000)}')
    if row.finished_at is not None:
        parts.append(f'"end_time":{int(row.finished_at * 1000)}')
    if row.duration is not None and math.isfinite(row.duration):
        parts.append(f'"duration":{round(row.duration * 1000)}')
    if reason := _text(request.decision.get("reason")):
        parts.append(f'"status_detail":{reason}')
    if attacks := _attacks(techniques(request)):
        parts.append(attacks)
    return parts


def _response(request: ExportedRequest, row: Row) -> str:
    error = _text(request.result.get("error"))
    found = [
        "" if row.exit_code is None else f'"code":{row.exit_code}',
        error and f'"error_message":{error}',
        "" if row.outcome is None else f'"message":{quoted(row.outcome)}',
    ]
    return f'"response":{{{",".join(filter(None, found))}}},' if any(found) else '"response":{},'


def _unmapped(request: ExportedRequest, row: Row) -> str:
    where, problem = sandbox(request), request.problem
    found = [
        "" if row.decider is None else f'"decided_by":{quoted(row.decider)}',
        row.digest and f'"digest":{quoted(row.digest)}',
        _findings(tuple(findings(request))),
        "" if row.language is None else f'"language":{quoted(row.language)}',
        problem and f'"problem":{quoted(seen(problem))}',
        where and f'"sandbox":{quoted(where)}',
        "" if row.waited is None or not math.isfinite(row.waited) else f'"waited_seconds":{row.waited!r}',
    ]
    return f'"unmapped":{{{",".join(filter(None, found))}}}'


def _text(value: object) -> str:
    """Return a text as it stands in an event; nothing for anything else, which only a damaged body holds."""
    return quoted(seen(value)) if isinstance(value, str) and value else ""


def _attributes(**values: object) -> tuple[str, ...]:
    """Return attributes as they stand in an event, without those that hold nothing."""
    return tuple(
        f'"{name}":{canonical({"": value}).decode("ascii")[4:-1]}'
        for name, value in values.items()
        if value not in (None, "", [], {})
    )


@cache
def _activity(tool: Tool | None) -> tuple[str, ...]:
    number, name = (0, "Unknown") if tool is None else FACTS[tool].activity
    return _attributes(
        activity_id=number,
        activity_name=name,
        category_uid=CATEGORY,
        category_name="Application Activity",
        class_uid=CLASS,
        class_name="API Activity",
        type_uid=CLASS * 100 + number,
        type_name=f"API Activity: {'Other' if number == OTHER else name}",
        src_endpoint=_ENDPOINT,
    )


@cache
def _severity(level: Level | None) -> tuple[str, ...]:
    number, name = (0, "Unknown") if level is None else _SEVERITY[level]
    return _attributes(severity_id=number, severity=name)


def _metadata(request: ExportedRequest) -> str:
    return f'{_always()}"sequence":{request.line.seq},"uid":{quoted(request.line.id)},"version":"{VERSION}"}}'


@cache
def _always() -> str:
    """Return the beginning of `metadata`, which is the same in all events."""
    return (
        '"metadata":{"log_name":"ledger",'
        f'"product":{{"name":"Assent","vendor_name":"Assent","version":{quoted(_own_version())}}},'
        '"profiles":["security_control"],'
    )


@lru_cache(FEW)
def _status(verdict: Verdict | None, outcome: Outcome | None, phase: Phase) -> tuple[str, ...]:
    """Return whether the call did what the agent wanted; unknown while nobody has decided or it still runs."""
    if verdict not in (None, Verdict.APPROVED):
        number, name, code = 2, "Failure", str(verdict)
    elif outcome is not None:
        number, name, code = (1, "Success", str(outcome)) if outcome is Outcome.OK else (2, "Failure", str(outcome))
    else:
        number, name, code = 0, "Unknown", str(phase)
    return _attributes(status_id=number, status=name, status_code=code)


@lru_cache(FEW)
def _control(verdict: Verdict | None, rule: str, level: Level | None) -> tuple[str, ...]:
    """Return the attributes of the profile `security_control`."""
    if verdict is None:
        decided: dict[str, Any] = {"action_id": 0, "action": "Unknown", "disposition_id": 0, "disposition": "Unknown"}
    elif verdict is Verdict.APPROVED:
        decided = {"action_id": 1, "action": "Allowed", "disposition_id": 1, "disposition": "Allowed"}
    else:
        decided = {"action_id": 2, "action": "Denied", "disposition_id": 2, "disposition": "Blocked"}
    if rule:
        decided["policy"] = {"name": seen(rule), "is_applied": True}
    if level is not None:
        decided["risk_level_id"], decided["risk_level"] = int(level), level.name.capitalize()
    return _attributes(**decided)


@lru_cache(FEW)
def _findings(names: tuple[str, ...]) -> str:
    return "".join(_attributes(findings=list(names)))


@lru_cache(FEW)
def _attacks(names: tuple[str, ...]) -> str:
    """Return the ATT&CK techniques that findings refer to, each once."""
    found = [_attack(name) for name in dict.fromkeys(names) if _TECHNIQUE.fullmatch(name)]
    return "".join(_attributes(attacks=found))


def _attack(name: str) -> dict[str, Any]:
    attack: dict[str, Any] = {"technique": {"uid": name[:5]}}
    return attack | {"sub_technique": {"uid": name}} if "." in name else attack


@lru_cache(FEW)
def _message(
    agent: str,
    tool: Tool,
    language: Language | None,
    verdict: Verdict | None,
    decider: Decider | None,
    phase: Phase,
    outcome: Outcome | None,
) -> str:
    what = " ".join(filter(None, (str(tool), language and str(language))))
    decided = f"{verdict} by {decider}" if verdict else str(phase)
    return "".join(_attributes(message=seen(f"{agent}: {what}, {decided}{f', {outcome}' if outcome else ''}")))


@lru_cache(FEW)
def _actor(agent: str) -> str:
    return "".join(_attributes(actor={"app_name": seen(agent)}))


def _first_time(request: ExportedRequest) -> int:
    return request.steps[0].at // 1000 if request.steps else 0


@cache
def _own_version() -> str:
    try:
        return metadata.version("assent")
    except metadata.PackageNotFoundError:
        return "0"
