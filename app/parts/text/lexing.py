"""The kinds of words in code, found a few milliseconds at a time so that the window never waits for it."""

from __future__ import annotations

import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from shiboken6 import isValid

if TYPE_CHECKING:
    from collections.abc import Iterator

_SLICE = 0.004
"""Seconds of work between two looks at the event queue."""

_AFTER_PAINT_MS = 20
"""From the first paint until the lines that are not on the screen get their words."""

_LONGEST_LINE = 50_000
_SLOWEST_STEP = 0.05
_MOST_WORK = 10.0
"""Beyond these bounds (characters; seconds for one word; seconds in all) the rest of the text stays in one color."""

Word = tuple[int, int, str]
"""(start, end, token of the theme) within one line of the source."""


class Lexing(QObject):
    """Lexes one text after the other; a new text ends the work on the last."""

    grew = Signal(int, int)
    """Lines from the first to before the second have their words now."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words: list[list[Word]] = []
        self._work: Iterator[None] | None = None
        self._spent = 0.0
        self._begun = False
        """The lexer has been loaded and has given its first word, which takes longer than any other may."""
        self._waits = False
        """Enough is known for the first paint."""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._further)

    def start(self, lines: list[str], language: str, shown: int = sys.maxsize) -> None:
        """Begin with `lines`, of which `shown` are on the screen; without a lexer for it they have no words."""
        self.words = []
        self._spent = 0.0
        self._begun = False
        self._work = self._lex(lines, language)
        # At once as far as the screen or a moment goes, so that it is painted once and not twice.
        loaded = "app.parts.text.bounded_lexers" in sys.modules
        if loaded:
            self._go_on(shown)
        self._waits = loaded and len(self.words) > shown
        if self._work is None or self._waits:
            self._timer.stop()
        else:
            self._timer.start(0)

    def painted(self) -> None:
        """Continue with the lines that were not on the screen, now that the others have been painted."""
        if self._waits:
            self._waits = False
            self._timer.start(_AFTER_PAINT_MS)

    def line(self, line: int) -> list[Word]:
        """Return the words of `line` that are known so far."""
        return self.words[line] if line < len(self.words) else []

    @Slot()
    def _further(self) -> None:
        self._timer.setInterval(0)
        self._go_on()

    def _go_on(self, enough: int = sys.maxsize) -> None:
        """Lex for a moment, or until more than `enough` lines have words."""
        if self._work is None:
            return
        # The time of this thread: on a busy machine a step that had to wait is not a slow one.
        began = last = time.thread_time()
        before = max(0, len(self.words) - 1)
        slow = False
        for _ in self._work:
            now = time.thread_time()
            slow, last = self._begun and now - last > _SLOWEST_STEP, now
            self._begun = bool(self.words)
            if slow or now - began > _SLICE or len(self.words) > enough:
                break
        else:
            self._work = None
        if not isValid(self):  # collected meanwhile, with the view that it belonged to
            self._work = None
            return
        self._spent += last - began
        if self._work is None or slow or self._spent > _MOST_WORK:
            self._work = None
            self._timer.stop()
        if len(self.words) > before:
            self.grew.emit(before, len(self.words))

    def _lex(self, lines: list[str], language: str) -> Iterator[None]:
        if max(map(len, lines)) > _LONGEST_LINE:
            return
        # Imported when the first code is shown: the first paint of the window does without.
        from app.parts.text.bounded_lexers import tokens

        yield
        column = 0
        self.words.append([])
        for token, text in tokens("\n".join(lines), language):
            kind = _kind(token)
            first, *more = text.split("\n")
            column = self._add(kind, column, first)
            for part in more:
                self.words.append([])
                column = self._add(kind, 0, part)
            yield

    def _add(self, kind: str, column: int, text: str) -> int:
        if kind and text:
            self.words[-1].append((column, column + len(text), kind))
        return column + len(text)


@lru_cache(256)
def _kind(token: Any) -> str:
    """Return the theme's token for one of Pygments; empty for plain text."""
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    for kinds, name in (
        ((Comment,), "comment"),
        ((String,), "string"),
        ((Number,), "number"),
        ((Keyword, Operator.Word), "keyword"),
        ((Name.Function, Name.Class, Name.Decorator), "function"),
        ((Name.Builtin, Name.Exception, Name.Variable), "builtin"),
    ):
        if any(token in kind for kind in kinds):
            return name
    return ""
