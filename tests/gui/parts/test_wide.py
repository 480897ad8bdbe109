"""A window of 2560 pixels: no line is too long to be read along, and states stay near their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel

from app.parts.column import READABLE
from app.parts.notice import Notice, Tone
from app.parts.summaries import SummaryModel
from app.parts.text.lines import WIDEST, Summary, list_view
from app.remembering.rows import RuleRow

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from tests.gui.conftest import Desk

WORDS = "words of a sentence that does not end " * 12


def test_the_state_of_a_row_stays_near_its_name(look: Look, qtbot: QtBot) -> None:
    model = SummaryModel()
    model.replace((Summary("Writes out.txt", "Foreseen by the assessment", "written"),))
    view = list_view(look, model, "Acts")
    qtbot.addWidget(view)
    view.resize(2400, 100)
    view.show()
    painted = view.viewport().grab().toImage()
    middle = range(look.px(10), look.px(44))
    row = [any(painted.pixel(x, y) != painted.pixel(2200, y) for y in middle) for x in range(painted.width() - 40)]
    assert any(row[look.px(WIDEST - 80) : look.px(WIDEST + 12)]), "the state"
    assert not any(row[look.px(WIDEST + 20) :])


def test_texts_break_where_they_are_too_long_to_be_read_along(look: Look, qtbot: QtBot) -> None:
    rule = RuleRow(look, "A rule", (WORDS,), "made today", "Revoke")
    notice = Notice(look, Tone.WARN, WORDS, "Settings")
    for one, button in ((rule, rule.button), (notice, notice.action)):
        qtbot.addWidget(one)
        one.resize(2400, 200)
        one.show()
        assert button is not None and button.x() < look.px(READABLE + 100), "beside its text"
        (text,) = (label for label in one.findChildren(QLabel) if label.text().startswith("words"))
        assert look.px(READABLE - 20) <= text.width() <= look.px(READABLE)
        one.resize(600, 300)
        assert text.width() > look.px(380) and button.geometry().right() <= 600


def test_the_button_of_a_banner_stands_beside_its_text_however_short(look: Look, qtbot: QtBot) -> None:
    notice = Notice(look, Tone.GOOD, WORDS, "First steps")
    qtbot.addWidget(notice)
    notice.resize(2400, 60)
    notice.show()
    notice.say(Tone.GOOD, "It was approved.", "First steps")
    qtbot.waitUntil(lambda: notice.action.x() < look.px(260))
    (text,) = (label for label in notice.findChildren(QLabel) if label.text().startswith("It was"))
    assert text.heightForWidth(text.width()) < 2 * text.fontMetrics().height(), "on one line"


def test_what_the_empty_pages_showed_takes_no_room_from_the_buttons_of_a_request(desk: Desk) -> None:
    queue, review = desk.window.deciding.queue, desk.review
    for empty in (queue.none, review.nothing):
        figures = QLabel("Today")
        figures.setFixedHeight(700)
        empty.add_below(figures)
        figures.show()
        desk.qtbot.waitUntil(lambda empty=empty: empty.minimumSizeHint().height() > 700)
    desk.ask()
    desk.qtbot.waitUntil(lambda: queue.minimumSizeHint().height() < 400)
    desk.qtbot.waitUntil(lambda: review.minimumSizeHint().height() < 400)
