"""What the gateway's tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.gateway.stage import ERAS, Stage, staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path) as opened:
        yield opened


@pytest.fixture(params=ERAS, ids=["handshake era", "modern era"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)
