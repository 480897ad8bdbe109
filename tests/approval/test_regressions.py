"""What the engine must never let happen, by number (spec P1 to P18).

Those about the window are in `tests/gui/test_regressions.py`. Each was seen to fail with its guard removed.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from mcp import MCPError

from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.request import Language
from runner.policy.decide import MOST_UNASKED
from runner.policy.grants import Choice, Subject
from runner.sandbox.local.sandbox import LocalSandbox
from tests.gateway.stage import staged
from tests.patience import HANGS
from tests.sandbox.conftest import job
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio
EXACT = Choice(Subject.EXACT, uses=5, seconds=600)


async def test_07_remembering_covers_no_more_than_its_text_said(stage: Stage) -> None:
    ticket = await stage.asked()
    request = ticket.case.request
    await stage.engine.remembering.add(request.id, request.digest, EXACT)
    for other in (
        replace(HELLO, code=HELLO.code + " "),
        replace(HELLO, code=HELLO.code + "\nprint('more')"),
        replace(HELLO, agent="codex"),
        replace(HELLO, timeout=29.0),
        replace(HELLO, context={"x": 1}),
        replace(HELLO, stdin="yes"),
    ):
        await stage.asked(other)
    assert stage.sandbox.runs == []


async def test_08_very_long_code_does_not_run_unasked(stage: Stage) -> None:
    await stage.engine.modes.trust("claude", 60)
    await stage.asked(replace(HELLO, code="x = 1\n" * (MOST_UNASKED // 6 + 1)))
    assert stage.sandbox.runs == []


@pytest.mark.parametrize("place", [".", "/tmp", "~", "$TMPDIR"])
async def test_09_a_sandbox_carries_nothing_from_another_agent(tmp_path: Path, place: str) -> None:
    sandbox = LocalSandbox(tmp_path / "runs")
    if not (await sandbox.check()).ready:
        pytest.skip("no local sandbox here")
    try:
        mark = "left-by-the-first"
        for code, told in ((f"cd {place} && touch {mark} && ls -A", mark), (f"cd {place} && ls -A", "")):
            run = await sandbox.start(job(code, Language.SHELL), lambda _usage: None)
            result = await run.finished()
            assert (mark in result.stdout) is bool(told), result
    finally:
        await sandbox.close()


async def test_12_a_prompt_that_expired_made_no_rule(stage: Stage) -> None:
    ticket = await stage.asked()
    stage.engine.desk._expire(ticket.request_id)
    await ticket.answered(HANGS)
    assert stage.engine.parts.configuration.grants.all() == ()
    again = await stage.asked()
    assert not again.case.answer.done()
    assert stage.sandbox.runs == []


async def test_16_a_closed_console_leaves_no_agent_hanging(stage: Stage) -> None:
    waiting, running = await stage.asked(), await stage.approved(replace(HELLO, agent="codex"))
    await stage.engine.close("The console was closed.")
    for ticket in (waiting, running):
        answer = await ticket.answered(0)
        assert answer is not None and "closed" in answer.text()
    with pytest.raises(KnownError):
        await stage.engine.submit(HELLO)


async def test_17_what_is_kept_is_named_and_not_counted(stage: Stage) -> None:
    """Revoking the first leaves the second what it was."""
    grants = []
    for number in range(3):
        ticket = await stage.asked(replace(HELLO, code=f"print({number})"))
        request = ticket.case.request
        grants.append(await stage.engine.remembering.add(request.id, request.digest, EXACT))
        stage.engine.answer(request.id, request.digest, Verdict.DENIED, "")
        await ticket.answered(HANGS)
    await stage.engine.remembering.revoke((grants[0].name,), "test")
    await stage.asked(replace(HELLO, code="print(0)"))
    assert stage.sandbox.runs == []
    for number in (1, 2):
        await stage.engine.submit(replace(HELLO, code=f"print({number})"))
        await stage.until(lambda number=number: len(stage.sandbox.runs) == number)


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_18_no_message_of_an_agent_approves_anything(tmp_path: Path, era: str) -> None:
    """Not its own request, not another's, not by any tool there is or might be."""
    async with staged(tmp_path) as gateway, gateway.client(era) as client:
        other = gateway.agents.add("other")
        tools = [tool.name for tool in (await client.list_tools()).tools]
        ticket = await gateway.counter.submit(replace(HELLO, agent="tester"))
        wanted = {
            "id": ticket.request_id,
            "request_id": ticket.request_id,
            "verdict": "approved",
            "decision": "approved",
            "approve": True,
            "digest": ticket.case.request.digest,
            "wait": 0,
        }
        for token in (gateway.token, other):
            async with gateway.client(era, token) as caller:
                for tool in (*tools, "approve", "answer", "decide", "code_approve"):
                    if tool == "code_execute":
                        continue
                    for arguments in (wanted, {"id": ticket.request_id, "wait": 0}):
                        with contextlib.suppress(MCPError):
                            await caller.call_tool(tool, arguments)
        assert gateway.counter.desk.position(ticket.request_id) == 1, "it was decided"
        assert not ticket.case.answer.done()
