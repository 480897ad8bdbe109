"""Tool calls by the official client of both protocol eras: answers, progress, patience, cancelling, closing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from mcp.shared.exceptions import MCPError

from runner.gateway import catalog, limits, server, waiting
from runner.gateway.server import DETAILS
from runner.system.tasks import spawn
from tests.gateway.counter import FACTS, Terms
from tests.gateway.stage import PRINT, staged
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcp.client.client import Client
    from mcp_types import CallToolResult

    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio


def text(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if part.type == "text")


def data(result: CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content


class Progress:
    """Collects progress and lets a test wait for it."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float | None, str]] = []
        self._changed = asyncio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append((progress, total, message or ""))
        self._changed.set()

    async def until(self, word: str) -> str:
        async with asyncio.timeout(HANGS):
            while True:
                for _, _, message in self.told:
                    if word in message:
                        return message
                self._changed.clear()
                await self._changed.wait()


async def test_lists_the_tools(stage: Stage, era: str) -> None:
    async with stage.client(era) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [name for name in catalog.SCHEMAS if name != "approve"]
    assert len(tools) == 9
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)


@pytest.mark.parametrize(("name", "listed"), [("claude-code", True), ("codex-mcp-client", False), ("unknown", True)])
async def test_the_tool_by_which_a_client_asks_is_listed_for_one_that_does(
    stage: Stage, era: str, name: str, listed: bool
) -> None:
    async with stage.client(era, name=name) as client:
        assert ("approve" in [tool.name for tool in (await client.list_tools()).tools]) == listed
        # The hooks call it without a list.
        answer = await client.call_tool("approve", {"tool_name": "mcp__assent__code_execute", "input": {}})
    assert '"behavior": "allow"' in text(answer)


@pytest.mark.parametrize(
    ("name", "alone"),
    [("gemini-cli-mcp-client", True), ("qwen-cli-mcp-client-assent", True), ("claude-code", False), ("", False)],
)
async def test_a_client_that_escapes_errors_gets_their_text_alone(
    stage: Stage, era: str, name: str, alone: bool
) -> None:
    async with stage.client(era, name=name) as client:
        calling = spawn("call", client.call_tool("code_execute", PRINT))
        stage.counter.deny(await stage.counter.question(), "Not this way.")
        denied = await calling
        stage.answers()
        done = await client.call_tool("code_execute", {**PRINT, "title": "again"})
    assert denied.is_error and "Not this way." in text(denied)
    assert (denied.structured_content is None, DETAILS in (denied.meta or {})) == (alone, not alone)
    assert done.structured_content is not None and DETAILS in (done.meta or {}), "an answer is no error"


async def test_approved_code_comes_back_as_text_and_data(stage: Stage, era: str) -> None:
    async with stage.client(era) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT))
        ticket = await stage.counter.question()
        stage.counter.approve(ticket)
        stage.counter.finish(ticket.request_id, "4\n")
        result = await answering
    assert not result.is_error
    assert text(result) == "4"
    assert data(result)["status"] == "finished"
    assert data(result)["stdout"] == "4\n"
    assert ticket.case.request.agent == "tester"
    assert ticket.case.request.code == PRINT["code"]


async def test_all_arguments_reach_the_request(stage: Stage, era: str) -> None:
    stage.answers()
    given = {
        **PRINT,
        "title": "Add two numbers",
        "timeout": 5,
        "max_memory_mb": 256,
        "max_disk_mb": 64,
        "max_output_bytes": 2048,
        "context": {"rows": [1, 2]},
        "stdin": "in",
        "network_enabled": True,
        "allowed_domains": ["example.org"],
    }
    async with stage.client(era) as client:
        await client.call_tool("code_execute", given)
    request = (await stage.counter.question()).case.request
    limits = request.limits
    assert (limits.seconds, limits.memory_mb, limits.disk_mb, limits.output_bytes) == (5, 256, 64, 2048)
    assert (request.title, request.context, request.stdin) == ("Add two numbers", '{"rows": [1, 2]}', "in")
    assert (request.network, request.domains) == ("domains", ("example.org",))


async def test_a_denial_is_an_error_result_with_the_reason(stage: Stage, era: str) -> None:
    async with stage.client(era) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT))
        stage.counter.deny(await stage.counter.question(), "Use the copy in /tmp.")
        result = await answering
    assert result.is_error
    assert text(result).startswith("Denied: Use the copy in /tmp.")
    assert data(result) == {"status": "denied", "message": text(result)}
    assert result.meta is not None
    assert result.meta[DETAILS]["decision"]["reason"] == "Use the copy in /tmp."


