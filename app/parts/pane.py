"""The lines of a scrollback on the screen: only those in view are read, colored and laid out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCharFormat,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.look.tokens import contrast
from app.parts.amounts import counted
from app.parts.ansi import Ink, parse
from app.parts.expose import expose
from app.parts.glyphs import Glyphs, Style
from app.parts.roles import Role
from app.parts.scrollback import LONGEST, OutputLine, Scrollback
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.look.look import Look

_TAB = 8
_LEGIBLE = 3.0
"""Colors a program asks for are followed down to this contrast; below it, its text would be hidden."""


class Spot(NamedTuple):
    """A place in the output: the number of a line since the start of the run, and a character of its text."""

    line: int
    column: int


class OutputPane(QAbstractScrollArea):
    """Follows the end until somebody scrolls away from it. Arrows, Page Up, Page Down, Home and End scroll."""

    accessible_role = Role.Terminal
    following_changed = Signal(bool)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._lines = Scrollback()
        self._following = True
        self._top = 0
        self._end = 0
        self._widest = 0.0
        self._found: Callable[[str], list[tuple[int, int]]] | None = None
        self._hit: tuple[Spot, Spot] | None = None
        self._anchor = self._caret = Spot(0, 0)
        self._glyphs: dict[tuple[int, OutputLine], Glyphs] = {}
        self.setProperty("pane", True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._mono = look.mono()
        metrics = QFontMetricsF(self._mono)
        self._row_height = math.ceil(metrics.height() * 1.2)
        self._baseline = (self._row_height - metrics.height()) / 2 + metrics.ascent()
        self._cell = metrics.horizontalAdvance("0")
        self._left = look.px(12)
        self.horizontalScrollBar().setSingleStep(round(self._cell * 4))
        self.verticalScrollBar().actionTriggered.connect(self._scrolled_by_hand)
        self.verticalScrollBar().valueChanged.connect(self._moved)
        look.changed.connect(self._restyle)

    # ---- what it shows ----

    def set_lines(self, lines: Scrollback) -> None:
        """Show another scrollback, from its end."""
        self._lines = lines
        self._top = self._end = 0
        self._widest = 0.0
        self._hit = None
        self._anchor = self._caret = Spot(0, 0)
        self._glyphs.clear()
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
        """Line `number` as plain text; empty when it is no longer kept."""
        found = self._lines.lines(number, 1)
        return _text(found[0])[0] if found and number >= self._lines.first else ""

    def selected_text(self) -> str:
        """What is selected, of the lines still kept."""
        start, stop = sorted((self._anchor, self._caret))
        if start == stop:
            return ""
        if start.line < self._lines.first:
            start = Spot(self._lines.first, 0)
        texts = [_text(line)[0] for line in self._lines.lines(start.line, stop.line - start.line + 1)]
        if not texts:
            return ""
        if stop.line - start.line + 1 == len(texts):
            texts[-1] = texts[-1][: stop.column]
        texts[0] = texts[0][start.column :]
        return "\n".join(texts)

    def copy(self) -> None:
        """Put the selection, if there is any, on the clipboard."""
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    def select_all(self) -> None:
        self._anchor = Spot(self._lines.first, 0)
        self._caret = Spot(max(self._lines.first, self._end - 1), LONGEST)
        self.viewport().update()

    # ---- search ----

    def highlight(self, found: Callable[[str], list[tuple[int, int]]] | None) -> None:
        """Mark what `found` finds in a line, as (start, end); None marks nothing."""
        self._found = found
        self._hit = None
        self.viewport().update()

    def find_next(self, step: int) -> int | None:
        """Go to the next match downward (1) or upward (-1), around at the ends. Its line number, or None."""
        if self._found is None or not (hit := self._hit_from(self._hit[0] if self._hit else Spot(self._top, -1), step)):
            return None
        self._hit = hit
        self._show(hit[0])
        return hit[0].line

    def _hit_from(self, here: Spot, step: int) -> tuple[Spot, Spot] | None:
        assert self._found is not None
        first = self._lines.first
        texts = [_text(line)[0] for line in self._lines.lines(first, self._end - first)]
        for ahead in range(len(texts) + 1):
            index = (here.line - first + step * ahead) % len(texts) if texts else 0
            found = self._found(texts[index]) if texts else []
            if ahead == 0:
                found = [hit for hit in found if (hit[0] > here.column if step > 0 else hit[0] < here.column)]
            if found:
                begin, end = found[0 if step > 0 else -1]
                return Spot(first + index, begin), Spot(first + index, end)
        return None

    def _show(self, spot: Spot) -> None:
        self.follow(False)
        visible = self._rows_visible()
        if not self._top <= spot.line < self._top + visible:
            self._top = max(self._lines.first, spot.line - visible // 2)
        self.refresh()
        x = round(spot.column * self._cell)
        bar = self.horizontalScrollBar()
        if not bar.value() <= x < bar.value() + self.viewport().width() - self._left * 2:
            self._set_width(max(self._widest, x + self._cell * 40))
            bar.setValue(x - self.viewport().width() // 2)

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        port = self.viewport().rect()
        tokens = self._look.tokens
        painter.fillRect(port, QColor(tokens.code))
        kept: dict[tuple[int, OutputLine], Glyphs] = {}
        top = max(self._top, self._lines.first)
        widest = self._widest
        for nth, line in enumerate(self._lines.lines(top, self._rows_visible() + 1)):
            number = top + nth
            glyphs = self._glyphs.get((number, line)) or self._laid(line)
            kept[number, line] = glyphs
            self._paint_line(painter, number, line, glyphs, nth * self._row_height)
            widest = max(widest, glyphs.width)
        self._glyphs = kept
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.drawRect(port.adjusted(1, 1, -1, -1))
        painter.end()
        if widest > self._widest:
            self._widest = widest
            QTimer.singleShot(0, self, self._widen)

    def _widen(self) -> None:
        self._set_width(self._widest)

    def _set_width(self, width: float) -> None:
        self._widest = width
        room = self.viewport().width() - 2 * self._left
        self.horizontalScrollBar().setRange(0, max(0, math.ceil(width) - room))
        self.horizontalScrollBar().setPageStep(max(1, room))

    def _paint_line(self, painter: QPainter, number: int, line: OutputLine, glyphs: Glyphs, top: float) -> None:
        tokens = self._look.tokens
        left = self._left - self.horizontalScrollBar().value()
        if line.stream is Stream.ERR:
            painter.fillRect(QRectF(0, top, self._look.px(3), self._row_height), QColor(tokens.high))
        if self._found is not None:
            self._paint_found(painter, number, line, glyphs, left, top)
        start, stop = sorted((self._anchor, self._caret))
        if start != stop and start.line <= number <= stop.line:
            length = len(_text(line)[0])
            begin = start.column if number == start.line else 0
            end = min(stop.column, length) if number == stop.line else length
            self._fill(painter, line, glyphs, (begin, end), (left, top), tokens.selection)
        painter.setPen(QColor(tokens.text if line.stream is not None else tokens.muted))
        glyphs.draw(painter, left, top + self._baseline)
        if left < self._left and line.stream is Stream.ERR:
            painter.fillRect(QRectF(0, top, self._look.px(3), self._row_height), QColor(tokens.high))

    def _paint_found(
        self, painter: QPainter, number: int, line: OutputLine, glyphs: Glyphs, left: float, top: float
    ) -> None:
        assert self._found is not None
        tokens = self._look.tokens
        for span in self._found(_text(line)[0]):
            chosen = self._hit is not None and self._hit[0] == Spot(number, span[0])
            box = self._fill(painter, line, glyphs, span, (left, top), tokens.medium_tint)
            if chosen:
                painter.setPen(QPen(QColor(tokens.medium), 2))
                painter.drawRect(box.adjusted(0, 1, 0, -1))

    def _fill(
        self,
        painter: QPainter,
        line: OutputLine,
        glyphs: Glyphs,
        span: tuple[int, int],
        corner: tuple[float, float],
        color: str,
    ) -> QRectF:
        shown = expose(_text(line)[0], _TAB)
        box = glyphs.box(shown.place(span[0]), shown.place(span[1]), *corner, self._row_height)
        painter.fillRect(box, QColor(color))
        return box

    def _laid(self, line: OutputLine) -> Glyphs:
        text, stretches = _text(line)
        shown = expose(text, _TAB)
        styles: list[Style] = [
            (shown.place(start), shown.place(end), self._format(ink)) for start, end, ink in stretches
        ]
        styles += [(start, end, self._format(Ink(swapped=True))) for start, end in shown.escapes]
        tail = f"  \N{HORIZONTAL ELLIPSIS} {counted(line.cut, 'more byte')} of this line" if line.cut else ""
        if tail:
            styles.append((len(shown.text), len(shown.text) + len(tail), self._format(Ink(text=11))))
        return Glyphs(shown.text + tail, self._mono, styles)

    def _format(self, ink: Ink) -> QTextCharFormat:
        tokens = self._look.tokens
        text, ground = self._color(ink.text), self._color(ink.ground)
        if ink.swapped:
            text, ground = ground or tokens.code, text or tokens.text
        if ink.faint and text is None:
            text = tokens.muted
        if contrast(text or tokens.text, ground or tokens.code) < _LEGIBLE:
            text = max(tokens.text, tokens.code, key=lambda ink: contrast(ink, ground or tokens.code))
        made = QTextCharFormat()
        if text:
            made.setForeground(QColor(text))
        if ground:
            made.setBackground(QColor(ground))
        if ink.bold:
            made.setFontWeight(700)
        made.setFontItalic(ink.italic)
        made.setFontUnderline(ink.underline)
        return made

    def _color(self, color: int | str | None) -> str | None:
        """The theme's own inks stand for the sixteen colors a program can name."""
        if not isinstance(color, int):
            return color
        tokens = self._look.tokens
        sixteen = (
            tokens.text,
            tokens.high,
            tokens.low,
            tokens.medium,
            tokens.number,
            tokens.critical,
            tokens.string,
            tokens.text,
        )
        return tokens.muted if color == 8 else sixteen[color % 8]

    def _restyle(self) -> None:
        self._glyphs.clear()
        self.viewport().update()

    def _rows_visible(self) -> int:
        return max(1, self.viewport().height() // self._row_height)

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
        """Only a person's scrolling lets go of the end, and only reaching the end takes hold of it again."""
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
            self._caret = self._spot(event.position())
            if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._anchor = self._caret
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons() & Qt.MouseButton.LeftButton:
            return
        bar = self.verticalScrollBar()
        if event.position().y() < 0:
            bar.setValue(bar.value() - 1)
        elif event.position().y() > self.viewport().height():
            bar.setValue(bar.value() + 1)
        self._after_scrolling(bar.value() >= bar.maximum())
        self._caret = self._spot(event.position())
        self.viewport().update()

    def _spot(self, at: QPointF) -> Spot:
        number = max(self._top, self._lines.first) + int(at.y() // self._row_height)
        number = min(max(number, self._lines.first), max(self._lines.first, self._end - 1))
        found = self._lines.lines(number, 1)
        if not found:
            return Spot(number, 0)
        shown = expose(_text(found[0])[0], _TAB)
        glyphs = self._glyphs.get((number, found[0])) or self._laid(found[0])
        x = at.x() - self._left + self.horizontalScrollBar().value()
        return Spot(number, shown.column(min(glyphs.place(x), len(shown.text))))

    def focusInEvent(self, event: QEvent) -> None:
        self.viewport().update()

    def focusOutEvent(self, event: QEvent) -> None:
        self.viewport().update()


def _text(line: OutputLine) -> tuple[str, list[tuple[int, int, Ink]]]:
    """The characters of a line and their colors, without control sequences."""
    text, stretches = parse(line.data.decode("utf-8", "replace"))
    if len(text) <= LONGEST:
        return text, stretches
    return text[:LONGEST], [(start, min(end, LONGEST), ink) for start, end, ink in stretches if start < LONGEST]
