"""Answers that wait to be fetched: a busy agent does not push out another's."""

from __future__ import annotations

import asyncio

from runner.model.request import Request, Tool
from runner.requests.case import Case
from runner.requests.cases import KEPT, KEPT_BYTES, WATCHED, Cases
from runner.sandbox.output import Stream, Transcript
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


def test_closed_cases_of_an_agent_are_kept_within_bytes() -> None:
    async def body() -> None:
        cases = Cases()
        long = "x" * (KEPT_BYTES // 4 - 1000)

        def over(number: int) -> str:
            case = Case(Request(f"r{number}", "busy", Tool.CODE_EXECUTE, 0.0, code=long), SilentRecord())
            case.transcript = Transcript(1 << 20)
            case.transcript.append(Stream.OUT, b"y" * (3 << 20))
            cases.add(case)
            cases.close(case)
            return case.request.id

        ids = [over(number) for number in range(10)]
        assert [cases.find(id) is not None for id in ids] == [False] * 6 + [True] * 4
        newest = cases.find(ids[-1])
        assert newest is not None and newest.transcript is not None
        assert newest.transcript.text(Stream.OUT)[0] == "", "what was kept for the result goes"
        assert newest.transcript.since(0).pieces, "what a window shows stays"

    asyncio.run(body())


def test_the_output_of_a_case_is_dropped_once_many_others_are_over() -> None:
    async def body() -> None:
        cases = Cases()
        closed = []
        for number in range(WATCHED + 1):
            case = Case(Request(f"r{number}", "busy", Tool.CODE_EXECUTE, 0.0), SilentRecord())
            case.transcript = Transcript(1024)
            cases.add(case)
            cases.close(case)
            closed.append(case)
        assert closed[0].transcript is None and closed[1].transcript is not None

    asyncio.run(body())