async def test_long_output_is_cut_in_text_and_data_alike(stage: Stage, era: str) -> None:
    stage.answers(stdout="x" * 500_000)
    async with stage.client(era) as client:
        result = await client.call_tool("code_execute", PRINT)
    assert len(text(result)) < 11_000
    assert len(data(result)["stdout"]) < 11_000
    assert "bytes left out" in data(result)["stdout"]


async def test_sandbox_info(stage: Stage, era: str) -> None:
    async with stage.client(era) as client:
        result = await client.call_tool("code_sandbox_info", {})
    assert data(result)["facts"] == FACTS


async def test_progress_comes_at_once_with_time_and_place(stage: Stage, era: str) -> None:
    first, second = Progress(), Progress()
    async with stage.client(era) as client:
        one = spawn("one", client.call_tool("code_execute", PRINT, progress_callback=first))
        await first.until("s left")
        two = spawn("two", client.call_tool("code_execute", PRINT, progress_callback=second))
        message = await second.until("number 2 in the queue")
        assert "60 s left" in message
        assert second.told[0][:2] == (0.0, 50.0)
        for number in (1, 2):
            stage.counter.deny(await stage.counter.question(number), "no")
        await asyncio.gather(one, two)


async def test_progress_continues_and_carries_output(stage: Stage, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PROGRESS_SECONDS", 0.02)
    progress = Progress()
    async with stage.client(era) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT, progress_callback=progress))
        ticket = await stage.counter.question()
        await progress.until("waiting for a person")
        stage.counter.approve(ticket)
        await progress.until("running now")
        stage.counter.print(ticket, "row 7 of 9\n")
        assert "row 7 of 9" in await progress.until("row 7")
        stage.counter.finish(ticket.request_id)
        await answering
    assert [at for at, _, _ in progress.told] == sorted(at for at, _, _ in progress.told)


async def test_pending_then_fetched_once(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, Terms(hold_seconds=0.05)) as stage, stage.client(era) as client:
        pending = await client.call_tool("code_execute", PRINT)
        assert not pending.is_error
        assert data(pending)["status"] == "pending"
        ticket = await stage.counter.question()
        assert data(pending)["request_id"] == ticket.request_id
        assert data(pending)["message"] == text(pending)
        assert f"Call code_result with the id {ticket.request_id}" in text(pending)
        assert stage.counter.parked == [ticket.request_id]
        asked = {"id": ticket.request_id, "wait": 0}
        assert data(await client.call_tool("code_result", asked))["status"] == "pending"

        stage.counter.run_at_once(ticket)
        first = await client.call_tool("code_result", asked)
        again = await client.call_tool("code_result", asked)
    assert text(first) == "4"
    assert "delivered_before" not in data(first)
    assert "nothing ran again" in data(again)["delivered_before"]
    assert "nothing ran again" in text(again)
    assert stage.counter.fetched == [ticket.request_id]
    assert stage.counter.withdrawn == []


async def test_code_result_waits_for_the_answer(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, Terms(hold_seconds=0.05)) as stage:
        async with stage.client(era) as client:
            pending = await client.call_tool("code_execute", PRINT)
        async with stage.client(era, **{"Assent-Hold": "20"}) as client:
            progress = Progress()
            asked = {"id": data(pending)["request_id"], "wait": 15}
            fetching = spawn("fetch", client.call_tool("code_result", asked, progress_callback=progress))
            await progress.until("waiting for a person")
            assert progress.told[0][1] == 15
            stage.counter.run_at_once(await stage.counter.question())
            assert text(await fetching) == "4"


async def test_the_answer_is_no_other_agents_business(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, Terms(hold_seconds=0.05)) as stage:
        async with stage.client(era) as client:
            pending = await client.call_tool("code_execute", PRINT)
        stage.counter.run_at_once(await stage.counter.question())
        async with stage.client(era, token=stage.agents.add("other")) as other:
            result = await other.call_tool("code_result", {"id": data(pending)["request_id"]})
    assert result.is_error
    assert data(result)["status"] == "unknown"
    assert stage.counter.fetched == []


async def test_a_configured_client_is_held_longer(stage: Stage, era: str) -> None:
    progress = Progress()
    async with stage.client(era, **{"Assent-Hold": "180"}) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT, progress_callback=progress))
        await progress.until("waiting")
        stage.counter.deny(await stage.counter.question(), "no")
        await answering
    assert progress.told[0][1] == 180


