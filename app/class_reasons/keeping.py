"""Keeps what the person says of a class, beside what the window does: the file may be slow, or held by another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.link.background import Errands
from runner.risk.explain.disputed import DisputedCases, DisputedLine, dispute

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.model.assessment import Assessment, Level
    from runner.model.request import Request

    Done = Callable[[DisputedLine | None], None]
    Failed = Callable[[Exception], None]


class CaseKeeping(QObject):
    """The file of disputed cases. What comes of a call arrives in the window's thread, in the order of the calls."""

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self._cases = DisputedCases(path)
        self._errands = Errands("kept-cases", self)

    def find(self, request: Request, done: Done, failed: Failed) -> None:
        """Look for a level kept of such a request."""
        self._errands.send(lambda: self._cases.find(request), done, failed)

    def keep(self, request: Request, found: Assessment, named: Level, note: str, done: Done, failed: Failed) -> None:
        """Keep that `request` should have been `named`."""
        now = time.time()
        self._errands.send(lambda: self._cases.keep(dispute(request, found, named, note, now)), done, failed)

    def keep_again(self, line: DisputedLine, done: Done, failed: Failed) -> None:
        """Keep a case that was removed."""
        case = line.case
        assert case is not None
        self._errands.send(lambda: self._cases.keep(case), done, failed)

    def remove(self, line: DisputedLine, done: Done, failed: Failed) -> None:
        """Remove a case; `done` gets what was removed, or None where it was gone already."""
        self._errands.send(lambda: next(iter(self._cases.remove([line.id])), None), done, failed)
