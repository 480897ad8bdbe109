"""Code as it is colored: no text holds up the window, and each word lies within its line."""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication

from app.parts.text.lexing import _MOST_WORK, Lexing
from tests.fuzz import classifier
from tests.fuzz.mutation import fuzz
from tests.patience import HANGS

LANGUAGES = ("python", "javascript", "shell")
LONGEST_PAUSE = 5.0
"""Seconds of this thread's processor time between two looks at the event queue; usually milliseconds."""


def check(data: bytes) -> None:
    """Fail where coloring `data` takes long at once, or colors what is not there."""
    application = QCoreApplication.instance() or QCoreApplication([])
    lines = data[1:].decode("utf-8", "replace").split("\n")
    lexing = Lexing()
    lexing.start(lines, LANGUAGES[data[0] % 3 if data else 0])
    end = time.monotonic() + 2 * _MOST_WORK + HANGS
    while lexing._timer.isActive() and lexing._work is not None:
        assert time.monotonic() < end, "it does not end"
        begun = time.thread_time()
        application.processEvents()
        assert time.thread_time() - begun < LONGEST_PAUSE, "the window stands still"
    assert len(lexing.words) <= len(lines)
    for line, words in zip(lines, lexing.words, strict=False):
        assert all(0 <= begin < end <= len(line) for begin, end, _ in words)


def run(seconds: float, seed: int) -> int:
    return fuzz(
        "highlighter", check, classifier.SEEDS, seconds, seed, classifier.WORDS, limit=3 * _MOST_WORK + 2 * HANGS
    )