async def test_an_unknown_tool_is_a_clear_error(stage: Stage, era: str) -> None:
    async with stage.client(era) as client:
        with pytest.raises(MCPError, match=r"no tool 'rm_rf'.*code_execute"):
            await client.call_tool("rm_rf", {})
    assert [agent for agent, _ in stage.counter.refusals] == ["tester"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"language": "python"}, "code is missing"),
        ({**PRINT, "codes": "x"}, r"no argument 'codes'. Did you mean code"),
        ({**PRINT, "code": 7}, "code must be a text, not a number"),
        ({**PRINT, "code": "print(1)\0"}, "code contains a NUL character at 8"),
        ({**PRINT, "code": "  \n"}, "code is empty"),
        ({**PRINT, "language": "cobol"}, "language is 'cobol'"),
        ({**PRINT, "language": None}, "language is missing"),
        ({**PRINT, "timeout": -1}, "timeout is -1; it must be above 0 and at most 3,600"),
        ({**PRINT, "timeout": 4000}, "timeout is 4,000; it must be above 0 and at most 3,600"),
        ({**PRINT, "timeout": True}, "timeout must be a number, not true or false"),
        ({**PRINT, "timeout": 10**400}, "timeout is not a usable number"),
        ({**PRINT, "max_memory_mb": 0}, "max_memory_mb is 0"),
        ({**PRINT, "max_memory_mb": 1.5}, "max_memory_mb is 1.5; it must be a whole number"),
        ({**PRINT, "max_disk_mb": 99_999}, "max_disk_mb is 99,999"),
        ({**PRINT, "max_output_bytes": "1"}, "max_output_bytes must be a number, not a text"),
        ({**PRINT, "network_enabled": "yes"}, "network_enabled must be true or false"),
        ({**PRINT, "allowed_domains": ["a.org"]}, "allowed_domains is given without network_enabled"),
        ({**PRINT, "allowed_domains": [1], "network_enabled": True}, "allowed_domains must be a list of texts"),
        ({**PRINT, "context": [1]}, "context must be an object, not a list"),
        ({**PRINT, "context": {"a\0": 1}}, "context contains a NUL"),
        ({**PRINT, "code": "x" * 1_100_000}, "code has 1,100,000 bytes; at most 1,048,576 are taken"),
    ],
)
async def test_arguments_that_will_not_do(stage: Stage, arguments: dict[str, object], told: str) -> None:
    for mode in ("legacy", "auto"):
        async with stage.client(mode) as client:
            result = await client.call_tool("code_execute", arguments)
        assert result.is_error
        assert told in text(result)
        assert data(result)["status"] == "refused"
    assert stage.counter.tickets == {}
    assert len(stage.counter.refusals) == 2


async def test_deeply_nested_context(stage: Stage, era: str) -> None:
    nested: dict[str, object] = {}
    for _ in range(100):
        nested = {"a": nested}
    async with stage.client(era) as client:
        result = await client.call_tool("code_execute", {**PRINT, "context": nested})
    assert "context is nested deeper than 64 levels" in text(result)


async def test_cancelling_withdraws(stage: Stage, era: str) -> None:
    progress = Progress()
    async with stage.client(era) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT, progress_callback=progress))
        ticket = await stage.counter.question()
        await progress.until("waiting")
        answering.cancel()
        await stage.counter.until(lambda: stage.counter.withdrawn)
        assert stage.counter.withdrawn == [ticket.request_id]
        stage.answers()
        assert text(await client.call_tool("code_execute", PRINT)) == "4"


async def test_the_rate_is_bounded(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, Terms(rate_per_minute=1, burst=3)) as stage, stage.client(era) as client:
        stage.answers()
        results = [await client.call_tool("code_execute", PRINT) for _ in range(5)]
    assert [result.is_error for result in results] == [False, False, False, True, True]
    assert "Too many calls: 3 are taken at once, and then 1 a minute" in text(results[-1])
    assert len(stage.counter.refusals) == 2


async def test_calls_above_the_burst_wait_for_their_turn(tmp_path: Path, era: str) -> None:
    """Coding agents send bursts, and take a refusal for a no."""
    async with staged(tmp_path, Terms(rate_per_minute=600, burst=2)) as stage, stage.client(era) as client:
        stage.answers()
        calls = [spawn(f"call {number}", client.call_tool("code_execute", PRINT)) for number in range(8)]
        assert [text(await call) for call in calls] == ["4"] * 8
    assert stage.counter.refusals == []


