"""Text of twice the size: pictures keep their distance from words, and nothing is cut where the page scrolls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QSpinBox, QToolButton, QWidget

from app.agents.panel import AgentsPanel
from app.parts.boxes import keep_from_edge
from app.parts.clearing import clearable
from app.settings.form import Form
from app.settings.row import SettingRow
from app.state.cards import Cards
from runner.identity.agents import Agent
from runner.settings.loading import declared, load
from tests.gui import feed
from tests.gui.conftest import scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places

AGENT = Agent("claude-code", "0" * 64, 1_000_000.0, 2_000_000.0)


@pytest.fixture(params=[1.0, 2.0])
def sized(request: pytest.FixtureRequest, look: Look) -> Iterator[Look]:
    with scaled(look, request.param) as other:
        yield other


def test_pictures_keep_their_distance_from_words(sized: Look, qtbot: QtBot) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    button, bare = QPushButton("Export", place), QPushButton("Export", place)
    sized.dress(button, "download", size=14)
    assert button.sizeHint().width() - bare.sizeHint().width() >= sized.px(14 + 8)
    alone = QToolButton(place)
    sized.dress(alone, "x")
    assert alone.iconSize().width() == sized.px(16), "nothing stands beside it"


def test_numbers_keep_their_distance_from_the_edge(sized: Look, qtbot: QtBot) -> None:
    box = QSpinBox()
    qtbot.addWidget(box)
    keep_from_edge(box)
    box.setRange(0, 100_000)
    box.setValue(100_000)
    box.show()
    line = box.lineEdit()
    line.home(False)
    assert line.mapTo(box, line.cursorRect().center()).x() >= sized.px(5)
    assert line.width() - line.textMargins().left() >= line.fontMetrics().horizontalAdvance(line.text())


def test_the_button_that_empties_a_field_is_as_large_as_text(sized: Look, qtbot: QtBot) -> None:
    field = QLineEdit("words")
    qtbot.addWidget(field)
    clearable(field, sized)
    field.resize(sized.px(200), field.sizeHint().height())
    field.show()
    (button,) = field.findChildren(QToolButton)
    assert button.isVisible() and button.accessibleName() == "Clear"
    assert button.iconSize().width() >= sized.px(14) and field.rect().contains(button.geometry())
    assert button.x() >= field.width() - field.textMargins().right() - sized.px(12), "words under it"
    button.click()
    assert field.text() == "" and not button.isVisible()
    field.setText("again")
    assert button.isVisible()


def test_a_box_with_the_focus_has_room_for_its_words(sized: Look, qtbot: QtBot) -> None:
    """Its frame is thicker then."""
    place = QWidget()
    qtbot.addWidget(place)
    row = QHBoxLayout(place)
    box = QCheckBox("Off")
    row.addWidget(box)
    row.addStretch()
    place.resize(600, 100)
    place.show()
    place.activateWindow()
    qtbot.waitUntil(place.isActiveWindow)
    box.setFocus(Qt.FocusReason.TabFocusReason)
    painted = box.grab().toImage()
    words = box.fontMetrics().horizontalAdvance("Off")
    # The words end before the edge: the last columns have the color of the ground alone.
    ground = painted.pixelColor(painted.width() - 1, 0)
    for x in (painted.width() - 2, painted.width() - 1):
        assert all(painted.pixelColor(x, y) == ground for y in range(painted.height())), (x, words)


def test_all_columns_of_the_agents_that_are_shown_have_room(qtbot: QtBot, look: Look) -> None:
    with scaled(look, 2.0) as large:
        bridge, cards = feed.RecordingBridge(), Cards()
        bridge.known = (AGENT,)
        panel = AgentsPanel(cards, bridge, large)  # type: ignore[arg-type]
        qtbot.addWidget(panel)
        panel.resize(1150, 740)
        panel.show()
        assert panel.view.horizontalScrollBar().maximum() == 0
        head = panel.view.horizontalHeader()
        assert head.sectionSize(0) >= large.px(110), "the name is what one looks for"
        panel.resize(2000, 740)
        assert not panel.view.isColumnHidden(1) and panel.view.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("folded", [True, False])
def test_what_is_said_of_a_setting_is_not_cut(folded: bool, qtbot: QtBot, look: Look, places: Places) -> None:
    with scaled(look, 2.0) as large:
        one = next(one for one in declared() if one.name == "max_output_kb")
        form = Form(load(places, {"SANDBOX_MAX_OUTPUT_KB": "20"}), {"SANDBOX_MAX_OUTPUT_KB": "20"}, "assent.yaml")
        row = SettingRow(one, form, large)
        qtbot.addWidget(row)
        row.fold(folded)
        row.resize(1100, row.heightForWidth(1100))
        row.show()
        for label in row.findChildren(QLabel):
            assert not label.isVisible() or label.height() >= label.heightForWidth(label.width()), label.text()
