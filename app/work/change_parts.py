"""A difference whose parts can be ticked one by one: by a click on the line at which a part begins, or by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QTextCursor

from app.parts.text.differences import DifferenceView
from app.parts.text.line_notes import LineNote
from app.parts.tick import BOX, paint_tick
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPaintEvent, QTextBlock
    from PySide6.QtWidgets import QWidget

    from app.look.look import Look
    from app.parts.text.line_notes import ShownLine

KEYS = tr("In these lines (Tab leads there): Space ticks a part or leaves it out, N and P go to the next and back.")


class PartsView(DifferenceView):
    """Space ticks the part that the keyboard is at, N and P go from part to part; other keys scroll as always."""

    toggled = Signal(int)
    """The number of a part, from 1, that a person wants ticked or left out."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(look, name, parent)
        self._parts: list[tuple[int, int]] = []
        """Number of a part, and of the line of the document at which it begins."""
        self._ticked: frozenset[int] = frozenset()
        self._at = 1
        """The part that the keyboard is at."""
        self._pressed = 0
        self.viewport().setMouseTracking(True)

    def show_lines(self, lines: tuple[ShownLine, ...], cut: bool = False, language: str = "") -> None:
        super().show_lines(lines, cut, language)
        number = self.document().blockCount()
        self._parts = [
            (line.part, at) for at, line in enumerate(lines[:number]) if isinstance(line, LineNote) and line.part
        ]
        self._at = min(self._at, max(1, len(self._parts)))
        self._describe()

    def show_words(self, text: str) -> None:
        super().show_words(text)
        self._parts = []
        self._describe()

    def begin(self) -> None:
        """Let the keyboard begin at the first part: another change is shown."""
        self._at = 1

    def show_ticks(self, ticked: frozenset[int]) -> None:
        """Show which parts are ticked."""
        self._ticked = ticked
        self._describe()
        self.viewport().update()

    @property
    def parts(self) -> int:
        """How many there are to be ticked."""
        return len(self._parts)

    def _describe(self) -> None:
        if not self._parts:
            self.setAccessibleDescription("")
            self.setToolTip("")
            return
        state = tr("ticked") if self._at in self._ticked else tr("not ticked")
        self.setAccessibleDescription(
            tr("Part {at} of {count}, {state}. {keys}", at=self._at, count=len(self._parts), state=state, keys=KEYS)
        )

    # ---- keys and mouse ----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._parts and not event.modifiers():
            match event.key():
                case Qt.Key.Key_Space:
                    if not event.isAutoRepeat():
                        self.toggled.emit(self._at)
                    return
                case Qt.Key.Key_N | Qt.Key.Key_P:
                    self._go(1 if event.key() == Qt.Key.Key_N else -1)
                    return
        super().keyPressEvent(event)

    def _go(self, step: int) -> None:
        self._at = (self._at - 1 + step) % len(self._parts) + 1
        line = next(at for part, at in self._parts if part == self._at)
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(line)))
        self.verticalScrollBar().setValue(max(0, line - 1))
        self._describe()
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = self._part_at(event)
        if not self._pressed:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, 0
        if not pressed:
            super().mouseReleaseEvent(event)
        elif self._part_at(event) == pressed:
            self._at = pressed
            self.toggled.emit(pressed)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():
            over = self._part_at(event, any_button=True)
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)
        if not self._pressed:
            super().mouseMoveEvent(event)

    def _part_at(self, event: QMouseEvent, *, any_button: bool = False) -> int:
        """Return the part whose first line is under the pointer; 0 for none."""
        if not any_button and event.button() is not Qt.MouseButton.LeftButton:
            return 0
        for part, block in self._on_screen():
            if self._room(block).contains(QPointF(self.viewport().width() / 2, event.position().y())):
                return part
        return 0

    # ---- painting ----

    def _on_screen(self) -> list[tuple[int, QTextBlock]]:
        first = self.firstVisibleBlock().blockNumber()
        found = []
        for part, at in self._parts:
            block = self.document().findBlockByNumber(at)
            if at >= first and self._room(block).top() <= self.viewport().height():
                found.append((part, block))
        return found

    def _room(self, block: QTextBlock) -> QRectF:
        """Return the whole line of a block in the viewport."""
        room = self.blockBoundingGeometry(block).translated(self.contentOffset())
        return QRectF(0, room.top(), self.viewport().width(), room.height())

    def box(self, part: int) -> QRectF:
        """Return where the tick of a part is in the viewport; an empty one where it is not on the screen."""
        for number, block in self._on_screen():
            if number == part:
                return self._box(block)
        return QRectF()

    def _box(self, block: QTextBlock) -> QRectF:
        side = self._look.px(BOX)
        room = self._room(block)
        left = self.contentOffset().x() + self.document().documentMargin()
        return QRectF(left, room.center().y() - side / 2, side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._parts:
            return
        painter = QPainter(self.viewport())
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for part, block in self._on_screen():
            state = Qt.CheckState.Checked if part in self._ticked else Qt.CheckState.Unchecked
            paint_tick(painter, self._look, self._box(block), state)
            if self.hasFocus() and part == self._at:
                painter.setPen(QPen(QColor(self._look.tokens.accent), 1))
                painter.drawRoundedRect(self._room(block).adjusted(0.5, 0.5, -1.5, -0.5), 3, 3)
        painter.end()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: Any) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
