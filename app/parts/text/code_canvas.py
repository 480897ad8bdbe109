"""Code on the screen: its rows, its findings, and whether all of it has been there. Keys and mouse are in `code`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent

from app.parts.roles import Role
from app.parts.text.code_grid import CodeGrid
from app.parts.text.code_painting import CodeMarks, CodePainting, signs_of
from app.parts.text.lexing import Lexing
from app.parts.text.listing import LONGEST_ROW, CodeLayout, CodeListing, remark
from app.parts.text.ruler import Ruler
from app.parts.text.selection import TextPosition, TextSelection
from app.parts.text.text_area import TextArea
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtWidgets import QWidget

    from app.look.look import Look
    from app.parts.text.code_painting import MarkedPlace
    from app.parts.text.folded import FoldedPiece
    from runner.model.assessment import Finding


SIDEWAYS = 8
"""Cells by which a key moves code that goes beyond the edge."""


class CodeCanvas(TextArea):
    """Shows code line by line. It is empty until `set_code`, which whoever derives from it calls first."""

    accessible_role = Role.Document
    seen_to_end = Signal(bool)
    """False when new code is set, True once its last row has been painted."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, parent)
        self._lexing = Lexing(self)
        self._lexing.grew.connect(self._recolor)
        self._ruler = Ruler(look, self)
        self._ruler.wanted.connect(self._go_to_share)
        self._selection = TextSelection()
        self._grid = CodeGrid(look)
        self._painting = CodePainting(look, self._grid, self._lexing, self._selection)
        self.marks = CodeMarks(self._painting, self.scroll_to, self.viewport().update)
        self.below = 0
        """Pixels at the foot that are not for the code."""
        self._seen = False
        self._wanted: tuple[int, int] | None = None
        """The line to go to once it is laid out, and how many rows stand above it then."""
        self._further = QTimer(self)
        self._further.setSingleShot(True)
        self._further.timeout.connect(self._lay_further)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalScrollBar().valueChanged.connect(self._move_sideways)
        look.changed.connect(self._restyle)
        look.zoomed.connect(self._measure)

    def set_code(self, code: str, language: str, findings: Sequence[Finding] = ()) -> None:
        """Show `code` from its first line; `language` is a value of `Language`."""
        self._listing = CodeListing(code, language, findings)
        self._folds: Mapping[int, FoldedPiece] = {}
        self._said: set[int] = set()
        """Lines of which a piece is folded, and whose words for it have been on the screen."""
        self._selection.put(TextPosition(0, 0))
        self._seen = False
        self._painting.wrapped = True
        self._painting.numbers, self._painting.places = (), {}
        self._grid.signs = 0
        self._lay_out()
        self._wanted = None
        self.verticalScrollBar().setValue(0)
        self._lexing.start(self._listing.lines, language, self._rows_visible())
        what = [
            tr("Code"),
            language,
            plural("{count} line", "{count} lines", len(self._listing.lines)),
            plural("{count} finding", "{count} findings", len(findings)),
        ]
        self.setAccessibleName(", ".join(word for word in what if word))
        self._describe_line()
        self.seen_to_end.emit(False)

    def fold(self, pieces: Mapping[int, FoldedPiece]) -> None:
        """Show these pieces of lines, counted from 0, as their words, until `show_all`; the same line stays at the top.

        See `CodeListing.fold` for what is shown whole nevertheless.
        """
        self._put_folds(pieces)
        self._folds = self._listing.folded

    @property
    def unread_fold(self) -> int:
        """The first line, from 1, of which a piece is folded and its words have not been on the screen; 0 for none."""
        return min((line + 1 for line in self._layout.folded if line not in self._said), default=0)

    @property
    def folds(self) -> bool:
        """Whether a piece of this code is folded, or was until `show_all`."""
        return bool(self._folds)

    def show_all(self, whole: bool) -> None:
        """Show every character of the code, or as few as `fold` said."""
        self._put_folds({} if whole else self._folds)

    def _put_folds(self, pieces: Mapping[int, FoldedPiece]) -> None:
        before = self._listing.folded
        self._listing.fold(pieces)
        if self._listing.folded != before:
            top = self._layout.rows.at(min(self.verticalScrollBar().value(), self._layout.rows.total - 1))[0]
            self._lay_out()
            self._go_to(*(self._wanted or (top, 0)))
            self._describe_line()

    def annotate(self, numbers: Sequence[str], places: Sequence[MarkedPlace]) -> None:
        """Give each line of the code that is shown its own number, or none, and mark pieces with signs."""
        assert len(numbers) - self.line_count in (0, 1), "the end of the last line is no line of its own"
        found: dict[int, list[MarkedPlace]] = {}
        for place in places:
            found.setdefault(place.line, []).append(place)
        self._painting.numbers, self._painting.places = tuple(numbers), found
        self._grid.signs = max((len(signs_of(places)) for places in found.values()), default=0)
        self._lay_out()
        self._restyle()
        self._describe_line()

    @property
    def is_seen_to_end(self) -> bool:
        """Whether the last row of this code has been on the screen."""
        return self._seen

    @property
    def listing(self) -> CodeListing:
        """What is shown, without its pixels."""
        return self._listing

    @property
    def line_count(self) -> int:
        return len(self._listing.lines)

    def scroll_to(self, line: int) -> None:
        """Make `line`, counted from 1, the current line and bring it to the middle."""
        self._put_caret(TextPosition(min(max(0, line - 1), self.line_count - 1), 0))
        self._go_to(self._selection.caret.line, self._rows_visible() // 2)

    @property
    def wrapped(self) -> bool:
        """Whether long lines continue in the next row; so it is for every new code."""
        return self._painting.wrapped

    def wrap(self, wrapped: bool) -> None:
        """Let long lines continue in the next row, or beyond the edge; the same line stays at the top.

        Reaching the end counts as having seen the code only where no line goes beyond the edge.
        """
        if wrapped != self._painting.wrapped:
            top = self._layout.rows.at(min(self.verticalScrollBar().value(), self._layout.rows.total - 1))[0]
            self._painting.wrapped = wrapped
            self._lay_out()
            self._go_to(*(self._wanted or (top, 0)))

    def point_at(self, line: int) -> None:
        """Mark `line`, counted from 1, as the one to look at first; 0 for none."""
        self._painting.pointed = line - 1
        self.viewport().update()

    @property
    def row_height(self) -> int:
        """Pixels of a row."""
        return self._grid.row_height

    def height_for(self, width: int) -> int | None:
        """Return the height in which all of the code is on screen at `width`; None where that takes time to find out.

        Both are in pixels, of the whole view.
        """
        grid = CodeGrid(self._look)
        grid.fit(self.line_count, width - self._look.px(8))
        layout = CodeLayout(self._listing, grid.columns, grid.beside, grid.remark_metrics.horizontalAdvance)
        return layout.rows.total * grid.row_height if layout.complete else None

    def _lay_out(self) -> None:
        grid = self._grid
        grid.fit(self.line_count, self.viewport().width())
        columns = grid.columns if self.wrapped else LONGEST_ROW
        self._layout = CodeLayout(self._listing, columns, grid.beside, grid.remark_metrics.horizontalAdvance)
        self._painting.begin(self._listing, self._layout)
        self._range()
        self.viewport().update()
        self._further.start()

    @Slot()
    def _lay_further(self) -> None:
        """Lay out more lines in a turn of their own, then go where somebody wanted to go meanwhile."""
        if self._layout.complete:
            return
        self._layout.lay_further()
        self._range()
        if self._wanted is not None:
            self._go_to(*self._wanted)
        self.viewport().update()
        self._further.start()

    def _go_to(self, line: int, above: int) -> None:
        """Put `line` on the screen with so many rows above it, once it is laid out."""
        self._wanted = None if line < self._layout.laid else (line, above)
        self.verticalScrollBar().setValue(self._layout.rows.row(line) - above)

    def _go_to_share(self, share: float) -> None:
        row = round(share * (self._layout.rows.total - 1))
        self.scroll_to(self._layout.rows.at(row)[0] + 1)

    def _range(self) -> None:
        visible = self._rows_visible()
        self.verticalScrollBar().setRange(0, max(0, self._layout.rows.total - visible))
        self.verticalScrollBar().setPageStep(visible)
        beyond = 0 if self.wrapped else max(0, round(self._layout.widest * self._grid.cell - self._grid.width))
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOn if beyond else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        if policy is not self.horizontalScrollBarPolicy():  # which lays all out again, even where it is as before
            self.setHorizontalScrollBarPolicy(policy)
        self.horizontalScrollBar().setRange(0, beyond)
        self.horizontalScrollBar().setPageStep(round(self._grid.width))
        self.horizontalScrollBar().setSingleStep(round(SIDEWAYS * self._grid.cell))
        whole = max(self._layout.rows.total, visible) - 1 or 1
        rows = self._layout.rows
        self._ruler.set_marks({min(1.0, rows.row(line) / whole): level for line, level in self._listing.flags()})

    @property
    def _is_cut(self) -> bool:
        """Whether a line may go beyond the edge."""
        return not self.wrapped and self._layout.widest > self._grid.columns

    @Slot(int)
    def _move_sideways(self, offset: int) -> None:
        self._painting.offset = offset
        self.viewport().update()

    def _rows_visible(self) -> int:
        return max(1, self.viewport().height() // self._grid.row_height)

    def fit(self) -> None:
        """Lay the viewport out beside the ruler and above the search."""
        self.resizeEvent(QResizeEvent(self.size(), self.size()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self._look.px(8)
        self.setViewportMargins(0, 0, wide, self.below)
        port = self.viewport().geometry()
        self._ruler.setGeometry(port.right() + 1, port.top(), wide, port.height())
        top = self._layout.rows.at(min(self.verticalScrollBar().value(), self._layout.rows.total - 1))[0]
        if self._grid.columns_in(port.width()) != self._grid.columns:
            self._lay_out()
            self._go_to(*(self._wanted or (top, 0)))
        else:
            self._grid.widen(port.width())
            self._range()

    def paintEvent(self, event: QPaintEvent) -> None:
        first, port = self.verticalScrollBar().value(), self.viewport().rect()
        painter = QPainter(self.viewport())
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        try:
            self._painting.draw(painter, first, port.width(), port.height(), self.hasFocus())
            self.draw_focus(painter)
        finally:
            # A painter that is left active takes the window with it.
            painter.end()
        self._lexing.painted()
        rows_left = self._layout.rows.total - first
        at_end = self._layout.complete and rows_left * self._grid.row_height <= self.visible_height()
        said = self._folds_within(first, self.visible_height() // self._grid.row_height) - self._said
        ends = not self._seen and at_end and not self._is_cut
        self._said |= said
        self._seen = self._seen or ends
        if ends or said:
            # Said later: whoever listens may change widgets, which is not allowed while painting.
            QTimer.singleShot(0, self, lambda: self.seen_to_end.emit(True) if self._seen else None)

    def _folds_within(self, first: int, rows: int) -> set[int]:
        """Return the folded lines of which the last words are in `rows` rows from `first` on."""
        last = {line: len(self._layout.fold_words(line)) - 1 for line in self._layout.folded}
        shown = (self._layout.rows.at(row) for row in range(first, min(first + rows, self._layout.rows.total)))
        return {line for line, nth in shown if line in last and self._layout.fold_at(line, nth) == last[line]}

    def _recolor(self, first: int, last: int) -> None:
        """Draw lines `first` to before `last` again, now that their words are known."""
        from_row, to_row = self._painting.recolor(first, last)
        top = self.verticalScrollBar().value()
        if from_row <= top + self._rows_visible() and to_row >= top:
            self.viewport().update()

    def _measure(self) -> None:
        """Lay everything out again in another size of text, with the same line at the top."""
        top = self._layout.rows.at(min(self.verticalScrollBar().value(), self._layout.rows.total - 1))[0]
        self._grid.measure()
        self._painting.restyle()
        self._lay_out()
        self._go_to(*(self._wanted or (top, 0)))

    def _restyle(self) -> None:
        self._painting.restyle()
        self.viewport().update()

    def _put_caret(self, place: TextPosition, keep_anchor: bool = False) -> None:
        moved = place.line != self._selection.caret.line
        self._selection.put(place, keep_anchor)
        if moved:
            self._describe_line()
        self.viewport().update()

    def _describe_line(self) -> None:
        """Give screen readers the current line and what was found in it."""
        line = self._selection.caret.line
        remarks = [remark(finding) for finding in self._listing.findings_at(line)]
        text = self._listing.shown(line).text[:500]
        numbers, places = self._painting.numbers, self._painting.places.get(line, ())
        number = numbers[line] if numbers else str(line + 1)
        signs = ", ".join(tr("{sign} differs", sign=sign) for sign in signs_of(places))
        folded = self._listing.folded.get(line)
        said = [
            tr("Line {number}: {words}", number=number, words=text) if number else text,
            *filter(None, [signs, folded.words if folded is not None else ""]),
            *remarks,
        ]
        self.setAccessibleDescription(". ".join(said))
