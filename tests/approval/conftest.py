"""An engine without a gateway, on which approvals are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.stages.engine import Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path).opened() as stage:
        yield stage
