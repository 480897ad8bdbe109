"""Lets the time of a rest pass at once: the clock is put forward in place of waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from PySide6.QtCore import QTimer

    from app.review.guard import ClickGuard


def elapse(timer: QTimer) -> bool:
    """End a single-shot timer that runs, if it does. False where it was started again meanwhile."""
    if timer.isActive():
        usual = timer.interval()
        timer.start(0)
        QApplication.processEvents()
        timer.setInterval(usual)
    return not timer.isActive()


def rest(guard: ClickGuard, timer: QTimer) -> bool:
    """Let the rest of `guard` and of its `timer` pass. False where something moved: it has to be called again."""
    turn = guard._turn
    # What appeared is painted, and layouts come to their end.
    QApplication.processEvents()
    QApplication.processEvents()
    if guard._turn != turn:
        return False
    guard._until = float("-inf")
    return elapse(timer) and guard._turn == turn
