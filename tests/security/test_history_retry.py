"""A surprise while the history is opened again ends neither the attempts nor the signing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.engine.foundation.open_ledger import OpenLedger
from runner.engine.lifecycle import history_opening
from runner.model.errors import KnownError
from tests.stages.engine import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from runner.audit.history.search import LeftOpen


@pytest.mark.asyncio
@pytest.mark.errors_expected
async def test_a_surprise_ends_neither_the_attempts_nor_the_signing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_opening, "PAUSE", 0.01)
    full, opened = ["once"], OpenLedger._open

    async def opening(ledger: OpenLedger) -> None:
        if full:
            raise KnownError(f"The disk is full ({full.pop()}).", "Free some space.")
        await opened(ledger)

    async def surprise(_ledger: OpenLedger) -> LeftOpen:
        raise RuntimeError("a bug")

    monkeypatch.setattr(OpenLedger, "_open", opening)
    monkeypatch.setattr(OpenLedger, "left_open", surprise)
    stage = Stage(tmp_path)
    stage.places.make()
    await stage.engine.start(gateway=False)
    try:
        ledger = stage.engine.history._ledger
        await stage.until(lambda: ledger._anchors is not None)
        stage.engine.trouble("ledger", "The disk is full again.", "Free some space.")
        await stage.until(lambda: stage.engine._bulletin.standing("ledger") is None)
    finally:
        await stage.engine.close("over")
