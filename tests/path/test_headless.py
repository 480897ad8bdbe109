"""The main job without a window: a real MCP client of each era, the real engine, a real sandbox, a decision."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from runner.assembly import open_engine
from runner.audit.history.search import History
from runner.audit.ledger.verify import verify
from runner.identity.agents import Agents
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.engine.engine import Engine
    from runner.model.events import Event

pytestmark = pytest.mark.asyncio
ERAS = ("auto", "legacy")
"""`auto` finds the newest protocol, `legacy` begins with the handshake."""


class Person:
    """Answers every question as told, or leaves it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.verdict: Verdict | None = Verdict.APPROVED
        self.reason = ""
        self.asked: list[str] = []
        engine.listen(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            self.asked.append(event.request_id)
            if self.verdict is not None:
                self.answer(event.request_id)

    def answer(self, request_id: str) -> None:
        assert self.verdict is not None
        (question,) = (q for q in self._engine.desk.waiting() if q.request_id == request_id)
        assert self._engine.answer(request_id, question.digest, self.verdict, self.reason) == ""


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    environment = {"ASSENT_PORT": "0", "ASSENT_HOLD_SECONDS": "1"}
    engine = open_engine(Places.under(tmp_path / "assent"), environment)
    await engine.start()
    yield engine
    await engine.close("the test is over")


@asynccontextmanager
async def connected(engine: Engine, agent: str, era: str) -> AsyncIterator[Client]:
    token = await engine.membership.add(agent)
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    async with http, Client(streamable_http_client(engine.parts.address, http_client=http), mode=era) as client:
        yield client


def text(result: Any) -> str:
    return str(result.content[0].text)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("language", "code", "output"),
    [
        ("python", "print(6 * 7)", "42"),
        ("javascript", "console.log(6 * 7)", "42"),
        ("shell", "echo $((6 * 7))", "42"),
    ],
)
async def test_approved_code_runs_and_its_output_comes_back(
    engine: Engine, era: str, language: str, code: str, output: str
) -> None:
    Person(engine)
    async with connected(engine, "claude", era) as client:
        result = await client.call_tool("code_execute", {"language": language, "code": code})
    assert (text(result), result.is_error) == (output, False)
    assert result.structured_content is not None
    assert result.structured_content["status"] == "finished"
    verdict = verify(engine.parts.places.ledger)
    assert verdict.ok, verdict.what


@pytest.mark.parametrize("era", ERAS)
async def test_denied_code_does_not_run_and_the_reason_comes_back(engine: Engine, era: str) -> None:
    person = Person(engine)
    person.verdict, person.reason = Verdict.DENIED, "Use the staging data"
    async with connected(engine, "claude", era) as client:
        result = await client.call_tool("code_execute", {"language": "shell", "code": "echo ran"})
    assert result.is_error
    assert text(result) == "Denied: Use the staging data. Nothing was run; there is no output."


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_who_takes_longer_than_the_client_is_no_loss(engine: Engine, era: str) -> None:
    person = Person(engine)
    person.verdict = None
    async with connected(engine, "claude", era) as client:
        result = await client.call_tool("code_execute", {"language": "shell", "code": "echo late"})
        assert result.structured_content is not None
        assert result.structured_content["status"] == "pending"
        request_id = result.structured_content["request_id"]
        person.verdict = Verdict.APPROVED
        person.answer(request_id)
        answer = await client.call_tool("code_result", {"id": request_id, "wait": 10})
    assert text(answer) == "late"


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_hangs_up_withdraws_its_question(engine: Engine, era: str) -> None:
    person = Person(engine)
    person.verdict = None
    async with connected(engine, "claude", era) as client:
        call = spawn("call", client.call_tool("code_execute", {"language": "shell", "code": "echo never"}))
        async with asyncio.timeout(HANGS):
            while not person.asked:
                await asyncio.sleep(0.01)
        call.cancel()
    async with asyncio.timeout(HANGS):
        while engine.desk.waiting():
            await asyncio.sleep(0.01)
    ticket = engine.ticket("claude", person.asked[0])
    assert ticket is not None
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.decision.verdict is Verdict.WITHDRAWN


async def test_the_history_holds_the_whole_story(engine: Engine) -> None:
    Person(engine)
    async with connected(engine, "claude", "auto") as client:
        await client.call_tool("code_execute", {"language": "python", "code": "print('told')\nresult = [1]"})
    history = History(engine.parts.places.ledger)
    try:
        (row,) = history.page()
        record = history.case(row.id)
    finally:
        history.close()
    assert record is not None and record.result is not None and record.decision is not None
    assert (record.request.code, record.result.stdout, record.result.value) == (
        "print('told')\nresult = [1]",
        "told\n",
        [1],
    )
    assert record.decision.verdict is Verdict.APPROVED


async def test_the_history_names_an_agent_that_was_added_elsewhere(engine: Engine) -> None:
    """A name in agents.json, by `assent agents add` or by hand, is an agent at once; its first call is recorded."""
    places = engine.parts.places
    token = Agents(places).add("stranger")
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    async with http, Client(streamable_http_client(engine.parts.address, http_client=http)) as client:
        for _ in range(2):
            await client.call_tool("code_sandbox_info", {})
    with closing(sqlite3.connect(places.ledger)) as connection:
        rows = connection.execute("SELECT data FROM entries JOIN bodies USING (seq) WHERE kind = 'agent-seen'")
        (seen,) = (json.loads(data) for (data,) in rows)
    assert (seen["agent"], seen["token_sha256"]) == ("stranger", hashlib.sha256(token.encode()).hexdigest())
