"""Opening the long-lived parts: nothing of it holds up the engine's loop."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from runner.engine import parts as parts_module
from runner.system.tasks import spawn
from tests.engine.test_engine import Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IMPORT_SECONDS = 0.4


class QuietGateway:
    """A gateway that opens no port."""

    address = "127.0.0.1:1"

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
        time.sleep(IMPORT_SECONDS)
        return QuietGateway

    monkeypatch.setattr(parts_module, "_gateway_class", slow)
    gaps: list[float] = []

    async def tick() -> None:
        before = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - before)
            before = time.monotonic()

    stage = Stage(tmp_path)
    ticking = spawn("tick", tick())
    await stage.engine.open_gateway()
    ticking.cancel()
    assert stage.engine.parts.address
    await stage.engine.close("the test is over")
    assert gaps
    assert max(gaps) < IMPORT_SECONDS / 2
