"""The lines of a scrollback on the screen: only those in view are read, colored and laid out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)

from app.parts.roles import Role
from app.parts.text.matches import Matches
from app.parts.text.output_painting import OutputPainting, characters_of, shown_of, text_of
from app.parts.text.scrollback import LONGEST, Scrollback
from app.parts.text.selection import TextPosition, TextSelection
from app.parts.text.text_area import TextArea
from app.parts.text.to_clipboard import to_clipboard

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.look.look import Look


class OutputPane(TextArea):
    """Follows the end until somebody scrolls away from it. Arrows, Page Up, Page Down, Home and End scroll."""

    accessible_role = Role.Terminal
    following_changed = Signal(bool)
    line_pressed = Signal(int)
    """The number of a line that was clicked."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        self._lines = Scrollback()
        self._following = True
        self._top = 0
        self._end = 0
        self._widest = 0.0
        self._selection = TextSelection()
        self._matches = Matches()
        self._painting = OutputPainting(look, self._selection, self._matches)
        self.horizontalScrollBar().setSingleStep(round(self._painting.cell * 4))
        self.verticalScrollBar().actionTriggered.connect(self._scrolled_by_hand)
        self.verticalScrollBar().valueChanged.connect(self._moved)
        look.changed.connect(self._restyle)

    # ---- what it shows ----

    def set_lines(self, lines: Scrollback) -> None:
        """Show another scrollback, from its end."""
        self._lines = lines
        self._top = self._end = 0
        self._widest = 0.0
        self._matches.forget_current()
        self._selection.put(TextPosition(0, 0))
        self._painting.forget()
        self.follow(True)
        self.refresh()

    def refresh(self) -> None:
        """Take up what was added to the scrollback since the last time."""
        self._end = self._lines.end
        bar = self.verticalScrollBar()
        first, visible = self._lines.first, self._rows_visible()
        most = max(0, self._end - first - visible)
        self._top = first + most if self._following else min(max(self._top, first), first + most)
        bar.blockSignals(True)
        bar.setRange(0, most)
        bar.setPageStep(visible)
        bar.setValue(self._top - first)
        bar.blockSignals(False)
        self.viewport().update()

    @property
    def following(self) -> bool:
        return self._following

    def follow(self, following: bool) -> None:
        """Keep the end in view, or stop doing so."""
        if following != self._following:
            self._following = following
            self.following_changed.emit(following)
        if following:
            self.refresh()

    def go_to_start(self) -> None:
        """Show the oldest line."""
        bar = self.verticalScrollBar()
        bar.setValue(0)
        self._after_scrolling(bar.maximum() == 0)

    def text_of(self, number: int) -> str:
        """Return line `number` as plain text; empty when it is no longer there."""
        found = self._lines.lines(number, 1)
        return text_of(found[0])[0] if found and number >= self._lines.first else ""

    def selected_text(self) -> str:
        """Return what is selected, of the lines that are still there."""
        if self._selection.empty:
            return ""
        start, stop = self._selection.ends
        if start.line < self._lines.first:
            start = TextPosition(self._lines.first, 0)
        texts = [characters_of(line) for line in self._lines.lines(start.line, stop.line - start.line + 1)]
        if not texts:
            return ""
        if stop.line - start.line + 1 == len(texts):
            texts[-1] = texts[-1][: stop.column]
        texts[0] = texts[0][start.column :]
        return "\n".join(texts)

    def copy(self) -> None:
        """Put the selection, if there is any, on the clipboard."""
        if text := self.selected_text():
            to_clipboard(text)

    def select_all(self) -> None:
        self._selection.anchor = TextPosition(self._lines.first, 0)
        self._selection.caret = TextPosition(max(self._lines.first, self._end - 1), LONGEST)
        self.viewport().update()

    # ---- search ----

    def highlight(self, found: Callable[[str], list[tuple[int, int]]] | None) -> None:
        """Mark what `found` finds in a line, as (start, end); None marks nothing."""
        self._matches.look_for(found)
        self.viewport().update()

    def find_next(self, step: int) -> int | None:
        """Go to the next match downward (1) or upward (-1), around at the ends. Return its line number, or None."""
        first = self._lines.first
        lines = self._lines.lines(first, self._end - first) if self._matches.wanted else []
        texts = [characters_of(line) for line in lines]
        if (begin := self._matches.step(first, texts, self._top, step)) is None:
            return None
        self._show(begin)
        return begin.line

    def show_line(self, number: int) -> None:
        """Mark a line as selected and bring it into view; nothing where it is no longer here."""
        found = self._lines.lines(number, 1)
        if found:
            self._selection.put(TextPosition(number, 0))
            self._selection.put(TextPosition(number, len(text_of(found[0])[0])), keep_anchor=True)
            self._show(TextPosition(number, 0))
            self.viewport().update()

    def _show(self, spot: TextPosition) -> None:
        self.follow(False)
        visible = self._rows_visible()
        if not self._top <= spot.line < self._top + visible:
            self._top = max(self._lines.first, spot.line - visible // 2)
        self.refresh()
        x = round(spot.column * self._painting.cell)
        bar = self.horizontalScrollBar()
        if not bar.value() <= x < bar.value() + self.viewport().width() - self._painting.left * 2:
            self._set_width(max(self._widest, x + self._painting.cell * 40))
            bar.setValue(x - self.viewport().width() // 2)

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.fillRect(self.viewport().rect(), QColor(self._look.tokens.code))
        top = max(self._top, self._lines.first)
        lines = self._lines.lines(top, self._rows_visible() + 1)
        widest = self._painting.draw(painter, top, lines, self.horizontalScrollBar().value())
        self.draw_focus(painter)
        painter.end()
        if widest > self._widest:
            self._widest = widest
            QTimer.singleShot(0, self, self._widen)

    def _widen(self) -> None:
        self._set_width(self._widest)

    def _set_width(self, width: float) -> None:
        self._widest = width
        room = self.viewport().width() - 2 * self._painting.left
        self.horizontalScrollBar().setRange(0, max(0, math.ceil(width) - room))
        self.horizontalScrollBar().setPageStep(max(1, room))

    def _restyle(self) -> None:
        self._painting.forget()
        self.viewport().update()

    def _rows_visible(self) -> int:
        return max(1, self.viewport().height() // self._painting.row_height)

    # ---- scrolling ----

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.refresh()
        self._set_width(self._widest)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()

    def _moved(self, value: int) -> None:
        self._top = self._lines.first + value
        self.viewport().update()

    def _scrolled_by_hand(self) -> None:
        """Stop following the end when a person scrolls away, follow again when they reach it."""
        bar = self.verticalScrollBar()
        self._after_scrolling(bar.sliderPosition() >= bar.maximum())

    def _after_scrolling(self, at_end: bool) -> None:
        if at_end != self._following:
            self._following = at_end
            self.following_changed.emit(at_end)

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event)
        bar = self.verticalScrollBar()
        self._after_scrolling(bar.value() >= bar.maximum())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = self._rows_visible() - 1
        moves = {
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_Home: -self._end,
            Qt.Key.Key_End: self._end,
        }
        sideways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in moves:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + moves[Qt.Key(event.key())])
            self._after_scrolling(bar.value() >= bar.maximum())
        elif event.key() in sideways:
            across = self.horizontalScrollBar()
            across.setValue(across.value() + sideways[Qt.Key(event.key())] * across.singleStep())
        else:
            event.ignore()

    # ---- selecting ----

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            spot = self._spot(event.position())
            self._selection.put(spot, keep_anchor=extend)
            self.viewport().update()
            self.line_pressed.emit(spot.line)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons() & Qt.MouseButton.LeftButton:
            return
        bar = self.verticalScrollBar()
        if event.position().y() < 0:
            bar.setValue(bar.value() - 1)
        elif event.position().y() > self.viewport().height():
            bar.setValue(bar.value() + 1)
        self._after_scrolling(bar.value() >= bar.maximum())
        self._selection.put(self._spot(event.position()), keep_anchor=True)
        self.viewport().update()

    def _spot(self, at: QPointF) -> TextPosition:
        number = max(self._top, self._lines.first) + int(at.y() // self._painting.row_height)
        number = min(max(number, self._lines.first), max(self._lines.first, self._end - 1))
        found = self._lines.lines(number, 1)
        if not found:
            return TextPosition(number, 0)
        shown = shown_of(found[0])
        glyphs = self._painting.glyphs(number, found[0])
        x = at.x() - self._painting.left + self.horizontalScrollBar().value()
        return TextPosition(number, shown.column(min(glyphs.place(x), len(shown.text))))
