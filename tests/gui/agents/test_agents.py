"""The list of agents: what each asked today, when, what last, and a tick by which it may ask."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.agents.model import COLUMNS
from runner.identity.agents import Agent
from tests.gui import record

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint

    from runner.system.places import Places
    from tests.gui.conftest import Desk

CODEX = Agent("codex", "c" * 64, 1_700_000_000.0, 0.0, ink=3)
STATE = COLUMNS.index("State")


def opened(desk: Desk, *agents: Agent) -> Any:
    know(desk, *agents)
    desk.window.show_page("Agents")
    return desk.window.page("Agents")


def know(desk: Desk, *agents: Agent) -> None:
    desk.bridge.known = agents
    desk.cases.know_agents(agents)


def calls(desk: Desk) -> list[tuple[Any, ...]]:
    return [call for call in desk.bridge.calls if call[0].endswith("_agent")]


def tick_of(panel: Any, row: int = 0) -> QPoint:
    """The middle of the tick, as the style places it."""
    from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

    index = panel.model.index(row, STATE)
    option = QStyleOptionViewItem()
    panel.view.initViewItemOption(option)
    option.rect = panel.view.visualRect(index)
    panel.view.itemDelegate().initStyleOption(option, index)
    where = QStyle.SubElement.SE_ItemViewItemCheckIndicator
    return panel.view.style().subElementRect(where, option, panel.view).center()


def test_the_tick_of_a_row_pauses_and_resumes_that_agent(desk: Desk) -> None:
    panel = opened(desk, CODEX, replace(CODEX, name="other"))
    state = panel.model.index(0, STATE)
    assert state.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=tick_of(panel))
    assert calls(desk) == [("pause_agent", "codex")]
    assert state.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked, "until it is done"
    know(desk, replace(CODEX, paused_at=5.0), replace(CODEX, name="other"))
    assert state.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Unchecked and state.data() == "paused"
    panel.view.setCurrentIndex(state)
    QTest.keyClick(panel.view, Qt.Key.Key_Space)
    assert calls(desk) == [("pause_agent", "codex"), ("resume_agent", "codex")]


def test_a_press_beside_the_tick_only_chooses_the_agent(desk: Desk) -> None:
    panel = opened(desk, CODEX)
    at = panel.view.visualRect(panel.model.index(0, STATE)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert calls(desk) == [] and panel.pause.isEnabled()


def test_a_revoked_agent_has_no_tick(desk: Desk) -> None:
    panel = opened(desk, replace(CODEX, revoked_at=5.0))
    state = panel.model.index(0, STATE)
    assert state.data(Qt.ItemDataRole.CheckStateRole) is None
    assert not panel.model.setData(state, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    assert calls(desk) == []


def test_what_an_agent_asked_today_is_told_by_hour_and_the_last_one_in_a_sentence(desk: Desk, places: Places) -> None:
    record.ledger(places.ledger, record.many(6))
    panel = opened(desk, replace(CODEX, name="agent-2"), replace(CODEX, name="never"))
    name, hours = (panel.model.index(0, COLUMNS.index(one)) for one in ("Name", "Hours"))
    desk.qtbot.waitUntil(lambda: bool(name.data(Qt.ItemDataRole.ToolTipRole)))
    spoken = name.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("agent-2. Last request: ") and "\N{LEFT DOUBLE QUOTATION MARK}" in spoken
    assert f"from {time.localtime().tm_hour:02}:00" in hours.data(Qt.ItemDataRole.AccessibleTextRole)
    unheard = panel.model.index(1, COLUMNS.index("Hours"))
    assert unheard.data(Qt.ItemDataRole.AccessibleTextRole) == "nothing asked today"
    desk.window.grab()
