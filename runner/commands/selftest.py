"""Tests the whole path in a temporary home: asked, approved, run, recorded, verified (spec O4)."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from runner.assembly import open_engine
from runner.audit.verify import verify
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import QuestionAsked, RequestDecided
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.system.places import Places

if TYPE_CHECKING:
    from runner.engine.engine import Engine
    from runner.model.events import Event

PROGRAMS = {
    Language.PYTHON: ("print(6 * 7)\n", "42"),
    Language.JAVASCRIPT: ("console.log(6 * 7)\n", "42"),
    Language.SHELL: ("echo $((6 * 7))\n", "42"),
}
"""Code and what it must print."""
ASK_ALWAYS = {"ASSENT_AUTO_APPROVE_LOW": "false", "SANDBOX_TYPE": "local"}
CLOSING = "The self-test is over."


def main() -> int:
    """Run the self-test, printing each step; return 0 when every step worked."""
    with tempfile.TemporaryDirectory(prefix="assent-self-test-") as home:
        try:
            return asyncio.run(_play(Places.under(Path(home))))
        except KnownError as error:
            return _fail(str(error))


async def _play(places: Places) -> int:
    engine = open_engine(places, ASK_ALWAYS)
    asked: asyncio.Queue[QuestionAsked | RequestDecided] = asyncio.Queue()

    def hear(event: Event) -> None:
        if isinstance(event, QuestionAsked | RequestDecided):
            asked.put_nowait(event)

    engine.listen(hear)
    await engine.start(gateway=False)
    wrong = 0
    try:
        for language, (code, wanted) in PROGRAMS.items():
            wrong += await _run(engine, asked, language, code, wanted)
    finally:
        await engine.close(CLOSING)
    verdict = verify(places.ledger)
    print(f"history: {verdict.what}")
    return 0 if verdict.ok and not wrong else 1


async def _run(
    engine: Engine, asked: asyncio.Queue[QuestionAsked | RequestDecided], language: Language, code: str, wanted: str
) -> int:
    """Run one program; return 1 where its output is not the expected one."""
    ticket = await engine.submit(Submission("self-test", Tool.CODE_EXECUTE, language, code))
    while (event := await asked.get()).request_id != ticket.request_id:
        pass
    if isinstance(event, RequestDecided):
        return _fail(f"{language}: decided before anybody was asked: {event.decision.reason}")
    if refused := engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, ""):
        return _fail(f"{language}: {refused}")
    answer = await ticket.answered(None)
    if answer is None or answer.result is None or answer.result.stdout.strip() != wanted:
        return _fail(f"{language}: {'no answer' if answer is None else answer.text()}")
    print(f"{language}: asked, approved, ran in {answer.result.duration * 1e3:.0f} ms")
    return 0


def _fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 1
