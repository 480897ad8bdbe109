"""No text of an agent makes the window stop: code, input or variables of a megabyte, however they are made."""

from __future__ import annotations

import gc
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from app.parts.text.bounded_lexers import tokens
from app.parts.text.code import CodeView
from app.review import approval
from app.review.batch import Batch
from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.model.shown import LONGEST_SHOWN, cut_lines
from runner.risk.assess import assess
from tests.gui import feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from tests.gui.conftest import Desk

MEGABYTE = 1 << 20
STALL = 0.3
"""Seconds of processor time for showing a text, where most take some hundredths; it was 4 to 60 s."""
DRAWN = 0.2
"""Seconds of processor time for drawing a screen of code again; it was 0.5 s and more."""
TURN = 0.15
"""Seconds of processor time for laying out lines in one turn of the window; it was up to 1.6 s."""
STEP = 0.2
"""Seconds of processor time for one step of a lexer; it was up to 140 s."""


def _filled(piece: str, size: int = MEGABYTE) -> str:
    return piece * (size // len(piece.encode()))


SHOWN = {
    "letters": _filled("a"),
    "bidi controls": _filled("\u202e"),
    "marks": "a" + _filled("\u0301"),
    "zero-width": _filled("\u200b"),
    "emoji families": _filled("\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    "tabs": _filled("\t"),
    "letters from right to left": _filled("\u0627"),
    "empty lines": _filled("\n"),
    "many short lines": _filled("\u0627\n", 300_000),
}
MANY_LINES = {
    "bidi controls": "\n".join(["\u202e" * 1000] * 340),
    "marks": "\n".join(["\u0301" * 1000] * 500),
    "thirty signs": "\n".join(["\u202e" * 30] * 11_000),
    "tabs": "\n".join(["\t" * 16_000] * 60),
}
LEXED = {
    "here-document": ("shell", "cat <<" + "a" * 24_000),
    "here-documents": ("shell", "cat <<a\n" * 2_000),
    "long words of here-documents": ("shell", ("cat <<" + "a" * 1_900 + "\n") * 10),
    "format": ("python", '"%' + "0" * 20_000),
    "quotes": ("python", '"""' * 3_000),
    "templates": ("javascript", "`${" * 3_000),
    "comments": ("javascript", "/*" * 10_000),
    "substitutions": ("shell", "$(" * 5_000),
    "texts that do not end": ("javascript", 'a = "\\"' * 5_000),
    "comments that do not end": ("javascript", "`${/*" * 4_000),
    "here-documents that end far away": ("shell", "cat <<abc\n" * 2_000 + "x" * 40_000 + "\nabc"),
    "texts in texts": ("shell", "\"$(echo '" * 3_000),
    "a long text": ("shell", "'" + "a\n" * 20_000 + "'"),
}


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """Keep the garbage of earlier tests out of what is measured: collecting it takes as long as a turn may."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", SHOWN)
def test_a_megabyte_is_shown_without_a_stall(look: Look, qtbot: QtBot, name: str) -> None:
    view = CodeView(look)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    qtbot.waitExposed(view)
    began = time.thread_time()
    view.set_code(SHOWN[name], "shell")
    view.grab()
    assert time.thread_time() - began < STALL


@pytest.mark.parametrize("name", MANY_LINES)
def test_no_turn_of_laying_out_takes_long(look: Look, qtbot: QtBot, name: str) -> None:
    view = CodeView(look)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    qtbot.waitExposed(view)
    began = time.thread_time()
    view.set_code(MANY_LINES[name], "shell")
    turns = [time.thread_time() - began]
    while not view._layout.complete:
        began = time.thread_time()
        view._lay_further()
        turns.append(time.thread_time() - began)
    assert len(turns) > 2 and max(turns) < TURN


def test_code_that_is_not_laid_out_yet_has_not_been_seen(look: Look, qtbot: QtBot) -> None:
    view = CodeView(look)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    qtbot.waitExposed(view)
    finding = feed.finding(339, "Uses the network.")
    view.set_code(MANY_LINES["bidi controls"], "shell", (finding,))
    view._further.stop()
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum())
    view.grab()
    assert not view._layout.complete and not view.is_seen_to_end
    view.next_finding()
    view.grab()
    assert not view.is_seen_to_end
    view._further.start()
    qtbot.waitUntil(lambda: view._layout.complete)
    first = view._layout.rows.row(338)
    assert bar.value() <= first < bar.value() + view._rows_visible(), "the finding is gone to once it has its place"
    assert not view.is_seen_to_end
    bar.setValue(bar.maximum())
    view.grab()
    assert view.is_seen_to_end


@pytest.mark.parametrize("line", ["'" * 40_000, "\u202e" * LONGEST_SHOWN])
def test_a_row_is_drawn_by_what_stands_in_it_alone(look: Look, qtbot: QtBot, line: str) -> None:
    """However many words or hidden characters the whole line has."""
    view = CodeView(look)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    view.set_code(line, "shell")
    qtbot.waitUntil(lambda: view._lexing._work is None)
    view._painting.restyle()
    began = time.thread_time()
    view.grab()
    assert time.thread_time() - began < DRAWN


@pytest.mark.parametrize("name", LEXED)
def test_no_step_of_a_lexer_takes_long(name: str) -> None:
    language, text = LEXED[name]
    pieces: list[str] = []
    worst, before = 0.0, time.thread_time()
    for _, piece in tokens(text, language):
        now = time.thread_time()
        worst, before = max(worst, now - before), now
        pieces.append(piece)
    assert worst < STEP
    assert "".join(pieces) == text


LONG = "\u00e9" * (LONGEST_SHOWN + 5)
PARTS = {
    "code": {"code": f"print('{LONG}')"},
    "variables": {"context": json.dumps({"a": LONG}, ensure_ascii=False)},
    "input": {"stdin": f"one\n{LONG}\nthree"},
}


@pytest.mark.parametrize("part", PARTS)
def test_a_line_that_is_not_shown_whole_cannot_be_approved(desk: Desk, look: Look, part: str) -> None:
    one = desk.ask(replace(feed.request("print(1)"), **PARTS[part]))
    card = desk.cases.card(one.id)
    assert card is not None
    assert "too long to be shown" in approval.why_not(card, [], {})
    assert assess(one).level is Level.CRITICAL
    batch = Batch(desk.window, desk.cases, lambda *_: None, look, [one.id])
    assert not batch.listed and "too long to be shown" in batch.skipped[0][1]


def test_what_is_left_out_of_a_line_is_counted(look: Look, qtbot: QtBot) -> None:
    view = CodeView(look)
    qtbot.addWidget(view)
    view.set_code(f"a\n{LONG}\nb", "")
    shown = view._listing.shown(1).text
    assert shown == f"{LONG[:LONGEST_SHOWN]} \N{HORIZONTAL ELLIPSIS} 5 more characters of this line"
    assert view._listing.shown(2).text == "b"


@pytest.mark.parametrize("line", ["a" * 100_000, "\u00e9" * LONGEST_SHOWN, "x = 1"])
def test_a_line_that_is_shown_whole_raises_nothing(line: str) -> None:
    text = f"# {line[2:]}\nprint(1)"
    assert list(cut_lines(text)) == []
    assert assess(Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, text)).level is Level.HIGH
