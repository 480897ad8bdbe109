"""One row of text laid out for drawing, with columns counted as Python counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from unicodedata import bidirectional

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QTextCharFormat, QTextLayout

from app.parts.text.visible_characters import cells

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORCE_LEFT_TO_RIGHT = "\u202d"
_REORDERS = frozenset({"R", "AL", "AN"})

_TOO_WIDE = 1.6
"""Cells to a cell beyond which a character is not drawn in a row that is too wide."""
_IN_ITS_PLACE, _ON_A_LETTER = "\N{REPLACEMENT CHARACTER}", "\N{COMBINING X BELOW}"

Style = tuple[int, int, QTextCharFormat]
"""(start, end, format) in characters of the row."""


def narrowed(text: str, font: QFont) -> str:
    """Return `text` with a sign in the place of each character that is drawn much wider than its cells.

    Some signs of real scripts, alone, are as wide as six letters: many of them would squeeze the code beside them.
    """
    metrics = QFontMetricsF(font)
    cell = metrics.horizontalAdvance("0")
    signs = {
        one: _IN_ITS_PLACE if cells(one) else _ON_A_LETTER
        for one in {*text}
        if not one.isascii() and metrics.horizontalAdvance(one) > _TOO_WIDE * cell * max(1, cells(one))
    }
    return "".join(signs.get(one, one) for one in text) if signs else text


class Glyphs:
    """`text` must hold no control characters and no line breaks.

    Characters stand from left to right in the order in which they are stored, whatever their script: in
    code and output the stored order is what counts.
    """

    def __init__(self, text: str, font: QFont, styles: Iterable[Style] = ()) -> None:
        self._wide = not text.isascii() and max(text) > "\uffff"
        self._shift = int(not text.isascii() and any(bidirectional(character) in _REORDERS for character in text))
        self._text = text
        self._layout = QTextLayout(_FORCE_LEFT_TO_RIGHT * self._shift + text, font)
        self._layout.setCacheEnabled(True)
        self._layout.setFormats([self._range(*style) for style in styles])
        self._layout.beginLayout()
        self._line = self._layout.createLine()
        self._line.setLineWidth(1e6)
        self._layout.endLayout()

    @property
    def width(self) -> float:
        """Pixels."""
        return self._line.naturalTextWidth()

    def draw(self, painter: QPainter, left: float, baseline: float, room: float = 0.0) -> None:
        """Draw at `left` on `baseline`, squeezed to `room` pixels where it is wider: nothing may go out of sight."""
        at = QPointF(left, baseline - self._line.ascent())
        if not 0 < room < self.width:
            self._layout.draw(painter, at)
            return
        painter.save()
        painter.translate(at)
        painter.scale(room / self.width, 1)
        self._layout.draw(painter, QPointF(0, 0))
        painter.restore()

    def x(self, place: int, room: float = 0.0) -> float:
        """Return the pixels from the left edge to before character `place`."""
        # The binding gives the place back beside the pixels, although its annotations promise either.
        pixels = cast("tuple[float, int]", self._line.cursorToX(self._units(place)))[0]
        return pixels * self._squeeze(room)

    def place(self, x: float, room: float = 0.0) -> int:
        """Return the character boundary nearest to `x` pixels from the left edge."""
        units = max(0, self._line.xToCursor(x / self._squeeze(room)) - self._shift)
        return min(
            len(self._text),
            len(self._text.encode("utf-16-le")[: units * 2].decode("utf-16-le", "ignore")) if self._wide else units,
        )

    def box(self, start: int, end: int, left: float, top: float, height: float, room: float = 0.0) -> QRectF:
        """Return the room characters `start` to `end` take in a row of `height` at `left`, `top`."""
        one, other = self.x(start, room), self.x(end, room)
        return QRectF(left + one, top, other - one, height)

    def _squeeze(self, room: float) -> float:
        return room / self.width if 0 < room < self.width else 1.0

    def _units(self, place: int) -> int:
        place = min(max(0, place), len(self._text))
        return self._shift + (len(self._text[:place].encode("utf-16-le")) // 2 if self._wide else place)

    def _range(self, start: int, end: int, style: QTextCharFormat) -> QTextLayout.FormatRange:
        made = QTextLayout.FormatRange()
        made.start = self._units(start)
        made.length = self._units(end) - made.start
        made.format = style
        return made
