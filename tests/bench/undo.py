"""Runs in a kept sandbox of 1,000 files, with the copies for Undo and without, a person reading between them.

The engine is real, the sandbox the local one; the floor is the same engine whose sandboxes copy nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import aclosing
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from runner.assembly import build
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from tests.bench.row import Row, attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.engine.engine import Engine
    from runner.model.answer import Answer
    from runner.model.events import Event

FILES, FILE_BYTES = 1_000, 12_700
ROUNDS = 20
READING_SECONDS = 1.0
"""Between the question and the answer: a quick person."""
FILL = f"import os\nfor n in range({FILES}): open(f'f{{n}}', 'wb').write(os.urandom({FILE_BYTES}))"
CHANGE = "open('f1', 'ab').write(b'x')"


def rows() -> Iterator[Row]:
    yield from attempt("undo", lambda: asyncio.run(_rows()))


async def _rows() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as one, tempfile.TemporaryDirectory() as other:
        async with aclosing(_House(Path(one))) as with_undo, aclosing(_House(Path(other))) as without:
            for house in (with_undo, without):
                await house.open()
            without.copies_nothing()
            found: list[float] = []
            floor: list[float] = []
            for number in range(ROUNDS):  # in turn, so that both meet the same machine
                for house in (with_undo, without)[:: 1 if number % 2 else -1]:
                    (found if house is with_undo else floor).append(await house.approved())
    name = f"kept sandbox of {FILES:,} files, approval to answer"
    return [
        Row(f"{name}, with Undo (p50)", median(found) * 1e3, "ms", median(floor) * 1e3, at_most=1.1,
            note="the copy is made while the person reads"),
    ]  # fmt: skip


class _House:
    """An engine with one kept sandbox, and a person who reads before approving."""

    def __init__(self, root: Path) -> None:
        places = Places.under(root / "home")
        self.engine: Engine = build(places, load(places, {}), (LocalSandbox(root / "runs"),))
        self.engine.listen(self._hear)
        self._root = root
        self._id = ""
        self._reads = 0.0
        self._approved = 0.0

    async def open(self) -> None:
        await self.engine.start(gateway=False)
        made = await self._call(Submission("bench", Tool.CODE_CREATE_SANDBOX, Language.PYTHON))
        assert made.facts is not None
        self._id = str(made.facts["sandbox_id"])
        await self._call(Submission("bench", Tool.CODE_EXECUTE, Language.PYTHON, FILL, sandbox_id=self._id))

    def copies_nothing(self) -> None:
        self.engine.sandboxes.lending.held(self._id).past._folder = None

    async def approved(self) -> float:
        """Seconds from a person's approval to the answer of a run."""
        self._reads = READING_SECONDS
        answer = await self._call(Submission("bench", Tool.CODE_EXECUTE, Language.PYTHON, CHANGE, sandbox_id=self._id))
        assert answer.result is not None and answer.result.exit_code == 0, answer
        return time.perf_counter() - self._approved

    async def aclose(self) -> None:
        await self.engine.close("measured")

    async def _call(self, submission: Submission) -> Answer:
        answer = await (await self.engine.submit(submission)).answered(60)
        assert answer is not None
        return answer

    def _hear(self, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            asyncio.get_running_loop().call_later(self._reads, self._approve, event.request_id)

    def _approve(self, request_id: str) -> None:
        self._approved = time.perf_counter()
        question = self.engine.desk.question(request_id)
        assert question is not None
        self.engine.answer(request_id, question.digest, Verdict.APPROVED, "")
