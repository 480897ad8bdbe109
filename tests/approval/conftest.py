"""An engine without a gateway, on which approvals are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.engine.test_engine import Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = Stage(tmp_path)
    await stage.engine.start(gateway=False)
    yield stage
    await stage.engine.close("the test is over")
