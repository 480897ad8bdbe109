"""Outlines of programs, made where agents' code is read, for questions that have to be answered at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.request import Language, Request
    from runner.risk.worker.assessor import Assessor

MOST_SECONDS = 10.0
"""For all outlines of one question; what is not made by then counts as having none."""


class Outlines:
    """An `Outline` for one question: ask it, `await learn()`, and ask it again for as long as something was learned.

    A program that is not known yet has no outline: nothing is covered by mistake.
    """

    def __init__(self, assessor: Assessor, agent: str = "") -> None:
        """`agent`: on whose account they are made; '' for the person's."""
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
        """Make the outlines that were asked for in vain. Whether there were any."""
        missing, self._missing = self._missing, set()
        for language, code in missing:
            began = time.monotonic()
            late = self._spent > MOST_SECONDS
            outline = "" if late else await self._assessor.outline(language, code, agent=self._agent)
            self._known[language, code] = outline
            self._spent += time.monotonic() - began
        return bool(missing)
