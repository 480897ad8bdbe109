"""Words of code: those on the screen before its first paint, the others after it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from app.parts.text.lexing import Lexing
from tests.patience import HANGS

if TYPE_CHECKING:
    import pytest
    from pytestqt.qtbot import QtBot

WAIT_MS = round(HANGS * 1000)
LINES = [f"value_{number} = {number}  # kept" for number in range(40)]


def test_lines_that_are_not_on_the_screen_wait_for_the_first_paint(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine may take longer for one word, and the rest would stay in one color.
    monkeypatch.setattr("app.parts.text.lexing._SLOWEST_STEP", HANGS)
    importlib.import_module("app.parts.text.bounded_lexers")
    lexing = Lexing()
    lexing.start(LINES[:1], "python")  # which loads the lexer
    qtbot.waitUntil(lambda: bool(lexing.line(0)), timeout=WAIT_MS)
    lexing.start(LINES, "python", shown=3)
    assert 3 < len(lexing.words) < len(LINES)
    assert lexing.line(2)
    assert not lexing._timer.isActive()
    with qtbot.waitSignal(lexing.grew, timeout=WAIT_MS):
        lexing.painted()
    qtbot.waitUntil(lambda: len(lexing.words) == len(LINES), timeout=WAIT_MS)
    assert lexing.line(39)
    lexing.painted()
    assert not lexing._waits


def test_what_is_shown_whole_waits_for_nothing(qtbot: QtBot) -> None:
    importlib.import_module("app.parts.text.bounded_lexers")
    lexing = Lexing()
    lexing.start(LINES[:2], "python", shown=3)
    qtbot.waitUntil(lambda: bool(lexing.line(1)), timeout=WAIT_MS)
    assert not lexing._waits
