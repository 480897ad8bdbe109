"""The changes since the last version approved for the same agent and purpose; unchanged parts fold."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app import phrases
from app.parts.text.differences import SHOWN, numbered, write_line
from app.parts.text.text_area import BY_KEYBOARD
from runner.model import engine_texts
from runner.model.difference import Side
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent

    from app.look.look import Look
    from runner.approval.editing import Earlier
    from runner.model.assessment import Finding
    from runner.model.difference import DiffLine

NOTHING = tr("Nothing with this title by this agent has been approved before.")
ASKING = tr("Looking for an earlier version\N{HORIZONTAL ELLIPSIS}")


class ChangesView(QPlainTextEdit):
    """Read-only and plain. What is approved is always the whole code beside it, never this."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._shown: tuple[Earlier | None, tuple[Finding, ...]] | None = None
        self._own: tuple[DiffLine, ...] | None = None
        """What the person changed, where that is shown."""
        self.by_keyboard = False
        """It has a focus that came by keyboard, and not because another part of the request went away."""
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", "plain")
        self.setFont(look.mono())
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(tr("Changes since the last approved version"))
        look.changed.connect(self._again)
        self.show_asking()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.by_keyboard = event.reason() in BY_KEYBOARD
        super().focusInEvent(event)

    def show_asking(self) -> None:
        self._shown = None
        self.setPlainText(ASKING)

    def show_problem(self, why: str) -> None:
        """Show why nothing can be compared."""
        self._shown = None
        self.setPlainText(why)

    def show_earlier(self, earlier: Earlier | None, findings: tuple[Finding, ...]) -> None:
        """Show what was approved earlier; `findings` are those of the new version."""
        self._own = None
        self._shown = (earlier, findings)
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if earlier is None:
            self._write(cursor, NOTHING, "muted")
        else:
            since = phrases.ago(max(0.0, time.time() - earlier.decided_at))
            if not earlier.lines:
                self._write(cursor, tr("The same code was approved {since}.", since=since), "muted")
            else:
                self._write(cursor, tr("Compared with what was approved {since}:", since=since), "muted")
                self._write_lines(cursor, earlier.lines, findings)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def show_own(self, lines: tuple[DiffLine, ...], findings: tuple[Finding, ...]) -> None:
        """Show what the person changed; `findings` are those of their version."""
        self._own = lines
        self._shown = (None, findings)
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        self._write(cursor, tr("What you changed:"), "muted")
        self._write_lines(cursor, lines, findings)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _again(self) -> None:
        if self._shown is not None and self._own is not None:
            self.show_own(self._own, self._shown[1])
        elif self._shown is not None:
            self.show_earlier(*self._shown)

    def _write_lines(self, cursor: QTextCursor, lines: tuple[DiffLine, ...], findings: tuple[Finding, ...]) -> None:
        tokens = self._look.tokens
        found: dict[int, list[Finding]] = {}
        for finding in findings:
            if finding.span.place:
                found.setdefault(finding.span.line, []).append(finding)
        # The end of the last line is not a line of its own, where both versions have it.
        ended = bool(lines) and lines[-1].side is Side.SAME and not lines[-1].text
        for line in lines[: min(SHOWN, len(lines) - ended)]:
            match line.side:
                case Side.FOLDED:
                    words = plural("{count} unchanged line", "{count} unchanged lines", line.count)
                    self._write(cursor, f"\N{VERTICAL ELLIPSIS}     {words}", "muted")
                case Side.REMOVED:
                    self._write(cursor, numbered("-", line.old, line.text), "high", tokens.high_tint)
                case Side.ADDED:
                    self._write(cursor, numbered("+", line.new, line.text), "low", tokens.low_tint)
                    for finding in found.get(line.new or 0, ()):
                        level = finding.level
                        words = f"        \N{BOX DRAWINGS LIGHT UP AND RIGHT} {level.name.capitalize()}: "
                        reason = phrases.visible(engine_texts.in_words(finding.reason))
                        self._write(cursor, words + reason, level.name.lower(), tokens.tint(level))
                case Side.SAME:
                    self._write(cursor, numbered(" ", line.new, line.text), "text")
        if len(lines) > SHOWN:
            self._write(cursor, tr("and {count} more lines, see Code", count=numeral(len(lines) - SHOWN)), "muted")

    def _write(self, cursor: QTextCursor, text: str, ink: str, ground: str = "") -> None:
        write_line(cursor, text, getattr(self._look.tokens, ink), ground)


def sums(lines: tuple[DiffLine, ...]) -> str:
    """Return how much has changed, for the tab: `+3 -1`; empty where nothing is to be compared."""
    if not lines:
        return ""
    added = sum(line.side is Side.ADDED for line in lines)
    removed = sum(line.side is Side.REMOVED for line in lines)
    return f"+{added} \N{MINUS SIGN}{removed}"
