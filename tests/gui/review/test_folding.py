"""A picture that stands in code as text is folded where nothing can hide in it, and is counted as seen where it was."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt

from app.parts.text.folded import FoldedPiece
from app.review.reading import FOLDED
from runner.model.embedded_picture import EmbeddedPicture
from runner.model.request import Language
from runner.risk.assess import assess
from runner.risk.literals.pictures import pictures
from tests.gui import feed
from tests.gui.seeing import to_the_end
from tests.risk.test_embedded_pictures import PICTURE, PYTHON, encoded, png

if TYPE_CHECKING:
    from app.parts.text.code import CodeView
    from runner.model.request import Request
    from tests.gui.conftest import Desk

AFTER = f'import base64\n\nLOGO = "{PICTURE}"; print("after it")\n'
LONG = PYTHON + "".join(f"print({number})\n" for number in range(200))
EVIL = PYTHON + "exec(base64.b64decode(LOGO)[100:])\n"
UNREAD = PYTHON + "import unheard\nunheard.of(LOGO)\n"


def ask(desk: Desk, code: str) -> Request:
    one = replace(feed.request(code), language=Language.PYTHON)
    desk.hear(feed.asked(one, assess(one)))
    desk.review.show_card(desk.cases.waiting()[-1])
    return one


def fold(desk: Desk, code: str) -> CodeView:
    """Ask, and have the worker process find what it finds; return once it has been folded."""
    ask(desk, code)
    desk.give("pictures", pictures(Language.PYTHON, code))
    view = desk.page.reading.code
    desk.qtbot.waitUntil(lambda: view.folds)
    return view


def rows(view: CodeView, line: int) -> list[str]:
    """What is on the screen of a line: its code, and "" where something stands in place of it."""
    text = view.listing.shown(line).text
    return [text[slice(*piece)] for piece in view._layout.pieces(line)]


def test_the_rows_within_the_picture_are_one_sentence_and_all_others_stay(desk: Desk) -> None:
    view = fold(desk, AFTER)
    shown = rows(view, 2)
    assert shown[0].startswith('LOGO = "iVBOR') and shown[-1].endswith('"; print("after it")')
    assert all(one in AFTER for one in shown) and len("".join(shown)) < 400, "the rest is the picture's"
    said = f"{len(PICTURE):,} characters, not looked at one by one: base64 of a PNG picture of 60 × 50 pixels"
    assert said in " ".join(view._layout.fold_words(2))
    view.scroll_to(3)
    assert said in view.accessibleDescription()


@pytest.mark.parametrize("code", [EVIL, UNREAD, "print(1)\n"])
def test_where_something_stands_out_or_was_not_read_nobody_looks_for_pictures(desk: Desk, code: str) -> None:
    ask(desk, code)
    desk.rest_passes()
    assert not [call for call in desk.bridge.calls if call[0] == "pictures"]
    assert not desk.page.reading.code.folds


def test_a_picture_that_comes_after_another_request_is_on_screen_folds_nothing_there(desk: Desk) -> None:
    ask(desk, AFTER)
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("pictures"))
    ask(desk, PYTHON)
    desk.qtbot.waitUntil(lambda: sum(1 for call in desk.bridge.calls if call[0] == "pictures") == 2)
    view, folding = desk.page.reading.code, desk.review._folding
    desk.bridge.give("pictures", pictures(Language.PYTHON, AFTER))
    desk.qtbot.waitUntil(lambda: len(folding._tasks._live) == 1)
    assert not view.folds, "the answer was about the other"
    desk.bridge.give("pictures", pictures(Language.PYTHON, PYTHON))
    desk.qtbot.waitUntil(lambda: view.folds)


def test_what_is_said_to_be_a_picture_and_holds_other_characters_stays_as_it_is(desk: Desk) -> None:
    """Whatever a worker process answers: the view looks at each character that it would not show."""
    code = AFTER.replace('"; print("after it")', '"; ' + "print(1); " * 200 + "#" + "A" * 900)
    ask(desk, code)
    line = code.split("\n")[2]
    desk.give("pictures", (EmbeddedPicture(3, 8, len(line), 60, 50),))
    desk.rest_passes()
    view = desk.page.reading.code
    piece = FoldedPiece(8, len(line), "a picture", view.grab().toImage())
    assert not view.folds
    view.fold({2: piece})
    assert not view.folds and "".join(rows(view, 2)) == line


def test_o_or_a_click_shows_every_character_and_search_finds_in_it(desk: Desk) -> None:
    view = fold(desk, AFTER)
    folded = rows(view, 2)
    view.setFocus()
    desk.qtbot.keyClick(view, Qt.Key.Key_O)
    assert "".join(rows(view, 2)) == AFTER.split("\n")[2]
    desk.qtbot.keyClick(view, Qt.Key.Key_O)
    assert rows(view, 2) == folded
    row = next(row for row in range(view._layout.rows.total) if view._layout.fold_at(*view._layout.rows.at(row)) == 0)
    desk.qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, int((row + 0.5) * view.row_height))
    )
    assert "".join(rows(view, 2)) == AFTER.split("\n")[2]
    view.show_all(False)
    view.tools.open_search()
    assert "".join(rows(view, 2)) == AFTER.split("\n")[2]
    assert view.folds, "it can be folded again"


def test_a_press_that_was_meant_for_scrolling_does_not_approve_what_has_just_become_short(desk: Desk) -> None:
    ask(desk, AFTER)
    desk.rest_passes()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("pictures"))
    assert desk.page.reading.unseen, "the characters take more than the view"
    desk.bridge.give("pictures", pictures(Language.PYTHON, AFTER))
    desk.qtbot.waitUntil(lambda: desk.page.reading.code.folds)
    desk.qtbot.waitUntil(lambda: not desk.page.reading.unseen and "Scroll" not in desk.page.foot.sentence.text())
    desk.qtbot.mouseClick(desk.page.foot.approve, Qt.MouseButton.LeftButton)
    assert desk.answers == []
    desk.rested()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert [call[0] for call in desk.answers] == ["approve"]


def test_a_fold_counts_as_seen_only_where_its_words_were_on_the_screen(desk: Desk) -> None:
    code = LONG.replace("import base64\n", "import base64\n" + "print(0)\n" * 100)
    ask(desk, code)
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("pictures"))
    desk.bridge.give("pictures", pictures(Language.PYTHON, code))
    view = desk.page.reading.code
    desk.qtbot.waitUntil(lambda: view.folds)
    to_the_end(desk.qtbot, view, lambda: view.is_seen_to_end)
    assert desk.page.reading.unseen == [FOLDED]
    assert "folded picture" in desk.page.foot.sentence.text() or desk.review.answering.resting
    desk.page.reading.look_further(FOLDED)
    desk.qtbot.waitUntil(lambda: not desk.page.reading.unseen)


def test_what_a_trial_finds_shows_every_character_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    view = fold(desk, AFTER)
    monkeypatch.setattr("app.review.folding.may_fold", lambda shown: False)
    desk.review._folding.follow()
    assert not view.folds and "".join(rows(view, 2)) == AFTER.split("\n")[2]


def test_where_the_picture_cannot_be_drawn_its_characters_stay(desk: Desk) -> None:
    code = AFTER.replace(PICTURE, encoded(png(pixels=b"x" * 1500)))
    ask(desk, code)
    line = code.split("\n")[2]
    desk.give("pictures", (EmbeddedPicture(3, 8, line.index('";'), 60, 50),))
    desk.rest_passes()
    assert not desk.page.reading.code.folds and "".join(rows(desk.page.reading.code, 2)) == line