async def soon(true: Callable[[], object]) -> None:
    """Wait for what nobody announces."""
    async with asyncio.timeout(HANGS):
        while not true():
            await asyncio.sleep(0.005)


SLOW = Terms(rate_per_minute=1, burst=1, hold_seconds=1000.0)


@pytest.fixture
def two_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `SLOW` the second call waits a minute, the third two, and no more of them wait."""
    monkeypatch.setattr(limits, "LONGEST_TURN", 130.0)


@pytest.mark.usefixtures("two_wait")
async def test_who_waits_for_a_turn_is_bounded_and_hears_of_the_end(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, SLOW) as stage, stage.client(era) as client:
        stage.answers()
        assert text(await client.call_tool("code_execute", PRINT)) == "4"
        calls = [spawn(f"call {number}", client.call_tool("code_execute", PRINT)) for number in range(6)]
        done, in_line = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        await soon(lambda: len(stage.counter.refusals) == 4)
        assert all(call.result().is_error and "Too many calls: 1 are taken" in text(call.result()) for call in done)
        closing = spawn("closing", stage.gateway.close("The console is closing."))
        answers = [await call for call in calls]
        await closing
    assert len(in_line) >= 2
    assert sum("Not taken: The console is closing." in text(answer) for answer in answers) == 2
    assert len(stage.counter.tickets) == 1, "what has not had its turn was asked after all"


@pytest.mark.usefixtures("two_wait")
async def test_a_caller_that_leaves_before_its_turn_is_not_asked_about(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, SLOW) as stage:
        held = stage.gateway._limits
        stage.answers()
        async with stage.client(era) as client:
            await client.call_tool("code_execute", PRINT)
            async with stage.calling(era):
                await soon(lambda: held._entering["tester"] == 1)
            await soon(lambda: held._entering["tester"] == 0)
        assert len(stage.counter.tickets) == 1 and stage.counter.refusals == []
        assert held.turn("tester", 1000) <= 60.0, "the turn of one that left is kept from the others"


async def test_the_number_at_once_is_bounded_even_while_requests_are_being_written(tmp_path: Path, era: str) -> None:
    async with staged(tmp_path, Terms(max_pending=2)) as stage, stage.client(era) as client:
        gate = stage.counter.submit_gate = asyncio.Event()
        stage.answers()
        calls = [spawn("call", client.call_tool("code_execute", PRINT)) for _ in range(5)]
        done = asyncio.as_completed(calls)
        refused = [await next(done) for _ in range(3)]
        assert all("at most 2 may" in text(result) for result in refused)
        gate.set()
        results = await asyncio.gather(*calls)
    assert sum(not result.is_error for result in results) == 2


async def _waiting_calls(stage: Stage, client: Client, count: int) -> list[asyncio.Task[CallToolResult]]:
    calls = [spawn("call", client.call_tool("code_execute", PRINT)) for _ in range(count)]
    await stage.counter.question(count)
    return calls


async def test_closing_answers_everybody(stage: Stage, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # That it comes in time for people who quit is another matter: a busy machine needs longer for twenty answers.
    monkeypatch.setattr(server, "ANSWER_SECONDS", HANGS)
    async with stage.client(era) as client:
        calls = await _waiting_calls(stage, client, 20)
        stage.counter.approve(await stage.counter.question(1))
        async with asyncio.timeout(HANGS):
            await stage.gateway.close("The console is closing.")
            results = await asyncio.gather(*calls)
    assert all(result.is_error and text(result).startswith("The console is closing.") for result in results)
    assert not stage.places.door.exists()


async def test_a_second_gateway_can_have_the_port_after_closing(tmp_path: Path) -> None:
    async with staged(tmp_path / "one") as first:
        port = first.port
    async with staged(tmp_path / "two", Terms(port=port)) as second, second.client("auto") as client:
        assert (await client.list_tools()).tools and second.port == port


async def test_a_gateway_with_nothing_to_do_does_not_wake_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[int] = []

    async def on_tick(_server: uvicorn.Server, counter: int) -> bool:
        woken.append(counter)
        return False

    async with stage.client("auto") as client:
        await client.list_tools()
    monkeypatch.setattr(uvicorn.Server, "on_tick", on_tick)
    await asyncio.sleep(0.15)  # uvicorn itself looks around every 0.1 s
    assert woken == []
