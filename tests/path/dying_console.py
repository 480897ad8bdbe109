"""`python -m tests.path.dying_console LOG`: a console without a window that code can have killed at a certain moment.

It approves what it is asked, but not what says that nobody is there: of that it prints `asked`. LOG gets a line for
each run before it starts. Killed at a moment means: when as many requests have come to it as the code says.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runner.assembly import open_engine
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked, RequestArrived, RequestClosed, RunMeasured
from runner.system.places import Places
from tests.soak.console import note_starts

if TYPE_CHECKING:
    from runner.engine.engine import Engine
    from runner.model.events import Event

RUNNING, ANSWERING = "# dies while it runs, with 3 of them", "# dies before the answer, with 1 of them"
MOMENTS: dict[str, type[Event]] = {RUNNING: RunMeasured, ANSWERING: RequestClosed}
"""What the code says -> the event at which the process is killed. A closed request is not answered yet."""
HOW_MANY = re.compile(r"with (\d+) of them")
NOBODY = "# nobody is there"
"""What is not approved before a line comes on the standard input."""


class Console:
    """The person at it, and the end of it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._codes: dict[str, str] = {}
        self._come: dict[str, set[str]] = {said: set() for said in MOMENTS}
        """The requests that have come to each moment."""
        self._there = False
        engine.listen(self._hear)

    def _hear(self, event: Event) -> None:
        match event:
            case RequestArrived(request):
                self._codes[request.id] = request.code
            case QuestionAsked(request_id) | RunMeasured(request_id) | RequestClosed(request_id):
                code = self._codes[request_id]
                for said, moment in MOMENTS.items():
                    if said in code and isinstance(event, moment):
                        self._die_with(said, request_id)
                if isinstance(event, QuestionAsked) and (self._there or NOBODY not in code):
                    self._approve(request_id)
                elif isinstance(event, QuestionAsked):
                    print("asked", flush=True)
            case _:
                pass

    def _die_with(self, said: str, request_id: str) -> None:
        come, many = self._come[said], HOW_MANY.search(said)
        come.add(request_id)
        if many is not None and len(come) == int(many[1]):
            os.kill(os.getpid(), signal.SIGKILL)

    def _approve(self, request_id: str) -> None:
        question = self._engine.desk.question(request_id)
        assert question is not None
        self._engine.answer(request_id, question.digest, Verdict.APPROVED, "")

    def come_back(self) -> None:
        """Approve from now on what waited for somebody, too."""
        self._there = True
        for question in self._engine.desk.waiting():
            self._approve(question.request_id)


async def main() -> None:
    engine = open_engine(Places.under(Path(os.environ["ASSENT_HOME"])))
    console = Console(engine)
    await engine.start()
    print(engine.parts.address, flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        console.come_back()
    await engine.close("the test is over")


if __name__ == "__main__":
    note_starts(sys.argv[1])
    asyncio.run(main())
