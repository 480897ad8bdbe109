"""Draws rows of code: line numbers, words in their colors, findings, and what is selected."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTextCharFormat

from app.parts.text.folded import PICTURE_ROWS
from app.parts.text.glyphs import Glyphs, Style, narrowed
from runner.model.assessment import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app.look.look import Look
    from app.parts.text.code_grid import CodeGrid
    from app.parts.text.lexing import Lexing
    from app.parts.text.listing import CodeLayout, CodeListing
    from app.parts.text.matches import Find
    from app.parts.text.selection import TextSelection

FOLD = "\N{MIDLINE HORIZONTAL ELLIPSIS}"
"""Stands for the number of a line where a part of it is not shown."""
MARGIN = 4
"""Pixels above and below a picture."""
_REMEMBERED = 1500
"""Rows whose glyphs stay laid out."""
_MOST_SQUEEZED = 1.25
"""How much wider than its space a row may be: it is drawn narrower, and beyond this the code in it is hard to read."""


class MarkedPlace(NamedTuple):
    """A piece of a line that is marked with a sign. Lines and columns count from 0, in the source."""

    line: int
    start: int
    end: int
    sign: str


MOST_SIGNS = 4
"""Signs beside the number of a line; the rows below say the rest."""


def signs_of(places: Sequence[MarkedPlace]) -> str:
    """Return the signs of a line, each once, in the order of their places."""
    signs = "".join(dict.fromkeys(place.sign for place in places))
    return signs if len(signs) <= MOST_SIGNS else f"{signs[: MOST_SIGNS - 1]}\N{HORIZONTAL ELLIPSIS}"


class CodePainting:
    """Owns the glyphs and formats of one code at a time; `begin` with each."""

    def __init__(self, look: Look, grid: CodeGrid, lexing: Lexing, selection: TextSelection) -> None:
        self._look = look
        self._grid = grid
        self._lexing = lexing
        self._selection = selection
        self._glyphs: dict[int, Glyphs] = {}
        self._formats: dict[str, QTextCharFormat] = {}
        self.pointed = -1
        """The line to look at first, from 0; -1 for none."""
        self.wrapped = True
        """Whether long lines continue in the next row."""
        self.offset = 0
        """Pixels by which the code is moved to the left, where they do not."""
        self.numbers: Sequence[str] = ()
        """What stands for the number of each line: nothing for what is of no code. Empty where each has its own."""
        self.places: Mapping[int, Sequence[MarkedPlace]] = {}
        """What is marked with a sign, by line."""
        self._find: Find | None = None
        self._found: dict[int, list[tuple[int, int]]] = {}
        self._listing: CodeListing
        self._layout: CodeLayout

    def begin(self, listing: CodeListing, layout: CodeLayout) -> None:
        """Draw `listing` in the rows of `layout` from now on."""
        self._listing = listing
        self._layout = layout
        self._glyphs.clear()
        self._found.clear()

    def look_for(self, find: Find | None) -> None:
        """Mark what `find` gives of a line, as (start, end); None for nothing."""
        self._find = find
        self._found.clear()

    def first_found(self) -> int | None:
        """Return the first line with something that is looked for."""
        lines = range(len(self._listing.lines)) if self._find else ()
        return next((line for line in lines if self._matches(line)), None)

    def restyle(self) -> None:
        """Drop what has the colors of the theme before."""
        self._formats.clear()
        self._glyphs.clear()

    def recolor(self, first: int, last: int) -> tuple[int, int]:
        """Draw lines `first` to before `last` with the words they have now. Return their rows, the end included."""
        rows = self._layout.rows
        from_row, to_row = rows.row(first), rows.row(last - 1) + 1
        for row in [row for row in self._glyphs if from_row <= row < to_row + len(self._layout.pieces(last - 1))]:
            del self._glyphs[row]
        return from_row, to_row

    # ---- drawing ----

    def draw(self, painter: QPainter, first: int, width: int, height: int, focused: bool) -> None:
        """Draw the rows from `first` on, as many as `height` shows."""
        tokens, row_height = self._look.tokens, self._grid.row_height
        painter.fillRect(0, 0, width, height, QColor(tokens.code))
        painter.fillRect(0, 0, self._grid.gutter, height, QColor(tokens.gutter))
        last = min(self._layout.rows.total, first + height // row_height + 1)
        for row in range(first, last):
            self._draw_row(painter, row, (row - first) * row_height, width, focused)

    def _draw_row(self, painter: QPainter, row: int, top: float, width: int, focused: bool) -> None:
        line, nth = self._layout.rows.at(row)
        tokens, grid = self._look.tokens, self._grid
        level = self._listing.worst(line)
        if level is not None:
            # What is only worth knowing is not green: that would read as good.
            worth = level if level > Level.LOW else None
            painter.fillRect(QRectF(grid.gutter, top, width, grid.row_height), QColor(tokens.tint(worth)))
            painter.fillRect(QRectF(0, top, grid.bar, grid.row_height), QColor(tokens.ink(worth)))
        elif line == self.pointed:
            painter.fillRect(QRectF(grid.gutter, top, width, grid.row_height), QColor(tokens.selection))
            painter.fillRect(QRectF(0, top, grid.bar, grid.row_height), QColor(tokens.accent))
        elif self._is_beside(line):
            painter.fillRect(QRectF(0, top, width, grid.row_height), QColor(tokens.gutter))
        pieces = self._layout.pieces(line)
        if nth >= len(pieces):
            self._draw_below(painter, line, nth - len(pieces), top)
            return
        if (fold := self._layout.fold_at(line, nth)) >= 0:
            self._draw_fold(painter, line, fold, top, width)
            return
        current = focused and line == self._selection.caret.line
        self._draw_number(painter, line, nth, top, current, level is not None)
        if self.offset:
            painter.setClipRect(QRectF(grid.gutter, top, width, grid.row_height))
        glyphs = self.glyphs(row, line, pieces[nth])
        self._draw_matches(painter, glyphs, line, nth, top)
        self._draw_places(painter, glyphs, line, nth, top)
        self._draw_selection(painter, glyphs, line, nth, top)
        painter.setPen(QColor(tokens.text))
        glyphs.draw(painter, self.left(line, nth), top + grid.baseline, self.width(line, nth))
        for beside_level, text in self._layout.beside(line):
            painter.setFont(grid.small)
            painter.setPen(QColor(tokens.ink(beside_level)))
            place = QRectF(grid.left - self.offset, top, grid.width, grid.row_height)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setClipping(False)

    def _draw_number(self, painter: QPainter, line: int, nth: int, top: float, current: bool, flagged: bool) -> None:
        tokens, grid = self._look.tokens, self._grid
        painter.setFont(grid.mono)
        painter.setPen(QColor(tokens.text if flagged or current else tokens.muted))
        place = QRectF(0, top, grid.gutter - grid.pad / 2, grid.row_height)
        number = self.numbers[line] if self.numbers else str(line + 1)
        words = "\N{RIGHTWARDS ARROW WITH HOOK}" if nth else number
        if not nth and (signs := signs_of(self.places.get(line, ()))):
            painter.setPen(QColor(tokens.accent))
            beside = QRectF(grid.bar + grid.pad / 2, top, grid.gutter, grid.row_height)
            painter.drawText(beside, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, signs)
            painter.setPen(QColor(tokens.text if flagged or current else tokens.muted))
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
        if current:
            painter.fillRect(QRectF(grid.gutter - 2, top, 2, grid.row_height), QColor(tokens.accent))

    def _draw_below(self, painter: QPainter, line: int, nth: int, top: float) -> None:
        """Draw a remark on a row of its own."""
        level, text = self._layout.below(line)[nth]
        grid = self._grid
        painter.setFont(grid.small)
        painter.setPen(QColor(self._look.tokens.ink(level)))
        place = QRectF(grid.left + 2 * grid.cell, top, grid.width - 2 * grid.cell, grid.row_height)
        shown = grid.remark_metrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        hook = QRectF(grid.left, top, 2 * grid.cell, grid.row_height)
        painter.drawText(
            hook, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, "\N{BOX DRAWINGS LIGHT UP AND RIGHT}"
        )

    def _draw_fold(self, painter: QPainter, line: int, nth: int, top: float, width: int) -> None:
        """Draw row `nth` of what stands in place of a folded piece: its words, then its picture."""
        tokens, grid, words = self._look.tokens, self._grid, self._layout.fold_words(line)
        row = QRectF(0, top, width, grid.row_height)
        painter.fillRect(row, QColor(tokens.gutter))
        if nth < len(words):
            painter.setFont(grid.small)
            painter.setPen(QColor(tokens.text))
            place = QRectF(grid.left, top, grid.width, grid.row_height)
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words[nth])
            if not nth:
                sign = QRectF(0, top, grid.gutter - grid.pad / 2, grid.row_height)
                painter.drawText(sign, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, FOLD)
            return
        picture, above = self._listing.folded[line].picture, (nth - len(words)) * grid.row_height
        room = QSizeF(grid.width, PICTURE_ROWS * grid.row_height - 2 * MARGIN)
        size = QSizeF(picture.size())
        if size.width() > room.width() or size.height() > room.height():
            size.scale(room, Qt.AspectRatioMode.KeepAspectRatio)
        painter.save()
        painter.setClipRect(row)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        frame = QRectF(QPointF(grid.left, top - above + MARGIN), size)
        painter.fillRect(frame, QColor("#ffffff"))  # as the page that a picture is drawn for
        painter.drawImage(frame, picture)
        # A picture can show what looks like code: none has a frame.
        painter.setPen(QPen(QColor(tokens.accent), 1))
        painter.drawRect(frame.adjusted(-1, -1, 1, 1))
        painter.restore()

    def _matches(self, line: int) -> list[tuple[int, int]]:
        if self._find is None:
            return []
        if len(self._found) >= _REMEMBERED:
            self._found.clear()
        if line not in self._found:
            self._found[line] = self._find(self._listing.lines[line])
        return self._found[line]

    def _draw_matches(self, painter: QPainter, glyphs: Glyphs, line: int, nth: int, top: float) -> None:
        for one, two in self._matches(line):
            if (box := self._box(glyphs, line, nth, top, one, two)) is not None:
                painter.fillRect(box, QColor(self._look.tokens.medium_tint))
                painter.setPen(QPen(QColor(self._look.tokens.medium), 1))
                painter.drawRect(box.adjusted(0, 1, 0, -1))

    def _draw_places(self, painter: QPainter, glyphs: Glyphs, line: int, nth: int, top: float) -> None:
        """Draw a box around the pieces that have a sign, as no letter of the code has one."""
        for place in self.places.get(line, ()):
            box = self._box(glyphs, line, nth, top, place.start, place.end)
            if box is None:
                continue
            tokens = self._look.tokens
            painter.fillRect(box, QColor(tokens.selection))
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.drawRect(box.adjusted(0, 1, 0, -1))

    def _box(self, glyphs: Glyphs, line: int, nth: int, top: float, one: int, two: int) -> QRectF | None:
        """Return where columns `one` to `two` of a line stand in its row `nth`; None where they do not."""
        shown = self._listing.shown(line)
        start, end = self._layout.pieces(line)[nth]
        begin, finish = max(shown.place(one), start), min(shown.place(two), end)
        if begin >= finish:
            return None
        left, width = self.left(line, nth), self.width(line, nth)
        return glyphs.box(begin - start, finish - start, left, top, self._grid.row_height, width)

    def _is_beside(self, line: int) -> bool:
        """Return whether a line is of no code."""
        return bool(self.numbers) and not self.numbers[line]

    def _draw_selection(self, painter: QPainter, glyphs: Glyphs, line: int, nth: int, top: float) -> None:
        selected = self._selection.within(line, len(self._listing.lines[line]))
        if selected is None:
            return
        grid = self._grid
        shown = self._listing.shown(line)
        start, end = self._layout.pieces(line)[nth]
        begin, finish = max(shown.place(selected[0]), start), min(shown.place(selected[1]), end)
        left, width = self.left(line, nth), self.width(line, nth)
        box = glyphs.box(begin - start, max(begin, finish) - start, left, top, grid.row_height, width)
        if line < self._selection.ends[1].line and end == len(shown.text):
            box.setWidth(box.width() + grid.cell)  # the line break
        painter.fillRect(box, QColor(self._look.tokens.selection))
        painter.setPen(QPen(QColor(self._look.tokens.accent), 1))
        painter.drawLine(box.bottomLeft() - QPointF(0, 1), box.bottomRight() - QPointF(0, 1))

    # ---- laying out ----

    def left(self, line: int, nth: int) -> float:
        """Return where row `nth` of the code of `line` begins, in pixels."""
        return self._grid.left - self.offset + (self._layout.hang(line) * self._grid.cell if nth else 0.0)

    def width(self, line: int, nth: int) -> float:
        """Return how many pixels row `nth` of the code of `line` has."""
        if not self.wrapped:
            return max(1, self._layout.cells(line, self._layout.pieces(line)[nth])) * self._grid.cell
        return self._grid.width - (self.left(line, nth) - self._grid.left)

    def glyphs(self, row: int, line: int, piece: tuple[int, int]) -> Glyphs:
        """Return what `row` shows: `piece` of the text of `line`."""
        glyphs = self._glyphs.get(row)
        if glyphs is None:
            if len(self._glyphs) >= _REMEMBERED:
                self._glyphs.clear()
            start, end = piece
            text = self._listing.shown(line).text[start:end]
            mono, styles = self._grid.mono, self._styles(line, start, end)
            glyphs = Glyphs(text, mono, styles)
            if glyphs.width > _MOST_SQUEEZED * self.width(line, int(start > 0)):
                glyphs = Glyphs(narrowed(text, mono), mono, styles)
            self._glyphs[row] = glyphs
        return glyphs

    def _styles(self, line: int, start: int, end: int) -> list[Style]:
        shown = self._listing.shown(line)
        # What is of no code has no words of its language, wherever a text of the code before it might end.
        words = () if self._is_beside(line) else self._lexing.line(line)
        within = slice(*(bisect_left(words, (shown.column(place),)) for place in (start, end)))
        before = max(0, within.start - 1)
        spans = [
            (shown.place(one), shown.place(two), self._format(kind))
            for one, two, kind in words[before : within.stop + 1]
        ]
        for one, two, level in self._listing.marked(line):
            spans.append((shown.place(one), shown.place(two), self._format(f"mark {level.name.lower()}")))
        first = bisect_left(shown.escapes, (start, start))
        for one, two in shown.escapes[max(0, first - 1) : bisect_left(shown.escapes, (end, end))]:
            spans.append((one, two, self._format("escape")))
        return [
            (max(one, start) - start, min(two, end) - start, style)
            for one, two, style in spans
            if one < end and two > start
        ]

    def _format(self, name: str) -> QTextCharFormat:
        if name not in self._formats:
            made = QTextCharFormat()
            tokens = self._look.tokens
            if name == "escape":
                made.setForeground(QColor(tokens.surface))
                made.setBackground(QColor(tokens.critical))
            elif name.startswith("mark "):
                made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
                made.setUnderlineColor(QColor(getattr(tokens, name.removeprefix("mark "))))
            else:
                made.setForeground(QColor(getattr(tokens, name)))
            self._formats[name] = made
        return self._formats[name]


class CodeMarks:
    """Marks what is looked for in a view of code."""

    def __init__(self, painting: CodePainting, go_to: Callable[[int], None], update: Callable[[], None]) -> None:
        """`go_to` brings a line, counted from 1, into view; `update` has the view painted."""
        self._painting = painting
        self._go_to = go_to
        self._update = update

    def show(self, found: Find | None) -> None:
        """Mark what `found` finds in a line, as (start, end), and go to the first; None marks nothing."""
        self._painting.look_for(found)
        if (line := self._painting.first_found()) is not None:
            self._go_to(line + 1)
        self._update()
