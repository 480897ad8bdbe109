"""Code under review without its pixels: its lines, the findings at them, and how both fall into rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.parts.rows import Rows
from app.parts.text.folded import PICTURE_ROWS
from app.parts.text.visible_characters import WIDEST, Shown, cells, expose, indent, lines_of, plain, segments
from runner.model import engine_texts
from runner.model.assessment import WHOLE, Finding, Level
from runner.model.shown import LONGEST_SHOWN
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from app.parts.text.folded import FoldedPiece

LONGEST_ROW = 4096
"""Characters of a line shown in one row, however wide the window is."""
STEP = 40_000
"""Cost of what is laid out in one turn of the window, where a line that surely fits costs 1: some hundredths of a
second at most."""
MEASURED, REMARKED = 4, 400
"""Cost of a character that is measured, and of a remark."""
HANG = 4
"""Cells by which the next rows of a line stand further in than its first."""
_REMEMBERED = 4096
_SHORT = 1000
"""Characters of a plain line that is not worth remembering."""


class CodeListing:
    """Lines count from 0 here; the lines of findings count from 1."""

    def __init__(self, code: str, language: str, findings: Sequence[Finding]) -> None:
        # A lone carriage return ends a line for Python alone; a shell and JavaScript as parsed here read on.
        self.language = language
        self.lines = lines_of(code, every_return=language == "python")
        self.ends_line = len(self.lines) > 1 and not self.lines[-1]
        """The last line ends with a line break: what comes after that is no line."""
        if self.ends_line:
            self.lines.pop()
        # What is about the request and no line of it stands in the band.
        placed = (finding for finding in findings if finding.span != WHOLE)
        self.findings = tuple(sorted(placed, key=lambda finding: (finding.span.line, finding.span.column)))
        self._at: dict[int, tuple[Finding, ...]] = {}
        self._worst = bytearray(len(self.lines))
        self._shown: dict[int, Shown] = {}
        self.folded: Mapping[int, FoldedPiece] = {}
        """By line. See `fold`."""
        for finding in self.findings:
            line = self.line_of(finding)
            self._at[line] = (*self._at.get(line, ()), finding)
        for finding in sorted(self.findings, key=lambda finding: finding.level):
            first = self.line_of(finding)
            last = min(max(first + 1, finding.span.end_line), len(self.lines))
            self._worst[first:last] = bytes([finding.level]) * (last - first)

    def fold(self, pieces: Mapping[int, FoldedPiece]) -> None:
        """Show these pieces as their words, one of a line; not one in which anything could hide, or was found."""
        self.folded = {
            line: piece
            for line, piece in pieces.items()
            if line < len(self.lines)
            and not self._worst[line]
            and plain(self.lines[line].replace("\t", ""))
            and piece.fits(self.lines[line])
        }

    def line_of(self, finding: Finding) -> int:
        """Return the line a finding begins at, kept within the code."""
        return min(max(0, finding.span.line - 1), len(self.lines) - 1)

    @property
    def flagged(self) -> list[int]:
        """Lines at which findings begin, in order."""
        return sorted(self._at)

    def flags(self) -> list[tuple[int, Level]]:
        """Return each line at which findings begin, and the highest level of those."""
        return [(line, max(finding.level for finding in self._at[line])) for line in self.flagged]

    def findings_at(self, line: int) -> tuple[Finding, ...]:
        """Return the findings that begin at `line`."""
        return self._at.get(line, ())

    def worst(self, line: int) -> Level | None:
        """Return the highest level of the findings that cover `line`."""
        return Level(self._worst[line]) if self._worst[line] else None

    def shown(self, line: int) -> Shown:
        """Return `line` as it is shown."""
        text = self.lines[line]
        if len(text) <= _SHORT and plain(text):
            return Shown(text)
        if line not in self._shown:
            if len(self._shown) >= _REMEMBERED:
                self._shown.clear()
            self._shown[line] = _exposed(text)
        return self._shown[line]

    def word_at(self, line: int, column: int) -> tuple[int, int]:
        """Return where the word around `column` begins and ends; both are `column` where there is none."""
        text = self.lines[line]
        start = end = column
        while start > 0 and _in_word(text[start - 1]):
            start -= 1
        while end < len(text) and _in_word(text[end]):
            end += 1
        return start, end

    def marked(self, line: int) -> list[tuple[int, int, Level]]:
        """Return (start, end, level) of what findings point at in `line`, as columns of the source."""
        spans = []
        for finding in self.findings_at(line):
            one_line = finding.span.end_line <= finding.span.line
            spans.append(
                (finding.span.column, finding.span.end_column if one_line else len(self.lines[line]), finding.level)
            )
        return spans


def _exposed(text: str) -> Shown:
    """Return a line as it is shown: one that is not plain up to a bound, and how much more there is."""
    if len(text) <= LONGEST_SHOWN or plain(text):
        return expose(text)
    shown = expose(text[:LONGEST_SHOWN])
    more = tr(" … {count} more characters of this line", count=numeral(len(text) - LONGEST_SHOWN))
    end = len(shown.text)
    starts = shown.starts or tuple(range(end + 1))
    return Shown(shown.text + more, (*shown.escapes, (end, end + len(more))), starts, shown.narrow)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def remark(finding: Finding) -> str:
    """Return what is written at the line of `finding`: the level in a word, then why."""
    return f"{finding.level.name.capitalize()}: {' '.join(engine_texts.in_words(finding.reason).split())}"


class CodeLayout:
    """A listing laid into rows for a width: long lines continue in the next row, further in; remarks beside or below.

    Lines are laid out in order, as many at once as cost little: call `lay_further` until it is `complete`.
    """

    def __init__(
        self, listing: CodeListing, columns: int, room: Callable[[int], float], measure: Callable[[str], float]
    ) -> None:
        """`columns`: cells in a row. `room(n)`: what is left of it beside `n` cells, in the unit of `measure(text)`."""
        self._listing = listing
        self._columns = max(1, min(columns, LONGEST_ROW))
        self.widest = 0
        """Cells of the longest row so far, where lines do not wrap."""
        self._room = room
        self._measure = measure
        self._pieces: dict[int, list[tuple[int, int]]] = {}
        self._below: dict[int, list[tuple[Level, str]]] = {}
        self._folds: dict[int, tuple[int, list[str]]] = {}
        """The row of a line at which it is folded, and the words in rows; those of its picture follow."""
        self.laid = 0
        """Lines that have their rows: the first ones."""
        self.rows = Rows()
        """Rows of the lines that are laid out."""
        self.lay_further()

    @property
    def complete(self) -> bool:
        """Whether every line has its rows."""
        return self.laid == len(self._listing.lines)

    def lay_further(self) -> None:
        """Lay out the next lines, at least one while there are any."""
        cost = 0
        while cost < STEP and not self.complete:
            line = self.laid
            text = self._listing.lines[line]
            cost += 1
            more = 0
            if text and not _surely_fits(text, self._columns):
                cost += MEASURED * min(len(text), LONGEST_SHOWN)
                more = self._split(line)
            if self._listing.findings_at(line):
                cost += REMARKED * len(self._listing.findings_at(line))
                if not self._fits(line):
                    self._below[line] = self._wrapped(line)
                    more += len(self._below[line])
            if self._columns == LONGEST_ROW:
                cost += 0 if plain(text) else MEASURED * min(len(text), LONGEST_SHOWN)
                self.widest = max(self.widest, *(self.cells(line, piece) for piece in self.pieces(line)))
            self.rows.add(more)
            self.laid += 1

    def pieces(self, line: int) -> list[tuple[int, int]]:
        """Return (start, end) in the shown text of `line` for each of its rows of code."""
        return self._pieces.get(line) or [(0, len(self._listing.shown(line).text))]

    @property
    def folded(self) -> AbstractSet[int]:
        """The lines of which a piece is folded in this width."""
        return self._folds.keys()

    def fold_at(self, line: int, nth: int) -> int:
        """Return which row of a fold row `nth` of `line` is, from 0; -1 where it is one of code."""
        if line not in self._folds:
            return -1
        first, words = self._folds[line]
        return nth - first if first <= nth < first + len(words) + PICTURE_ROWS else -1

    def fold_words(self, line: int) -> list[str]:
        """Return what is said of the folded piece of `line`, in rows."""
        return self._folds[line][1]

    def cells(self, line: int, piece: tuple[int, int]) -> int:
        """Return how many cells a row of `line` takes."""
        text = self._listing.shown(line).text[slice(*piece)]
        return len(text) if plain(text) else cells(text)

    def beside(self, line: int) -> list[tuple[Level, str]]:
        """Return the remarks at the right of the only row of `line`."""
        if line in self._below:
            return []
        return _remarks(self._listing, line)

    def below(self, line: int) -> list[tuple[Level, str]]:
        """Return the remarks on rows of their own after the code of `line`."""
        return self._below.get(line, [])

    def hang(self, line: int) -> int:
        """Return how many cells the rows of `line` after its first stand in."""
        return min(indent(self._listing.shown(line)) + HANG, self._columns // 3)

    def _split(self, line: int) -> int:
        """Cut `line` into rows; return how many it has beyond the first."""
        pieces = segments(self._listing.shown(line), self._columns, self.hang(line))
        if self._columns < LONGEST_ROW and (folded := self._listing.folded.get(line)) is not None:
            pieces = self._fold(line, folded, pieces)
        if len(pieces) > 1:
            self._pieces[line] = pieces
        return len(pieces) - 1

    def _fold(self, line: int, folded: FoldedPiece, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return `pieces` with empty ones for what stands in place of those that lie within `folded` alone."""
        shown = self._listing.shown(line)
        start, end = shown.place(folded.start), shown.place(folded.end)
        within = [nth for nth, piece in enumerate(pieces) if start <= piece[0] and piece[1] <= end]
        words = self._rows_of(folded.words)
        if len(within) <= len(words) + PICTURE_ROWS:
            return pieces
        first, last = within[0], within[-1]
        self._folds[line] = first, words
        place = pieces[first][0]
        return [*pieces[:first], *[(place, place)] * (len(words) + PICTURE_ROWS), *pieces[last + 1 :]]

    def _fits(self, line: int) -> bool:
        start, end = self.pieces(line)[-1]
        if start:
            return False
        remarks = _remarks(self._listing, line)
        used = cells(self._listing.shown(line).text[:end])
        return len(remarks) == 1 and self._measure(remarks[0][1]) <= self._room(used)

    def _wrapped(self, line: int) -> list[tuple[Level, str]]:
        remarks = _remarks(self._listing, line)
        return [(level, row) for level, text in remarks for row in self._rows_of(text)]

    def _rows_of(self, text: str) -> list[str]:
        """Return `text` in rows between whose words it breaks."""
        rows: list[str] = []
        row = ""
        for word in text.split(" "):
            longer = f"{row} {word}" if row else word
            if row and self._measure(longer) > self._room(0):
                rows.append(row)
                longer = word
            row = longer
        return [*rows, row]


def _surely_fits(text: str, columns: int) -> bool:
    """Return whether `text` surely fits, by a quick look; other lines are measured character by character."""
    if len(text) * WIDEST <= columns:
        return True
    if plain(text):
        return len(text) <= columns
    return len(text) + 3 * text.count("\t") <= columns and plain(text.replace("\t", ""))


def _remarks(listing: CodeListing, line: int) -> list[tuple[Level, str]]:
    worst_first = sorted(listing.findings_at(line), key=lambda finding: -finding.level)
    return list(dict.fromkeys((finding.level, remark(finding)) for finding in worst_first))
