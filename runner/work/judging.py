"""Judgement of a command of a program at work: what it would do, whether it may run, whether it is held.

Assessed as the guard of a client does it, in a process of its own. It is not asked about what stays in the working
copy: only what stands out as much as the setting says is held.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.system.loop_thread import LoopThread
from runner.system.tasks import in_daemon

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.risk.worker.assessor import Assessor
    from runner.work.added import AddedFindings, AddedText
    from runner.work.in_force import InForce

START_SECONDS = 30.0
END_SECONDS = 5.0
MOST_REASONS = 5
NOT_ASSESSED = "It could not be assessed."


@dataclass(frozen=True, slots=True)
class CommandVerdict:
    """The assessment of a command in short, and what follows."""

    sentence: str = ""
    level: str = ""
    """Of its worst finding, or that to which a rule raises it; '' where nothing stands out."""
    reasons: tuple[str, ...] = ()
    held: bool = False
    refused: str = ""
    """Why it may not run at all; '' where it may."""
    sandbox: str = ""
    """That the settings want a stronger sandbox for what is held; '' where they do not."""


class Judging:
    """Assesses commands, once it was started. `judge` may be called on any thread."""

    def __init__(self, rules: Path, in_force: InForce) -> None:
        """`rules` is the folder of the person's own."""
        self._rules = rules
        self._in_force = in_force
        self._assessor: Assessor | None = None
        self._thread = LoopThread("assent-judging", self._live)

    def start(self) -> None:
        """Have a process ready to assess; what comes earlier waits for it."""
        self._thread.start()

    def judge(self, text: str, folder: str, *, prepares: bool = False) -> CommandVerdict:
        """Return what a command of the shell does. Blocks. Without an answer in time it counts as CRITICAL.

        `prepares`: it is none of the agent's, but the client's own look at the shell.
        """
        in_force = self._in_force
        if prepares:
            return CommandVerdict(refused=in_force.standing())
        refused = in_force.standing() or in_force.turn()
        sentence, worst, reasons = self._assessed(text)
        # After all that takes time: what counts now decides.
        terms = in_force.of_command(text, folder)
        if terms.raised is not None and (worst is None or terms.raised > worst):
            worst = terms.raised
        held = terms.asks or (terms.holds is not None and worst is not None and worst >= terms.holds)
        reasons = tuple(one for one in (terms.why, *reasons) if one)[:MOST_REASONS]
        level = "" if worst is None else worst.name
        if refused := terms.refused or refused:
            return CommandVerdict(sentence, level, reasons, refused=refused)
        stronger = in_force.stronger(worst) if held and worst is not None else ""
        return CommandVerdict(sentence, level, reasons, held=held, sandbox=stronger)

    def found_in(self, text: AddedText) -> AddedFindings:
        """Return what is found in what a change adds. Blocks."""
        from runner.work import added  # as below

        started = self._started()
        if started is None:
            return added.not_read(NOT_ASSESSED)
        loop, assessor = started
        finding = added.found_in(text, assessor.assess, f"changes of {self._in_force.agent}")
        return asyncio.run_coroutine_threadsafe(finding, loop).result()

    def close(self) -> None:
        """End the process."""
        self._in_force.close()
        self._thread.stop(END_SECONDS)

    def _assessed(self, text: str) -> tuple[str, Level | None, tuple[str, ...]]:
        """Return what a command does, how much it stands out, and why."""
        started = self._started()
        if started is None:
            return NOT_ASSESSED, Level.CRITICAL, ()
        loop, assessor = started
        request = Request("", self._in_force.agent, Tool.CLIENT_SHELL, 0.0, Language.SHELL, text)
        found: Assessment = asyncio.run_coroutine_threadsafe(assessor.assess(request), loop).result()
        return found.verdict.sentence, found.attention, found.reasons

    def _started(self) -> tuple[asyncio.AbstractEventLoop, Assessor] | None:
        """Return the loop and what assesses on it; None where they do not come. Blocks."""
        self._thread.ready.wait(START_SECONDS)
        loop, assessor = self._thread.loop, self._assessor
        return None if loop is None or assessor is None else (loop, assessor)

    async def _live(self, stop: asyncio.Event) -> None:
        # Loaded here: the classifier would delay each program that is started, and it runs before anything is assessed.
        from runner.risk.worker.assessor import Assessor

        self._assessor = Assessor(self._rules)
        self._assessor.warm()
        self._thread.ready.set()
        try:
            await in_daemon("assent-terms", self._in_force.load)
            await stop.wait()
        finally:
            await self._assessor.close()
