"""Variables, input and other short parts of a request under its code, where all of them fit: no tab to go to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.parts.plain import plain_label
from app.parts.text.code import CodeView
from runner.model.translation import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.look.look import Look
    from runner.model.request import Part

MOST_PARTS = 3
MOST_LINES = 8
MOST_CHARACTERS = 4000
"""Of each part."""
SHARE = 0.45
"""Of the height, for the short parts; the code has the rest."""


class ShortParts(QWidget):
    """The parts beside each other, each whole; hidden while they do not fit. It scrolls nothing."""

    seen = Signal(object)
    """The Part whose end has been on the screen."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._blocks: list[tuple[Part, QWidget, CodeView]] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(look.px(10), look.px(4), look.px(10), 0)
        self._row.setSpacing(look.px(10))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()

    @property
    def parts(self) -> tuple[Part, ...]:
        """What stands here where there is room."""
        return tuple(part for part, _, _ in self._blocks)

    def show_parts(self, parts: Sequence[Part]) -> None:
        """Take these parts where all of them are short, else none."""
        for _, block, _ in self._blocks:
            block.hide()
            self._row.removeWidget(block)
            block.deleteLater()
        self._blocks = []
        if len(parts) <= MOST_PARTS and all(map(is_short, parts)):
            self._blocks = [self._block(part) for part in parts]

    def fit(self, width: int, height: int) -> bool:
        """Give each part the height of its rows in a page of this size; return whether all of them have room."""
        if not self._blocks:
            return False
        inner = width - self._look.px(20) - self._look.px(10) * (len(self._blocks) - 1)
        each = inner // len(self._blocks)
        needed = [view.height_for(each) for _, _, view in self._blocks]
        row = max(1, self._blocks[0][2].row_height)
        if each <= 0 or None in needed:
            return False
        for (_, _, view), one in zip(self._blocks, needed, strict=True):
            view.setFixedHeight(one or row)
        return max(one or 0 for one in needed) + 2 * row <= height * SHARE

    def _block(self, part: Part) -> tuple[Part, QWidget, CodeView]:
        block = QWidget()
        view = CodeView(self._look, block)
        view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.set_code(part.text, "", ())
        name = phrases.part_name(part.name)
        view.setAccessibleName(f"{name}, {plural('{count} line', '{count} lines', view.line_count)}")
        view.seen_to_end.connect(partial(self._tell, part, view))
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._look.px(2))
        column.addWidget(plain_label(name, "heading"))
        column.addWidget(view)
        column.addStretch()
        self._row.addWidget(block, 1)
        return part, block, view

    def _tell(self, part: Part, view: CodeView, to_end: bool) -> None:
        """Tell it of what is shown still: a view says it a moment later, and another request may have the same part."""
        if to_end and any(view is one for _, _, one in self._blocks):
            self.seen.emit(part)


def is_short(part: Part) -> bool:
    """Return whether a part may be shown under the code; whether it is, its rows say."""
    lines = len(part.text.splitlines())
    return lines <= MOST_LINES and len(part.text) <= MOST_CHARACTERS and part.is_shown_whole
