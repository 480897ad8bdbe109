"""The tool `approve`, as Claude Code calls it for `--permission-prompt-tool`: the answer is always yes or no."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from runner.model.decision import Verdict
from runner.model.errors import Refused
from runner.system.tasks import spawn
from tests.gateway.house import House, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcp_types import CallToolResult

pytestmark = pytest.mark.asyncio
BASH = {"tool_name": "Bash", "input": {"command": "make"}, "tool_use_id": "toolu_1"}


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as house:
        yield house


def said(result: CallToolResult) -> dict[str, Any]:
    """Clients read the permission from the text, and take other data before it."""
    assert result.structured_content is None and not result.is_error
    (part,) = result.content
    assert part.type == "text"
    return dict(json.loads(part.text))


async def test_yes_and_no_come_in_the_form_of_a_permission(house: House) -> None:
    async with house.client("auto") as client:
        calling = spawn("ask", client.call_tool("approve", BASH))
        question = await house.question()
        with pytest.raises(Refused, match="runs this itself"):
            await house.engine.editing.draft(question.request_id, "make evil")
        assert house.approve(question) == ""
        assert said(await calling) == {"behavior": "allow", "updatedInput": BASH["input"]}
        calling = spawn("ask", client.call_tool("approve", BASH))
        question = await house.question()
        house.engine.answer(question.request_id, question.digest, Verdict.DENIED, "Not now.")
        answer = said(await calling)
        assert answer["behavior"] == "deny" and "Not now." in answer["message"]
        assert house.sandbox.runs == []


async def test_what_is_no_question_is_a_no(house: House) -> None:
    async with house.client("auto") as client:
        for wrong in ({"tool_name": "Bash"}, {**BASH, "tool_name": ""}, {**BASH, "more": 1}):
            answer = said(await client.call_tool("approve", wrong))
            assert answer["behavior"] == "deny" and "Refused" in answer["message"]
    assert house.records() == []


async def test_tools_of_assent_ask_for_themselves(house: House) -> None:
    async with house.client("auto") as client:
        answer = said(await client.call_tool("approve", {**BASH, "tool_name": "mcp__assent__code_execute"}))
    assert answer["behavior"] == "allow" and house.records() == []


async def test_nobody_is_asked_when_the_client_has_its_answer(house: House) -> None:
    async with house.client("auto", **{"Assent-Hold": "0.3"}) as client:
        answer = said(await client.call_tool("approve", BASH))
    assert answer["behavior"] == "deny" and "Nobody has answered in time" in answer["message"]
    await house.closed()
    assert not house.engine.desk.waiting()
    (record,) = house.records()
    assert record.decision is not None and record.decision.verdict is Verdict.WITHDRAWN


async def test_lockdown_counts_for_them_and_trust_which_is_for_sandboxes_does_not(house: House) -> None:
    async with house.client("auto") as client:
        await house.engine.modes.trust("tester", 60.0)
        calling = spawn("ask", client.call_tool("approve", BASH))
        assert house.approve(await house.question()) == ""
        assert said(await calling)["behavior"] == "allow"
        await house.engine.modes.lock()
        assert said(await client.call_tool("approve", BASH))["behavior"] == "deny"


async def test_a_file_that_becomes_a_link_before_the_answer_is_not_approved(house: House, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    given = {"file_path": str(project / "notes.md"), "content": "x"}
    call = {"tool_name": "Write", "input": given, "tool_use_id": "1", "folder": str(project)}
    async with house.client("auto") as client:
        calling = spawn("ask", client.call_tool("approve", call))
        question = await house.question()
        (project / "notes.md").symlink_to("/etc/hosts")
        assert house.approve(question) == ""
        answer = said(await calling)
        assert answer["behavior"] == "deny" and "since the question was asked" in answer["message"]
        calling = spawn("ask", client.call_tool("approve", call))
        question = await house.question()
        assert house.approve(question) == ""
        assert said(await calling) == {"behavior": "allow", "updatedInput": given}
    requests = sorted((record.request for record in house.records()), key=lambda request: request.received_at)
    assert [request.files for request in requests] == [(given["file_path"],), ("/etc/hosts",)]
    assert requests[1].client is not None and requests[1].client.links
