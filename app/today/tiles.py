"""A tile: one figure, what it is, what stands beside it, and its small curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.parts.elide import ElidedLabel
from app.parts.gauges.gauge import Sparkline
from app.parts.plain import plain_label
from app.parts.roles import Role
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look

WIDE = 760
"""Pixels from which on the four stand side by side."""


class FigureTile(QFrame):
    """One name says it all: what, the figure, and the words below."""

    accessible_role = Role.Grouping

    def __init__(self, look: Look, title: str, ink: str, why: str, parent: QWidget | None = None) -> None:
        """`why` is the tool tip: what exactly is counted."""
        super().__init__(parent)
        self._title = title
        self._ink = ink
        self.setProperty("card", True)
        self.setToolTip(why)
        self.figure = plain_label(role="large")
        self.below = ElidedLabel()
        self.below.setProperty("role", "small")
        self.curve = Sparkline(look)
        self.curve.setFixedHeight(look.px(40))
        self.curve.setMinimumWidth(look.px(40))
        self.curve.setAccessibleName(tr("Curve of {title}", title=title))
        upper = QHBoxLayout()
        upper.setSpacing(look.px(14))
        upper.addWidget(self.figure, 0, Qt.AlignmentFlag.AlignVCenter)
        upper.addWidget(self.curve, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(14), look.px(10), look.px(14), look.px(10))
        column.setSpacing(look.px(2))
        column.addWidget(plain_label(title, "muted"))
        column.addLayout(upper)
        column.addWidget(self.below)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_figure(self, figure: str, below: str, curve: Sequence[float | None]) -> None:
        """Show another figure; the curve passes over None, and is left out where all of it is zero."""
        self.figure.setText(figure)
        self.below.setText(below)
        points = [(float(place), float(value)) for place, value in enumerate(curve) if value is not None]
        self.curve.set_points(points if any(value for _, value in points) else ())
        self.curve.set_scale(None, self._ink)
        self.setAccessibleName(f"{self._title}: {figure}, {below}")


class Tiles(QWidget):
    """Four tiles in a row, or two and two where it is narrow."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.decisions = FigureTile(
            look, tr("Decisions"), "accent", tr("What you approved or denied yourself, held commands too")
        )
        self.median = FigureTile(
            look,
            tr("Median to decide"),
            "accent",
            tr("Half of your answers came within this time, exact to a tenth of it"),
        )
        self.passed = FigureTile(
            look,
            tr("Passed without asking"),
            "low",
            tr("Approved by a rule, by what you remembered, in trust, or as LOW risk"),
        )
        self.contained = FigureTile(
            look,
            tr("Contained"),
            "high",
            tr("What was refused to running code and programs at work: hosts, modules, and commands by a rule"),
        )
        self.all = (self.decisions, self.median, self.passed, self.contained)
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(look.px(8))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        columns = 4 if self.width() >= self._look.px(WIDE) else 2
        if columns == self._columns:
            return
        self._columns = columns
        for number, tile in enumerate(self.all):
            self._grid.addWidget(tile, number // columns, number % columns)
        for column in range(4):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
