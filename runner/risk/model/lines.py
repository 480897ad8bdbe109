"""Places in a text: from offsets to lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from runner.model.assessment import Span

EVIDENCE_LENGTH = 200


class Lines:
    """Where the lines of a text start. Lines end at `\\n` only, as interpreters and the code view count them."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def start(self, line: int) -> int:
        """Offset of the first character of `line` (counted from 1); the end of the text beyond the last."""
        return self._starts[line - 1] if 0 < line <= len(self._starts) else len(self.text)

    def span(self, start: int, end: int) -> Span:
        """Return the range from offset `start` up to `end`."""
        line, end_line = bisect_right(self._starts, start), bisect_right(self._starts, max(start, end))
        return Span(line, start - self._starts[line - 1], end_line, max(start, end) - self._starts[end_line - 1])

    def place(self, place: tuple[int, int, int, int]) -> Span:
        """Return a parser's range, whose columns count bytes of UTF-8, in characters; kept inside the text."""
        line, column, end_line, end_column = place
        line, end_line = min(max(line, 1), len(self)), min(max(end_line, 1), len(self))
        return Span(line, self._characters(line, column), end_line, self._characters(end_line, end_column))

    def _characters(self, line: int, column: int) -> int:
        start = self.start(line)
        stop = self.start(line + 1) - 1 if line < len(self) else len(self.text)
        # No character takes more than four bytes, and none less than one: nothing beyond `column` counts.
        part = self.text[start : min(stop, start + column)]
        return (
            column
            if part.isascii() and len(part) >= column
            else len(part.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        )

    def evidence(self, span: Span) -> str:
        """Return the text in `span` on one line, at most EVIDENCE_LENGTH characters."""
        start = self.start(span.line) + span.column
        end = min(self.start(span.end_line) + span.end_column, start + 4 * EVIDENCE_LENGTH)
        return shorten(self.text[start:end])


def shorten(text: str) -> str:
    """`text` with runs of white space made one space, cut to EVIDENCE_LENGTH characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= EVIDENCE_LENGTH else flat[: EVIDENCE_LENGTH - 1] + "…"
