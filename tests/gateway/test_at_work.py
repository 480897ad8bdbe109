"""Calls of programs at work: whose they are is asked, and nobody gets what another session asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.gateway.counter import KEY
from tests.gateway.stage import call

if TYPE_CHECKING:
    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio
ASKED = {"language": "shell", "code": "echo"}


def work(name: str, key: str = KEY) -> dict[str, str]:
    return {"Assent-Work": f"{name} {key}"}


def said(result: object) -> str:
    return str(result.content[0].text)  # type: ignore[attr-defined]


async def test_a_call_is_refused_where_its_key_is_not_that_of_the_program(stage: Stage) -> None:
    stage.answers()
    async with stage.client("auto", **work("project-1", "another key")) as client:
        answer = await client.call_tool("code_execute", ASKED)
    assert answer.is_error and "does not come from that program" in said(answer)
    assert not stage.counter.tickets


@pytest.mark.parametrize("value", ["", "project-1"])
async def test_a_call_that_names_no_program_at_work_is_not_taken_for_one_from_outside(stage: Stage, value: str) -> None:
    stage.answers()
    async with stage.http() as http:
        answer = await http.post(stage.url, content=call(ASKED), headers=stage.headers(Assent_Work=value))
    assert answer.status_code == 400
    assert not stage.counter.tickets


async def test_a_program_at_work_sees_its_three_tools_and_can_call_no_other(stage: Stage) -> None:
    async with stage.client("auto", **work("project-1")) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        refused = await client.call_tool("code_create_sandbox", {"language": "python"})
    assert tools.keys() == {"code_execute", "code_result", "code_sandbox_info"}
    asked = tools["code_execute"]
    assert "/workspace is your project" in str(asked.description)
    assert "code" in asked.input_schema["properties"] and "sandbox_id" not in asked.input_schema["properties"]
    assert "is not for a program at work" in said(refused)


async def test_an_answer_is_for_the_session_that_asked(stage: Stage) -> None:
    stage.answers()
    async with (
        stage.client("auto", **work("project-1")) as one,
        stage.client("auto", **work("project-2")) as two,
        stage.client("auto") as outside,
    ):
        await one.call_tool("code_execute", ASKED)
        (id,) = stage.counter.tickets
        for other in (two, outside):
            assert "no request" in said(await other.call_tool("code_result", {"id": id, "wait": 0}))
        assert "4" in said(await one.call_tool("code_result", {"id": id, "wait": 0}))
