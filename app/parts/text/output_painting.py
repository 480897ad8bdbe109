"""Draws lines of output: in the colors a program asked for, with what is selected and what was searched for."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPen, QTextCharFormat

from app.look.tokens import contrast, legible
from app.parts.text.ansi import Ink, Stretch, parse, text_alone
from app.parts.text.glyphs import Glyphs, Style
from app.parts.text.scrollback import LONGEST, OutputLine
from app.parts.text.selection import TextPosition
from app.parts.text.visible_characters import Shown, expose
from runner.model.translation import plural
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter

    from app.look.look import Look
    from app.parts.text.matches import Matches
    from app.parts.text.selection import TextSelection

_TAB = 8
MOST_STYLED = 4096
"""Colored or escaped stretches that are laid out for one look. A screen of colored text has hundreds; where a program
makes tens of thousands, and new ones at every look, the lines after these are drawn without colors."""
_READ = 256
"""Lines of which text and colors are remembered: more than are in view."""
_LEGIBLE = 4.5
"""Colors a program asks for are darkened or lightened to this contrast (WCAG 2.1, 1.4.3): below it text would hide."""


class OutputPainting:
    """Owns the glyphs of the lines in view, and the measures of a row in pixels."""

    def __init__(self, look: Look, selection: TextSelection, matches: Matches) -> None:
        self._look = look
        self._selection = selection
        self._matches = matches
        self._glyphs: dict[tuple[int, OutputLine], Glyphs] = {}
        self._mono = look.mono()
        metrics = QFontMetricsF(self._mono)
        self.row_height = math.ceil(metrics.height() * 1.2)
        self._baseline = (self.row_height - metrics.height()) / 2 + metrics.ascent()
        self.cell = metrics.horizontalAdvance("0")
        self.left = look.px(12)
        """Where text begins while nothing is scrolled sideways."""

    def forget(self) -> None:
        """Drop all glyphs: there is another scrollback, or another theme."""
        self._glyphs.clear()

    def draw(self, painter: QPainter, top: int, lines: Sequence[OutputLine], scrolled: int) -> float:
        """Draw `lines`, the first of which has number `top`, `scrolled` pixels to the left. Return the widest."""
        visible: dict[tuple[int, OutputLine], Glyphs] = {}
        widest, room = 0.0, MOST_STYLED
        for nth, line in enumerate(lines):
            number = top + nth
            room -= len(text_of(line)[1]) + len(shown_of(line).escapes)
            known = self._glyphs.get((number, line))
            glyphs = visible[number, line] = known or self._lay_out(line, styled=room >= 0)
            self._draw_line(painter, number, line, glyphs, (self.left - scrolled, nth * self.row_height))
            widest = max(widest, glyphs.width)
        self._glyphs = visible
        return widest

    def _draw_line(
        self, painter: QPainter, number: int, line: OutputLine, glyphs: Glyphs, corner: tuple[float, float]
    ) -> None:
        tokens = self._look.tokens
        left, top = corner
        margin = QRectF(0, top, self._look.px(3), self.row_height)
        if line.stream is Stream.ERR:
            painter.fillRect(margin, QColor(tokens.high))
        if self._matches.wanted:
            self._draw_matches(painter, number, line, glyphs, corner)
        if selected := self._selection.within(number, len(text_of(line)[0])):
            self._fill(painter, line, glyphs, selected, corner, tokens.selection)
        painter.setPen(QColor(tokens.text if line.stream is not None else tokens.muted))
        glyphs.draw(painter, left, top + self._baseline)
        if left < self.left and line.stream is Stream.ERR:
            painter.fillRect(margin, QColor(tokens.high))

    def _draw_matches(
        self, painter: QPainter, number: int, line: OutputLine, glyphs: Glyphs, corner: tuple[float, float]
    ) -> None:
        tokens, current = self._look.tokens, self._matches.current
        for span in self._matches.within(text_of(line)[0]):
            box = self._fill(painter, line, glyphs, span, corner, tokens.medium_tint)
            if current is not None and current[0] == TextPosition(number, span[0]):
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
        shown = shown_of(line)
        box = glyphs.box(shown.place(span[0]), shown.place(span[1]), *corner, self.row_height)
        painter.fillRect(box, QColor(color))
        return box

    # ---- laying out ----

    def glyphs(self, number: int, line: OutputLine) -> Glyphs:
        """Return `line`, the one with `number`, laid out."""
        return self._glyphs.get((number, line)) or self._lay_out(line)

    def _lay_out(self, line: OutputLine, styled: bool = True) -> Glyphs:
        stretches, shown = text_of(line)[1], shown_of(line)
        styles: list[Style] = []
        if styled:
            styles += [(shown.place(start), shown.place(end), self._format(ink)) for start, end, ink in stretches]
            swapped = self._format(Ink(swapped=True))
            styles += [(start, end, swapped) for start, end in shown.escapes]
        tail = (
            plural("  … {count} more byte of this line", "  … {count} more bytes of this line", line.cut)
            if line.cut
            else ""
        )
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
            best = max(tokens.text, tokens.code, key=lambda ink: contrast(ink, ground or tokens.code))
            text = legible(text or tokens.text, ground or tokens.code, best, _LEGIBLE)
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
        """Return the theme's own ink for one of the sixteen colors that a program can name."""
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
            tokens.teal,
            tokens.text,
        )
        return tokens.muted if color == 8 else sixteen[color % 8]


def shown_of(line: OutputLine) -> Shown:
    """Return the text of a line as it is shown."""
    return _shown(line.data)


def text_of(line: OutputLine) -> tuple[str, list[Stretch]]:
    """Return the characters of a line and their colors, without control sequences."""
    return _read(line.data)


def characters_of(line: OutputLine) -> str:
    """Return the characters of a line alone: for the search, which reads every line there is."""
    return text_alone(line.data.decode("utf-8", "replace"))[:LONGEST]


@lru_cache(_READ)
def _shown(data: bytes) -> Shown:
    return expose(_read(data)[0], _TAB)


@lru_cache(_READ)
def _read(data: bytes) -> tuple[str, list[Stretch]]:
    text, stretches = parse(data.decode("utf-8", "replace"))
    if len(text) <= LONGEST:
        return text, stretches
    return text[:LONGEST], [(start, min(end, LONGEST), ink) for start, end, ink in stretches if start < LONGEST]
