"""What the window tells of containers that are kept started: how many wait, how long, and how often one was used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from tests.gui.conftest import Desk


def facts(**warm: float) -> dict[str, object]:
    return {"isolation": "gvisor", "chosen": "Strongest available here.", "warm": warm, "protections": []}


def test_the_state_of_the_warm_pool_stays_true(desk: Desk) -> None:
    state = desk.window.toolbar.state
    desk.cases.know_sandbox(facts(wanted=2, ready=2, hits=0, misses=0, oldest=61.2))
    assert "2 of 2 containers wait started, the oldest for 61 s" in state.toolTip()
    words = state.text()
    desk.cases.know_sandbox(facts(wanted=2, ready=0, hits=3, misses=1, oldest=0.0))
    assert state.text() == words
    for told in (state.toolTip(), state.accessibleDescription()):
        assert "0 of 2 containers wait started; 3 of 4 runs began in one" in told


def test_it_is_asked_for_again_when_somebody_looks(desk: Desk) -> None:
    before = desk.bridge.calls.count(("sandbox_facts",))
    here = QPointF(5, 5)
    QApplication.sendEvent(desk.window.toolbar, QEnterEvent(here, here, here))
    assert desk.bridge.calls.count(("sandbox_facts",)) == before + 1
