"""The screens that windows of tests are on, and the consoles on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from app.demo.screen import virtual_screen
from runner.audit.ledger.verify import verify
from tests.components import require
from tests.path.desktop import Desktop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, display: str) -> Iterator[Desktop]:
    """The home of the console that the tests of a module share; whatever they did, it ends well."""
    desktop = Desktop(tmp_path_factory.mktemp("console") / "home", display, shared=True)
    yield desktop
    if desktop.alive:
        assert desktop.quit() == 0
    verdict = verify(desktop.places.ledger)
    assert verdict.ok, verdict.what


@pytest_asyncio.fixture
async def desktop(shared: Desktop) -> AsyncIterator[Desktop]:
    """That console. A test may end it: the next one starts it again, as a start takes two seconds of the processor."""
    if not shared.alive:
        await shared.start()
    yield shared
    if shared.phase() not in ("", "closed"):
        shared.end()  # a test that has failed half-way leaves no question to the next


@pytest.fixture
def unused(shared: Desktop) -> None:
    """Have the window of that console show nothing yet when it is asked: for clicks at a place of the screen."""
    if shared.used:
        shared.end()
