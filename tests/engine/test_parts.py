"""Opening the long-lived parts: nothing of it holds up the engine's loop."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

from runner.engine.foundation import parts as parts_module
from runner.system.tasks import spawn
from tests.patience import HANGS
from tests.stages.engine import Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TICKS = 10
"""Turns of the loop while the import takes as long as they do."""


class QuietGateway:
    """A gateway that opens no port."""

    address = "127.0.0.1:1"
    moved = ""

    def __init__(self, *_parts: object) -> None:
        pass

    async def open(self) -> None:
        pass

    async def close(self, why: str) -> None:
        pass


@pytest.mark.asyncio
async def test_the_loop_goes_on_while_the_gateway_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of containers is asked meanwhile, with little patience, and a person may press Lockdown."""

    def slow() -> Callable[..., QuietGateway]:
        assert threading.get_ident() != loop_thread, "the loop would stand still"
        before, end = turns, time.monotonic() + HANGS
        while turns < before + TICKS and time.monotonic() < end:
            time.sleep(0.001)
        assert turns >= before + TICKS, "the loop stood still"
        return QuietGateway

    monkeypatch.setattr(parts_module, "_gateway_class", slow)
    turns, loop_thread = 0, threading.get_ident()

    async def tick() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.005)
            turns += 1

    stage = Stage(tmp_path)
    ticking = spawn("tick", tick())
    await stage.engine.open_gateway()
    ticking.cancel()
    assert stage.engine.parts.address
    await stage.engine.close("the test is over")
