"""What people changed, on the page of the history: listed, searched, and reached by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from app.history.changes import change_line
from app.history.panel import HistoryPanel
from app.parts.text.lines import SUMMARY
from runner.audit.history.changes import KINDS, LONGEST_BODY, RecordedChange, read_changes
from tests.gui.record import ledger, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.system.places import Places
    from tests.audit.story import Told
    from tests.gui.conftest import Desk

CHANGES: list[Told] = [
    ("agent-added", "", {"agent": "claude\u202ecode"}),
    ("pin-set", "", {}),
    ("pin-refused", "", {"wrong": 3}),
    ("settings-changed", "", {"settings": ["sandbox_type", "approve_by"]}),
    ("mode", "", {"mode": "trust", "agent": "claude", "seconds": 60}),
    ("mode", "", {"mode": "guarded", "why": "The time is over."}),
    ("grant-made", "", {"agent": "claude", "title": "Count words", "digest": "0" * 64}),
    ("grant-revoked", "", {"grant": "g1", "why": "Revoked.", "used": 2}),
    ("isolation", "", {"accepted": "local", "before": ""}),
    ("refused", "", {"agent": "claude", "count": 3, "reason": "no"}),
    ("pin-removed", "", {}),
]


@pytest.fixture
def panel(desk: Desk, places: Places) -> Iterator[HistoryPanel]:
    ledger(places.ledger, [*many(3), *CHANGES])
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    yield panel
    panel._reader.close()
    panel.list._reader.close()


def titles(panel: HistoryPanel) -> list[str]:
    model = panel.changes.model
    return [model.index(row, 0).data(SUMMARY).title for row in range(model.rowCount())]


def test_they_are_listed_with_who_and_when_and_the_requests_come_back(desk: Desk, panel: HistoryPanel) -> None:
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 3)
    with desk.qtbot.waitSignal(panel.changes.read):
        panel.show_changes.setFocus()
        desk.qtbot.keyClick(panel.show_changes, Qt.Key.Key_Space)
    assert titles(panel) == [
        "PIN removed",
        "Weaker sandbox accepted: local sandbox",
        "No longer remembered \N{MIDDLE DOT} g1 \N{MIDDLE DOT} Revoked.",
        "Remembered for claude: Count words",
        "Mode: guarded \N{MIDDLE DOT} The time is over.",
        "Mode: trust for claude",
        "Settings changed: sandbox_type, approve_by",
        "Wrong PIN, 3 in a row",
        "PIN set",
        "Agent claude‹U+202E›code added",
    ]
    first = panel.changes.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert first.startswith("PIN removed, ") and first.endswith(", by a person")
    assert panel.changes.isVisible() and not panel.list.isVisible() and not panel.filters.isVisible()
    desk.qtbot.keyClick(panel.show_requests, Qt.Key.Key_Space)
    assert panel.list.isVisible() and panel.filters.isVisible() and not panel.look_for_change.isVisible()


def test_they_are_searched_and_gone_through_by_key(desk: Desk, panel: HistoryPanel) -> None:
    with desk.qtbot.waitSignal(panel.changes.read):
        panel.show_changes.click()
    panel.changes.view.setFocus()
    desk.qtbot.keyClick(panel.changes.view, Qt.Key.Key_Down)
    assert panel.changes.view.currentIndex().row() == 1
    desk.qtbot.keyClick(panel.changes.view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.look_for_change.hasFocus()
    desk.qtbot.keyClicks(panel.look_for_change, "pin P")
    assert titles(panel) == ["PIN removed", "Wrong PIN, 3 in a row", "PIN set"]
    desk.qtbot.keyClicks(panel.look_for_change, "nowhere")
    assert not titles(panel) and panel.changes.nothing.isVisible()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [{}, {"agent": [], "wrong": {}, "settings": "x", "why": 1, "mode": None}])
def test_a_body_of_any_form_is_one_row(kind: str, body: dict[str, object]) -> None:
    line = change_line(RecordedChange(1, 1.0, kind, body))
    assert line.title and line.below and line.state


def test_a_body_without_end_is_not_read(places: Places) -> None:
    long = "x" * LONGEST_BODY
    ledger(places.ledger, [("grant-made", "", {"title": long}), ("agent-added", "", {"agent": "a"})])
    assert [one.body for one in read_changes(places.ledger)] == [{"agent": "a"}, {}]


def test_programs_at_work_are_found_by_their_project(places: Places) -> None:
    about = {"name": "shop-1a2b3c", "project": "/home/me/shop"}
    many = [{"path": "x" * 300} for _ in range(100)]
    entries: list[tuple[str, str, dict[str, object]]] = [
        ("work-started", "", {**about, "program": ["claude"], "later": True}),
        ("work-seen", "", {**about, "commands": []}),
        ("work-apply", "", {**about, "changes": 100, "paths": many}),
        ("work-not-applied", "", {**about, "why": "Assent is in lockdown."}),
        ("work-open", "", {**about, "host": "evil.example", "port": 443, "always": True}),
    ]
    ledger(places.ledger, entries)
    lines = [change_line(one) for one in read_changes(places.ledger)]
    assert [one.title.split(" · ")[0] for one in lines] == [
        "Host opened: evil.example:443, always",
        "Changes not applied",
        "Changes to be applied (100)",
        "At work: claude (recorded later)",
    ]
    assert all("/home/me/shop" in one.spoken for one in lines), "also of a long body"
    assert "lockdown" in lines[1].title
