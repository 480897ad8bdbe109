"""What has been loaded is set aside from the collector once all of it is there."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from app.start import settling
from app.state.cards import Cards
from runner.model.events import GatewayOpened

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def test_it_is_set_aside_until_the_engine_was_there_for_a_while(monkeypatch: pytest.MonkeyPatch, qapp: Any) -> None:
    frozen: list[bool] = []
    due: list[Callable[[], None]] = []
    cases = Cards()
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(bool(cases.address)))
    monkeypatch.setattr(settling.QTimer, "singleShot", lambda _ms, _of, work: due.append(work))
    settling.settle(cases)
    due.pop()()
    cases.take((GatewayOpened("http://127.0.0.1:1/mcp"),))
    while due:
        due.pop()()
    assert frozen == [False, False, True, True]
