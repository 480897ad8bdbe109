"""What the window asks about clients is done beside the loop of a real engine, whose list of agents follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
import pytest_asyncio

from app.agents.client_link import ClientLink
from runner.assembly import open_engine
from runner.clients.differences import TOKEN
from runner.clients.known import BY_ID
from runner.model.errors import KnownError
from runner.system.places import Places
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path

    from app.link.bridge import EngineLink
    from runner.engine.engine import Engine

pytestmark = pytest.mark.asyncio
CODEX = BY_ID["codex"]


class Inline:
    """The engine, called on its own loop: the window's link has a thread between."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def call(self, work: Callable[[Engine], Coroutine[Any, Any, object]]) -> Task[object]:
        return spawn("call", work(self.engine))


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = open_engine(Places.under(tmp_path / "assent"), {})
    await engine.start(gateway=False)
    yield engine
    await engine.close("the test is over")


async def test_a_client_is_connected_and_disconnected_with_its_agent(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    link = ClientLink(cast("EngineLink", Inline(engine)), tmp_path)
    final = await link.connect(await link.plan(CODEX, hook=True))
    found = TOKEN.search((tmp_path / ".codex/config.toml").read_text())
    agent = engine.parts.agents.recognize(found[0]) if found else None
    assert agent is not None and agent.name == final.agent
    states = {state.client.id: state for state in await link.states()}
    assert states["codex"].agent == final.agent and states["zed"].agent == ""
    await link.disconnect(await link.removal(CODEX))
    assert not (tmp_path / ".codex/config.toml").exists()
    assert found is not None and engine.parts.agents.recognize(found[0]) is None


async def test_a_file_that_cannot_be_read_is_said_on_its_tile_alone(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text("a = \n")
    link = ClientLink(cast("EngineLink", Inline(engine)), tmp_path)
    problems = {state.client.id for state in await link.states() if state.problem}
    assert problems == {"codex"}
    with pytest.raises(KnownError, match=r"config\.toml"):
        await link.plan(CODEX, hook=False)
