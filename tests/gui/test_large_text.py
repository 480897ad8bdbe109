"""Text of twice the size: pictures keep their distance from words, and nothing is cut where the page scrolls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QWidget,
)

from app.agents.panel import AgentsPanel
from app.doctor.panel import DoctorPanel
from app.parts.boxes import keep_from_edge
from app.parts.clearing import clearable
from app.remembering.panel import RulesPanel
from app.settings.form import Form
from app.settings.row import SettingRow
from app.state.cards import Cards
from app.today.bars import LEGEND
from app.today.cards import Legend
from runner.commands.check import Check, State
from runner.identity.agents import Agent
from runner.settings.loading import declared, load
from tests.gui import feed
from tests.gui.conftest import scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places

NARROW = 760
"""Pixels of a page in the smallest window."""
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
    """Its frame is thicker then, and the box as wide as before."""
    del sized
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
    option = QStyleOptionButton()
    box.initStyleOption(option)
    assert option.state & QStyle.StateFlag.State_HasFocus
    room = box.style().subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, box)
    assert room.width() >= box.fontMetrics().horizontalAdvance("Off")


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


def test_all_settings_of_an_agent_are_within_reach(qtbot: QtBot, look: Look) -> None:
    """Beside a window of 960 pixels with text of twice the size; what is beyond the edge cannot be scrolled to."""
    with scaled(look, 2.0) as large:
        panel = AgentsPanel(Cards(), feed.RecordingBridge(), large)  # type: ignore[arg-type]
        qtbot.addWidget(panel)
        panel.form.show_agent(AGENT)
        panel._stack.setCurrentWidget(panel.form)
        panel.resize(NARROW, 2000)
        panel.show()
        (area,) = panel.form.findChildren(QScrollArea)
        assert area.widget().minimumSizeHint().width() <= area.viewport().width()


def test_a_high_window_does_not_draw_the_settings_of_an_agent_apart(qtbot: QtBot, look: Look) -> None:
    panel = AgentsPanel(Cards(), feed.RecordingBridge(), look)  # type: ignore[arg-type]
    qtbot.addWidget(panel)
    panel.form.show_agent(AGENT)
    panel._stack.setCurrentWidget(panel.form)
    panel.resize(1300, 1400)
    with qtbot.waitExposed(panel):
        panel.show()
    tops = [limit.mapTo(panel, limit.rect().topLeft()).y() for limit in panel.form.limits.values()]
    assert tops[1] - tops[0] < 2 * panel.form.limits["seconds"].height()


def test_no_tab_of_the_rules_is_cut(qtbot: QtBot, look: Look, places: Places) -> None:
    with scaled(look, 2.0) as large:
        panel = RulesPanel(Cards(), feed.RecordingBridge(), large, places)  # type: ignore[arg-type]
        qtbot.addWidget(panel)
        panel.resize(NARROW, 740)
        panel.show()
        assert panel.tabs.more.isVisible() and panel.tabs.away
        assert panel.tabs.tabRect(0).width() >= panel.tabs.fontMetrics().horizontalAdvance(panel.tabs.tabText(0))


def test_what_is_built_leaves_the_buttons_of_the_doctor_in_sight(qtbot: QtBot, look: Look, places: Places) -> None:
    checks = (Check("Images", State.WARN, "Missing.", "assent images javascript", images=("javascript",)),)
    with scaled(look, 2.0) as large:
        panel = DoctorPanel(large, places, lambda _: checks)
        qtbot.addWidget(panel)
        panel.resize(NARROW, 740)
        panel.show()
        qtbot.waitUntil(lambda: bool(panel.rows))
        (row,) = panel.rows
        row.show_step(0.5, "javascript: unpacking packages of a long name")
        assert row.minimumSizeHint().width() <= panel._scroll.viewport().width()
        assert panel.summary.height() < 2 * panel.summary.fontMetrics().height(), "one line of words"


def test_the_legend_of_the_day_takes_lines_instead_of_width(qtbot: QtBot, look: Look) -> None:
    with scaled(look, 2.0) as large:
        legend = Legend(large)
        qtbot.addWidget(legend)
        legend.show_entries(LEGEND)
        legend.resize(legend.sizeHint().width(), 0)
        legend.show()
        high = legend.height()
        assert {line for _, line in legend.places()} == {0}
        legend.resize(NARROW - large.px(60), high)
        assert legend.height() == 2 * high
        for (left, _), entry in zip(legend.places(), LEGEND, strict=True):
            assert left + legend.fontMetrics().horizontalAdvance(entry[1]) < legend.width()


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
