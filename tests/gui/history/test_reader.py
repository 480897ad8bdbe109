"""Questions to the ledger beside the window: what closes under one that is asked is no fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.history.reader import Reader
from runner.audit.history.search import History
from tests.audit.story import denied, request
from tests.gui.record import ledger

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot


def fails(error: Exception) -> None:
    raise error


def test_a_ledger_that_the_worker_closes_while_it_is_interrupted(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker leaves a ledger that was replaced just when the window interrupts what it was asked before."""
    path, parent = tmp_path / "ledger.sqlite3", QObject()
    ledger(path, denied(request("r1")))
    reader = Reader(path, "test", parent)
    found: list[int] = []
    reader.ask(History.count, found.append, fails)
    qtbot.waitUntil(lambda: found == [1])
    ledger(tmp_path / "new", [*denied(request("r1")), *denied(request("r2"))])
    interrupt = History.interrupt

    def closed_before(history: History) -> None:
        monkeypatch.undo()
        history.close()
        interrupt(history)

    monkeypatch.setattr(History, "interrupt", closed_before)
    (tmp_path / "new").replace(path)
    reader.ask(History.count, found.append, fails)
    qtbot.waitUntil(lambda: found == [1, 2])
    reader.close()
