"""What a command of a program at work would do, and whether it is held for a person.

Assessed as the guard of a client does it, in a process of its own. It is not asked about what stays in the working
copy: only what stands out as much as the setting says is held.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.worker.assessor import Assessor
from runner.system.loop_thread import LoopThread
from runner.work import added

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.work.added import AddedFindings, AddedText

START_SECONDS = 30.0
END_SECONDS = 5.0
MOST_REASONS = 5


@dataclass(frozen=True, slots=True)
class CommandVerdict:
    """The assessment of a command in short."""

    sentence: str
    level: str
    """Of its worst finding; '' where nothing stands out."""
    reasons: tuple[str, ...]
    held: bool


class Judging:
    """Assesses commands. `judge` may be called on any thread."""

    def __init__(self, rules: Path, agent: str, holds: Level | None) -> None:
        """`rules` is the folder of the person's own; `holds`, from which level on a command is held, None for never."""
        self._rules = rules
        self._agent = agent
        self._holds = holds
        self._assessor: Assessor | None = None
        self._thread = LoopThread("assent-judging", self._live)
        self._thread.start()

    def judge(self, text: str) -> CommandVerdict:
        """Return what a command of the shell does. Blocks. Without an answer in time it is held."""
        self._thread.ready.wait(START_SECONDS)
        loop, assessor = self._thread.loop, self._assessor
        if loop is None or assessor is None:
            return CommandVerdict("It could not be assessed.", Level.CRITICAL.name, (), held=self._holds is not None)
        request = Request("", self._agent, Tool.CLIENT_SHELL, 0.0, Language.SHELL, text)
        found: Assessment = asyncio.run_coroutine_threadsafe(assessor.assess(request), loop).result()
        worst = found.attention
        held = self._holds is not None and worst is not None and worst >= self._holds
        return CommandVerdict(
            found.verdict.sentence, "" if worst is None else worst.name, found.reasons[:MOST_REASONS], held=held
        )

    def found_in(self, text: AddedText) -> AddedFindings:
        """Return what is found in what a change adds. Blocks."""
        self._thread.ready.wait(START_SECONDS)
        loop, assessor = self._thread.loop, self._assessor
        if loop is None or assessor is None:
            return added.not_read("It could not be assessed.")
        finding = added.found_in(text, assessor.assess, f"changes of {self._agent}")
        return asyncio.run_coroutine_threadsafe(finding, loop).result()

    def close(self) -> None:
        """End the process."""
        self._thread.stop(END_SECONDS)

    async def _live(self, stop: asyncio.Event) -> None:
        self._assessor = Assessor(self._rules)
        self._assessor.warm()
        self._thread.ready.set()
        try:
            await stop.wait()
        finally:
            await self._assessor.close()
