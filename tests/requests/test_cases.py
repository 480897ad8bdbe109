"""Answers that wait to be fetched: a busy agent does not push out another's."""

from __future__ import annotations

import asyncio

from runner.model.request import Request, Tool
from runner.requests.case import Case
from runner.requests.cases import KEPT, Cases
from tests.doubles import SilentRecord


def test_each_agent_has_its_own_answers_to_fetch() -> None:
    async def body() -> None:
        cases = Cases()

        def over(agent: str, number: int) -> str:
            request = Request(f"{agent}{number}", agent, Tool.CODE_SANDBOX_INFO, 0.0)
            case = Case(request, SilentRecord())
            cases.add(case)
            cases.close(case)
            return request.id

        quiet = over("quiet", 0)
        busy = [over("busy", number) for number in range(KEPT + 1)]
        assert cases.find(quiet) is not None
        assert cases.find(busy[0]) is None
        assert cases.find(busy[1]) is not None

    asyncio.run(body())
