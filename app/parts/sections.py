"""Headed sections for columns of facts: lines of text, and pairs of a name and a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.parts.plain import plain_label
from app.parts.text.visible_characters import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.look.look import Look


class Section(QWidget):
    """A heading and the widgets below it."""

    def __init__(self, look: Look, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = plain_label(role="heading")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.px(6))
        self._column.addWidget(self._heading)
        self.rename(heading)

    def rename(self, heading: str) -> None:
        self._heading.setText(heading)

    def drop_heading(self) -> None:
        """Hide the heading, where the section stands below that of another."""
        self._heading.hide()

    def add(self, widget: QWidget) -> None:
        self._column.addWidget(widget)


class Listed(Section):
    """A section of one line per text; hidden while there are none."""

    def __init__(self, look: Look, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(look, heading, parent)
        self._lines = wrapped_label(look)
        self.add(self._lines)

    def show_lines(self, lines: Iterable[str]) -> None:
        self._lines.setText("\n".join(map(visible, lines)))
        self.setVisible(bool(self._lines.text()))


class Pairs(Section):
    """A section of names at the left and values at the right; hidden while there are none."""

    def __init__(self, look: Look, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(look, heading, parent)
        self._look = look
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(look.px(12))
        self._grid.setVerticalSpacing(look.px(4))
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []
        self._column.addLayout(self._grid)

    def show_pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        pairs = tuple(pairs)
        while len(self._rows) < len(pairs):
            self._add_row()
        for number, (name, value) in enumerate(self._rows):
            shown = number < len(pairs)
            name.setVisible(shown)
            value.setVisible(shown)
            if shown:
                name.setText(pairs[number][0])
                value.setText(pairs[number][1])
        self.setVisible(bool(pairs))

    def _add_row(self) -> None:
        name, value = plain_label(role="muted"), wrapped_label(self._look)
        row = len(self._rows)
        self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))


def wrapped_label(look: Look) -> QLabel:
    """Return a label that breaks its lines and lets its text be selected."""
    label = plain_label(wrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
    label.setMinimumWidth(look.px(40))
    return label
