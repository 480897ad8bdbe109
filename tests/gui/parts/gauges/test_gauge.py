"""The card of one resource: what it says during a run, and at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel

from app.parts.amounts import size
from app.parts.gauges.gauge import GaugeView

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look

MB = 1 << 20


def shown(gauge: GaugeView) -> list[str]:
    return [label.text() for label in gauge.findChildren(QLabel) if label.text() and label.isVisibleTo(gauge)]


def test_the_first_reading_moves_nothing(qtbot: QtBot, look: Look) -> None:
    gauge = GaugeView(look, "memory-stick", "Memory", size)
    qtbot.addWidget(gauge)
    gauge.resize(220, 92)
    gauge.show()
    before = gauge.sizeHint().height()
    gauge.add(0.0, 20 * MB)
    assert gauge.sizeHint().height() == before


def test_the_large_figure_is_the_present_one_and_at_the_end_the_peak(qtbot: QtBot, look: Look) -> None:
    gauge = GaugeView(look, "memory-stick", "Memory", size)
    qtbot.addWidget(gauge)
    gauge.set_limit(512 * MB)
    for at, value in ((0.0, 20 * MB), (1.0, 60 * MB), (2.0, 10 * MB)):
        gauge.add(at, value)
    assert shown(gauge) == ["Memory", "10 MB", "of 512 MB \N{MIDDLE DOT} peak 60 MB"]
    assert gauge.accessibleName() == "Memory: 10 MB of 512 MB, peak 60 MB"
    gauge.show_curve([(0.0, 20 * MB), (1.0, 60 * MB), (2.0, 10 * MB)], 70 * MB)
    assert shown(gauge) == ["Memory", "70 MB", "peak, limit 512 MB \N{MIDDLE DOT} end 10 MB"]
    assert gauge.accessibleName() == "Memory: peak 70 MB of 512 MB, end 10 MB"
    gauge.no_data("Not started")
    assert gauge.accessibleName() == "Memory: Not started."
    gauge.add(0.0, 9 * MB)
    gauge.add(1.0, 7 * MB)
    gauge.end()
    assert shown(gauge) == ["Memory", "9 MB", "peak, limit 512 MB \N{MIDDLE DOT} end 7 MB"]
    gauge.show_curve([], 505 * MB)
    assert shown(gauge) == ["Memory", "505 MB", "peak, limit 512 MB"]
    assert gauge.accessibleName().endswith("at the limit")
    gauge.no_data("Not started")
    gauge.add(0.0, 5 * MB)
    assert shown(gauge)[1:] == ["5 MB", "of 512 MB \N{MIDDLE DOT} peak 5 MB"], "the next run is not over"
