"""Rehearsals in `assent terminal`: what is printed is what is handed over, by the words that the terminal names."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.commands.terminal import Terminal
from runner.model.answer import REHEARSED
from runner.model.decision import Verdict
from runner.system.tasks import spawn
from tests.engine.test_rehearsing import RehearsalStage
from tests.patience import HANGS
from tests.stages.engine import HELLO

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio


class Talk(RehearsalStage):
    """A stage with a terminal."""

    def attach(self) -> None:
        self.sink = io.StringIO()
        self.terminal = Terminal(self.engine, io.StringIO(), self.sink)
        self.engine.listen(self.terminal.hear)

    async def put(self) -> asyncio.Task[None]:
        return spawn("terminal", self.terminal._put(await self.terminal._questions.get()))

    def type(self, line: str) -> None:
        self.terminal._lines.put_nowait(f"{line}\n")

    async def said(self, words: str) -> None:
        await self.until(lambda: words in self.sink.getvalue())


@pytest_asyncio.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    talk = Talk(tmp_path)
    await talk.engine.start(gateway=False)
    await talk.switch_on()
    talk.attach()
    yield talk
    await talk.engine.close("the test is over")


async def test_the_printed_outcome_is_handed_over(talk: Talk) -> None:
    ticket, run = await talk.rehearsing()
    asking = await talk.put()
    talk.type("hand over")  # before there is any outcome: not accepted
    await talk.said("or 'deny' and a reason.")
    run.finish("hello\nIt left no files.\n")
    await talk.said("Type 'hand over' to give the agent exactly this")
    assert "out \N{BOX DRAWINGS LIGHT VERTICAL} It left no files." in talk.sink.getvalue().split("\n")
    assert not ticket.case.answer.done()
    talk.type("hand over")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.text() == f"hello\nIt left no files.\n{REHEARSED}"
    await asking


async def test_approve_runs_it_for_real(talk: Talk) -> None:
    ticket, _ = await talk.rehearsed()
    asking = await talk.put()
    await talk.said("'approve' runs it for real.")
    talk.type("approve")
    await talk.until(lambda: len(talk.sandbox.runs) == 2)
    talk.sandbox.runs[1].finish("real\n")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.text() == "real"
    await asking


async def test_an_outcome_of_another_question_is_neither_printed_nor_handed_over(talk: Talk) -> None:
    first, run = await talk.rehearsing()
    second = await talk.asked(replace(HELLO, code="print('second')"))
    asking = await talk.put()
    run.finish("of the first\n")
    await talk.said("of the first")
    talk.type("deny no")
    await asking
    assert (await first.case.answer).decision.verdict is Verdict.DENIED
    asking = await talk.put()
    talk.type("hand over")
    await talk.until(lambda: talk.terminal._lines.empty())
    assert not second.case.answer.done() and "second" not in first.case.answer.result().text()
    talk.type("deny no")
    await asking


async def test_a_word_that_is_asked_for_is_asked_for_here_too(talk: Talk) -> None:
    settings = talk.engine.parts.configuration.settings
    talk.engine.parts.configuration.settings = replace(settings, approve_by="word")
    ticket, _ = await talk.rehearsed()
    asking = await talk.put()
    await talk.said("Type 'hand over ")
    talk.type("hand over")
    await talk.until(lambda: talk.terminal._lines.empty())
    assert not ticket.case.answer.done()
    talk.type(f"hand over {talk.terminal._approval_word}")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.result is not None
    await asking
