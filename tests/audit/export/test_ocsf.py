"""Events of OCSF: the names and numbers of the schema, and nothing that an agent wrote where it could mislead."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.export.ocsf import VERSION
from runner.model.request import canonical
from tests.audit.story import approved, denied, opening, remove, request, tamper, write

if TYPE_CHECKING:
    from pathlib import Path

OF_EVENT = {
    *("activity_id", "activity_name", "category_name", "category_uid", "class_name", "class_uid", "duration"),
    *("end_time", "message", "metadata", "severity", "severity_id", "start_time", "status", "status_code"),
    *("status_detail", "status_id", "time", "type_name", "type_uid", "unmapped"),
}
OF_CLASS = {"actor", "api", "src_endpoint"}
OF_PROFILE = {
    "action",
    "action_id",
    "attacks",
    "disposition",
    "disposition_id",
    "policy",
    "risk_level",
    "risk_level_id",
}
"""Attributes of the base event, of API Activity and of security_control in OCSF 1.8.0, as far as they are used."""
REQUIRED = {
    *("activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"),
    *("actor", "api", "src_endpoint"),
}
INSIDE = {
    "api": {"operation", "request", "response", "service"},
    "actor": {"app_name"},
    "metadata": {"log_name", "product", "profiles", "sequence", "uid", "version"},
    "policy": {"is_applied", "name"},
    "src_endpoint": {"ip", "name"},
}


@pytest.fixture(name="ledger")
def with_story(tmp_path: Path) -> Path:
    folder = tmp_path / "home/data"
    folder.mkdir(parents=True)
    told = [*approved(request("r1")), *denied(request("r2", agent="a\u202eb")), *opening(request("r3"))]
    write(folder / "ledger.sqlite3", told, bytes(range(32)))
    return folder / "ledger.sqlite3"


def events(ledger: Path) -> dict[str, dict[str, Any]]:
    target = ledger.parent.parent.parent / "out.ocsf"
    HistoryExport(ledger, ExportFormat.OCSF).write(target, replace=True)
    lines = target.read_bytes()
    assert lines.isascii()
    assert all(line == canonical(json.loads(line)) for line in lines.splitlines())
    return {event["metadata"]["uid"]: event for event in map(json.loads, lines.splitlines())}


def test_every_event_fits_the_schema(ledger: Path) -> None:
    found = events(ledger)
    assert list(found) == ["r3", "r2", "r1"]
    for event in found.values():
        assert event.keys() >= REQUIRED
        assert event.keys() <= OF_EVENT | OF_CLASS | OF_PROFILE
        assert event["type_uid"] == event["class_uid"] * 100 + event["activity_id"] == 600_399
        assert event["metadata"]["version"] == VERSION == "1.8.0"
        assert all(event[name].keys() <= names for name, names in INSIDE.items() if name in event)
        assert type(event["time"]) is int and event["time"] > 10**12, "milliseconds"


def test_what_was_decided_and_what_came_of_it(ledger: Path) -> None:
    found = events(ledger)
    assert [found[name]["action_id"] for name in ("r1", "r2", "r3")] == [1, 2, 0]
    assert [found[name]["status"] for name in ("r1", "r2", "r3")] == ["Success", "Failure", "Unknown"]
    assert [found[name]["severity"] for name in ("r1", "r2", "r3")] == ["High", "Critical", "High"]
    assert found["r1"]["duration"] == 250
    assert found["r1"]["api"]["response"] == {"code": 0, "message": "ok"}


def test_neither_code_nor_hidden_characters_are_in_it(ledger: Path) -> None:
    found = events(ledger)
    assert "print" not in json.dumps(found)
    assert found["r2"]["actor"]["app_name"] == "a\\u{202e}b"


def test_damaged_and_removed_requests_are_events_too(ledger: Path) -> None:
    remove(ledger, "r1")
    tamper(ledger, "UPDATE requests SET level = 9 WHERE id = 'r2'")
    found = events(ledger)
    assert found.keys() == {"r1", "r2", "r3"}
    assert "was removed" in found["r1"]["unmapped"]["problem"]
    assert (found["r1"]["status"], found["r2"]["activity_id"]) == ("Success", 0)
    assert found["r2"].keys() >= REQUIRED


def test_values_that_nobody_wrote_end_no_export(ledger: Path) -> None:
    tamper(
        ledger,
        "UPDATE requests SET duration = 9e999, waited = -9e999, agent = agent || char(34) WHERE id = 'r1'",
        'UPDATE bodies SET data = replace(data, \'"reason":"\', \'"reason":7,"other":"\')',
    )
    found = events(ledger)
    assert found.keys() == {"r1", "r2", "r3"}
    assert found["r1"]["actor"]["app_name"].endswith('"')
    assert "duration" not in found["r1"] and "waited_seconds" not in found["r1"]["unmapped"]
    assert found["r2"]["status"] == "Failure" and "status_detail" not in found["r2"]
