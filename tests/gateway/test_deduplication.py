"""Identical calls of one agent: asked once, run once, answered each; what one of them does binds no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from runner.engine.request import deduplication
from runner.gateway.replies import DELIVERED_BEFORE, JOINED
from runner.model.decision import Verdict
from runner.model.events import RequestJoined
from runner.model.lifecycle import Phase
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.gateway.house import House, opened
from tests.gateway.stage import AGENT, PRINT
from tests.gateway.test_mcp_calls import data, text

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcp.client.client import Client
    from mcp_types import CallToolResult

pytestmark = pytest.mark.asyncio
SOON = {"Assent-Hold": "0.05"}
"""A client that gets `pending` almost at once."""


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as house:
        yield house


def asking(client: Client, **more: Any) -> asyncio.Task[CallToolResult]:
    return spawn("call", client.call_tool("code_execute", {**PRINT, **more}))


def times(house: House) -> list[int]:
    return [event.times for event in house.heard if isinstance(event, RequestJoined)]


async def joined(house: House, number: int) -> None:
    await house.until(lambda: number in times(house))


async def test_an_identical_call_waits_for_the_same_answer(house: House, era: str) -> None:
    async with house.client(era) as client, house.client("legacy") as other:
        first = asking(client, title="One title")
        question = await house.question()
        second, third = asking(other, title="Another"), asking(client)
        await joined(house, 3)
        assert house.engine.desk.waiting() == (question,), "the same question, with the window that it had"
        await house.run()
        house.sandbox.runs[0].finish("4\n")
        assert text(await first) == "4"
        for answer in (await second, await third):
            assert text(answer) == f"4\n{JOINED}" and data(answer)["note"] == JOINED
    assert len(house.sandbox.runs) == 1
    (record,) = house.records()
    assert record.request.title == "One title"
    assert [step.body["times"] for step in record.steps if step.entry.kind == "joined"] == [2, 3]


async def test_calls_that_come_at_once_are_one_request(house: House) -> None:
    async with house.client("auto") as client:
        calls = [asking(client) for _ in range(8)]
        await joined(house, 8)
        await house.run()
        house.sandbox.runs[0].finish("4\n")
        assert sorted([text(await call) for call in calls]) == ["4", *[f"4\n{JOINED}"] * 7]
    assert len(house.sandbox.runs) == len(house.records()) == 1


@pytest.mark.parametrize("more", [{"code": "print(2 + 3)"}, {"timeout": 5}, {"stdin": "x"}, {"context": {"x": 1}}])
async def test_what_differs_in_anything_that_decides_is_asked_by_itself(house: House, more: dict[str, Any]) -> None:
    async with house.client("auto") as client:
        calls = [asking(client), asking(client, **more)]
        await house.until(lambda: len(house.engine.desk.waiting()) == 2)
        for question in house.engine.desk.waiting():
            house.engine.answer(question.request_id, question.digest, Verdict.DENIED, "no")
        assert all([JOINED not in text(await call) for call in calls])


async def test_another_agent_never_joins(house: House) -> None:
    other = await house.engine.membership.add("other")
    async with house.client("auto") as client, house.client("auto", other) as stranger:
        calls = [asking(client), asking(stranger)]
        await house.until(lambda: len(house.engine.desk.waiting()) == 2)
        for question in house.engine.desk.waiting():
            house.engine.answer(question.request_id, question.digest, Verdict.DENIED, "no")
        assert all([JOINED not in text(await call) for call in calls])


@pytest.mark.parametrize("leaves", [0, 1])
@pytest.mark.parametrize("when", ["asked", "running"])
async def test_one_that_goes_away_takes_nothing_from_the_other(house: House, era: str, leaves: int, when: str) -> None:
    withdrawn: list[str] = []
    withdraw = house.engine.withdraw
    house.engine.withdraw = lambda *said: (withdrawn.append(said[0]), withdraw(*said))[1]  # type: ignore[method-assign]
    async with house.client(era) as client:
        calls = [asking(client)]
        await house.question()
        calls.append(asking(client))
        await joined(house, 2)
        if when == "running":
            await house.run()
        calls[leaves].cancel()
        await house.until(lambda: withdrawn)
        if when == "asked":
            await house.run()
        house.sandbox.runs[0].finish("4\n")
        assert text(await calls[1 - leaves]).startswith("4")


async def test_when_the_last_goes_away_it_is_withdrawn_and_the_next_asks_anew(house: House) -> None:
    async with house.client("auto") as client:
        calls = [asking(client)]
        await house.question()
        calls.append(asking(client))
        await joined(house, 2)
        for call in calls:
            call.cancel()
        await house.closed()
        assert house.records()[0].decision.verdict is Verdict.WITHDRAWN  # type: ignore[union-attr]
        again = asking(client)
        await house.run()
        house.sandbox.runs[0].finish("4\n")
        assert text(await again) == "4"


async def test_a_call_that_joined_and_leaves_does_not_end_what_will_be_fetched(tmp_path: Path) -> None:
    async with opened(tmp_path) as house, house.client("auto", **SOON) as client:
        pending = data(await asking(client))
        await house.question()
        async with house.client("auto", **{"Assent-Hold": "60"}) as patient:
            second = asking(patient)
            await joined(house, 2)
            second.cancel()
            await house.until(lambda: house.engine._cases.find(pending["request_id"]).callers == 0)  # type: ignore[union-attr]
        assert len(house.engine.desk.waiting()) == 1
        await house.run()
        house.sandbox.runs[0].finish("4\n")
        await house.closed()
        assert text(await client.call_tool("code_result", {"id": pending["request_id"]})) == "4"


@pytest.mark.parametrize("verdict", [Verdict.APPROVED, Verdict.DENIED])
async def test_an_answer_that_nobody_fetched_is_given_once(tmp_path: Path, verdict: Verdict) -> None:
    async with opened(tmp_path) as house, house.client("auto", **SOON) as client:
        pending = data(await asking(client))
        assert pending["status"] == "pending"
        if verdict is Verdict.APPROVED:
            await house.run()
            house.sandbox.runs[0].finish("4\n")
        else:
            question = await house.question()
            house.engine.answer(question.request_id, question.digest, verdict, "Use the copy.")
        await house.closed()
        said = text(await asking(client))
        assert said.startswith("4" if verdict is Verdict.APPROVED else "Denied: Use the copy.") and JOINED in said
        fetched = text(await client.call_tool("code_result", {"id": pending["request_id"]}))
        assert DELIVERED_BEFORE in fetched
        assert data(await asking(client))["status"] == "pending", "it is asked again"
        assert data(await asking(client))["request_id"] != pending["request_id"]


async def test_an_old_answer_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deduplication, "ANSWER_SECONDS", 0.0)
    async with opened(tmp_path) as house, house.client("auto", **SOON) as client:
        before = data(await asking(client))["request_id"]
        await house.run()
        house.sandbox.runs[0].finish("4\n")
        await house.closed()
        assert data(await asking(client))["request_id"] != before


async def test_an_agent_that_got_the_name_of_a_former_one_gets_none_of_its_answers(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        async with house.client("auto", **SOON) as client:
            before = data(await asking(client))["request_id"]
            await house.run()
            house.sandbox.runs[0].finish("4\n")
            await house.closed()
        await house.engine.membership.revoke(AGENT)
        token = await house.engine.membership.add(AGENT)
        async with house.client("auto", token, **SOON) as client:
            assert data(await asking(client))["request_id"] != before


@pytest.mark.parametrize("verdict", [Verdict.APPROVED, Verdict.DENIED])
async def test_an_answer_outlives_the_console_until_it_is_fetched(tmp_path: Path, verdict: Verdict) -> None:
    places = Places.under(tmp_path)
    async with opened(places) as house, house.client("auto", **SOON) as client:
        stranger = await house.engine.membership.add("stranger")
        asked = {"id": data(await asking(client))["request_id"]}
        question = await house.question()
        if verdict is Verdict.APPROVED:
            await house.run()
            house.sandbox.runs[0].finish("4\n")
        else:
            house.engine.answer(question.request_id, question.digest, verdict, "Use the copy.")
        await house.closed()
        token = house.token
    async with opened(places, agent="newcomer") as house:
        async with house.client("auto", stranger) as other:
            assert data(await other.call_tool("code_result", asked))["status"] == "unknown"
        async with house.client("auto", token) as client:
            said = text(await client.call_tool("code_result", asked))
            assert said.startswith("4" if verdict is Verdict.APPROVED else "Denied: Use the copy.")
            assert text(await client.call_tool("code_result", asked)) == f"{DELIVERED_BEFORE}\n{said}"
            for id in ("f" * 32, "%", ""):
                assert data(await client.call_tool("code_result", {"id": id}))["status"] == "unknown"
        assert house.sandbox.runs == []
    async with opened(places, agent="third") as house, house.client("auto", token) as client:
        assert DELIVERED_BEFORE in text(await client.call_tool("code_result", asked)), "the history knows it, too"
        await house.engine.membership.revoke(AGENT)
        again = await house.engine.membership.add(AGENT)
        async with house.client("auto", again) as other:
            assert data(await other.call_tool("code_result", asked))["status"] == "unknown"


async def test_two_sandboxes_are_two(house: House) -> None:
    async with house.client("auto") as client:
        calls = [spawn("make", client.call_tool("code_create_sandbox", {"language": "python"})) for _ in range(2)]
        for call in calls:
            await call
    assert len(house.records()) == 2 and times(house) == []


async def test_a_question_that_outlives_the_console_is_joined_in_the_next(tmp_path: Path) -> None:
    places = Places.under(tmp_path)
    async with opened(places) as house, house.client("auto", **SOON) as client:
        for _ in range(2):
            pending = data(await asking(client))
        token = house.token
        await house.question()
        # As kill -9 leaves it: nothing is denied.
        house.engine._closing.why = "killed"
        await house.engine.parts.close("killed")
    assert house.records()[0].row.phase is Phase.ASKED, "it was settled before"
    async with opened(places, agent="newcomer") as house, house.client("auto", token) as client:
        await house.question()
        answer = asking(client)
        await joined(house, 3)
        await house.run()
        house.sandbox.runs[0].finish("4\n")
        assert JOINED in text(await answer)
        assert DELIVERED_BEFORE in text(await client.call_tool("code_result", {"id": pending["request_id"]}))
