"""The screens that windows of tests are on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.demo.screen import virtual_screen
from tests.components import require

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    require("screen")
    require("bubblewrap")
    with virtual_screen() as name:
        yield name


@pytest.fixture(scope="module")
def display_for_agents(request: pytest.FixtureRequest) -> str:
    """A screen for a window that real agents ask."""
    require("agents")
    return str(request.getfixturevalue("display"))
