"""Outlines of programs, made in the worker process, for calls that need them without an await."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.request import Language, Request
    from runner.risk.worker.assessor import Assessor

MOST_SECONDS = 10.0
"""Time limit for all outlines of one question; a program without one by then counts as having none."""


class Outlines:
    """An `Outline` for one question: call it, `await learn()`, and call it again while `learn` returns True.

    A program that is not known yet has no outline, so nothing is covered by mistake.
    """

    def __init__(self, assessor: Assessor, agent: str = "") -> None:
        """`agent` is the agent whose turn in the worker processes is used; '' for the person's."""
        self._assessor = assessor
        self._agent = agent
        self._known: dict[tuple[Language | None, str], str] = {}
        self._missing: set[tuple[Language | None, str]] = set()
        self._spent = 0.0

    def __call__(self, request: Request) -> str:
        """Return the outline of the code of `request`; '' where there is none or it is not known."""
        program = (request.language, request.code)
        if program not in self._known:
            self._missing.add(program)
        return self._known.get(program, "")

    async def learn(self) -> bool:
        """Make the outlines that were asked for and missing; return whether there were any."""
        missing, self._missing = self._missing, set()
        for language, code in missing:
            began = time.monotonic()
            late = self._spent > MOST_SECONDS
            outline = "" if late else await self._assessor.outline(language, code, agent=self._agent)
            self._known[language, code] = outline
            self._spent += time.monotonic() - began
        return bool(missing)
