"""What an agent sends cannot make one request look like another, or code too small to be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from app.parts.text.bounded_lexers import tokens
from app.parts.text.code import CodeView
from app.parts.text.lexing import _kind
from app.review.batch import Batch
from app.review.joined import grouped
from runner.model.request import Language, Tool
from tests.gui import feed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from app.state.cards import Card
    from tests.gui.conftest import Desk

WIDE = "\U0001f852\u0d4e\u0b5d\u0958"
"""Signs that are drawn as wide as several letters, by the fonts that most machines have."""
ORDINARY = "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 10
CODE = "; print('not harmless')"


def _asked(desk: Desk, **values: object) -> Card:
    card = desk.cases.card(desk.ask(replace(feed.request("print(1)"), **values)).id)  # type: ignore[arg-type]
    assert card is not None
    return card


@pytest.mark.parametrize("sign", WIDE)
def test_signs_that_are_drawn_wide_do_not_squeeze_the_code_beside_them(look: Look, qtbot: QtBot, sign: str) -> None:
    view = CodeView(look)
    qtbot.addWidget(view)
    view.resize(800, 600)
    view.show()
    columns = view._grid.columns
    view.set_code(f"a = '{sign * (columns - len(CODE) - 7)}'{CODE}\n{ORDINARY}", "python")
    view.grab()
    row = view._painting.glyphs(0, 0, view._layout.pieces(0)[0])
    assert row.width <= 1.6 * view._grid.width
    assert view._painting.glyphs(1, 1, view._layout.pieces(1)[0])._text == ORDINARY


LONG = "word " * 300
MISLEADING = {
    "comment in Python": ("python", f'# {LONG}"""\nhostile()\n"""'),
    "comment in shell": ("shell", f"# {LONG}'\nhostile\n: '"),
    "text in shell": ("shell", f"python3 -c '{LONG}'; hostile; echo 'x'"),
    "here-document": ("shell", f"cat <<EOF\n{LONG} don't\nEOF\nhostile; echo 'x'"),
    "comment in JavaScript": ("javascript", f"/* {LONG} don't */ hostile(); 'x'"),
    "line of comment in JavaScript": ("javascript", f"// {LONG} `\nhostile(); `x`"),
    "text in JavaScript": ("javascript", f'a = "{LONG}"; hostile(); "x"'),
    "beyond all bounds": ("javascript", f'a = "{LONG * 40}"; hostile(); "x"'),
}


@pytest.mark.parametrize("name", MISLEADING)
def test_code_behind_a_long_comment_or_text_has_not_the_color_of_one(name: str) -> None:
    language, code = MISLEADING[name]
    kinds = [_kind(token) for token, text in tokens(code, language) for _ in text]
    place = code.index("hostile")
    assert not {"string", "comment"} & {*kinds[place : place + len("hostile")]}


def test_in_a_batch_only_what_has_the_same_parts_is_the_same(desk: Desk) -> None:
    cards = [
        _asked(desk, code="cat\nInput: a", stdin="", language=Language.SHELL),
        _asked(desk, code="cat", stdin="a", language=Language.SHELL),
        _asked(desk, code="cat\nInput: a", stdin="", language=Language.PYTHON),
        _asked(desk, code="", tool=Tool.CODE_READ_FILE, files=("a",), language=None),
        _asked(desk, code="", tool=Tool.CODE_LIST_FILES, files=("a",), language=None),
        _asked(desk, code="cat", stdin="a", language=Language.SHELL),
    ]
    assert [[number for number, _ in one] for one in grouped(cards)] == [[1], [2, 6], [3], [4], [5]]


def test_a_batch_says_what_each_request_would_do_before_what_it_is_called(desk: Desk, look: Look) -> None:
    title = "Listing \N{MIDDLE DOT} LOW \N{MIDDLE DOT} lists files"
    card = _asked(desk, code="", tool=Tool.CODE_DESTROY_SANDBOX, sandbox="box", language=None, title=title)
    batch = Batch(desk.window, desk.cases, lambda *_: None, look, [card.id])
    line = batch.what.text()
    assert line.index("removes its sandbox") < line.index(title)
