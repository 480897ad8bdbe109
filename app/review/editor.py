"""The code of a request while a person changes it; every pause in typing tells what it has become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app.parts.key_names import key_text
from app.review.editor_colors import EditorColors
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from app.look.look import Look
    from runner.model.assessment import Finding

PAUSE_MS = 250
"""Without a key after which the code is assessed again."""
MOST_LINE = 4096
"""Characters of a line above which Qt takes seconds to lay it out."""


class CodeEditor(QPlainTextEdit):
    """Plain text. Tab types a tab only where the code has tabs; Ctrl+Enter is done, Escape leaves it as it was."""

    changed = Signal(str)
    """What it is now, after a pause in typing."""
    done = Signal()
    discarded = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._findings: tuple[Finding, ...] = ()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", "editor")
        self.setFont(look.mono())
        self.setAccessibleName(
            tr("Code, being changed. {key} when done, Escape to leave it as it was.", key=key_text("Ctrl+Enter"))
        )
        self.setTabChangesFocus(False)
        self.document().setDocumentMargin(look.px(6))
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance("0"))
        self._numbers = _Numbers(self)
        self._colors = EditorColors(self.document(), look)
        self.textChanged.connect(self._colors.look_again)
        self._said = ""
        """The code that others know of."""
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._tell)
        self.textChanged.connect(self._pause.start)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._scroll_numbers)
        look.changed.connect(self._mark)
        self._make_room()

    def open(self, code: str, language: str = "") -> None:
        """Begin with `code`; `language` is a value of `Language`, '' for none."""
        self._findings = ()
        self._said = code
        self.setPlainText(code)
        self._colors.open(language)
        self._pause.stop()
        self._mark()
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def code(self) -> str:
        # Qt puts no-break spaces and separators of its own back as they were only in `toPlainText` of the document.
        return self.toPlainText()

    def show_findings(self, findings: tuple[Finding, ...]) -> None:
        """Tint the lines in which something was found."""
        self._findings = findings
        self._mark()

    def go_to(self, line: int) -> None:
        """Put the cursor into `line`, from 1."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        self.setTextCursor(QTextCursor(block))
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _tell(self) -> None:
        # Qt says of new colours too that the text was changed.
        if self.code != self._said:
            self._said = self.code
            self.changed.emit(self._said)

    @Slot()
    def _mark(self) -> None:
        marks = []
        worst: dict[int, Finding] = {}
        for finding in self._findings:
            for line in range(finding.span.line, min(finding.span.end_line, finding.span.line + 50) + 1):
                if line not in worst or finding.level > worst[line].level:
                    worst[line] = finding
        for line, finding in worst.items():
            block = self.document().findBlockByNumber(line - 1)
            if block.isValid():
                mark = QTextEdit.ExtraSelection()
                mark.cursor = QTextCursor(block)
                mark.format.setBackground(QColor(self._look.tokens.tint(finding.level)))
                mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
                marks.append(mark)
        self.setExtraSelections(marks)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and control:
            event.accept()
            if not event.isAutoRepeat():
                self.done.emit()
        elif event.key() == Qt.Key.Key_Escape:
            event.accept()
            self.discarded.emit()
        elif event.key() == Qt.Key.Key_Tab and not event.modifiers() and "\t" not in self.toPlainText():
            self.insertPlainText("    ")
        else:
            super().keyPressEvent(event)

    # ---- line numbers ----

    @Slot()
    def _make_room(self) -> None:
        digits = max(3, len(str(self.blockCount())))
        self.setViewportMargins((digits + 2) * self.fontMetrics().horizontalAdvance("0"), 0, 0, 0)

    @Slot(QRect, int)
    def _scroll_numbers(self, room: QRect, by: int) -> None:
        if by:
            self._numbers.scroll(0, by)
        else:
            self._numbers.update(0, room.y(), self._numbers.width(), room.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._numbers.setGeometry(QRect(inside.left(), inside.top(), self.viewport().x(), inside.height()))

    def paint_numbers(self, painter: QPainter, room: QRect) -> None:
        """Paint the line numbers; called by the gutter."""
        painter.fillRect(room, QColor(self._look.tokens.gutter))
        painter.setFont(self.font())
        painter.setPen(QColor(self._look.tokens.muted))
        block = self.firstVisibleBlock()
        width = self._numbers.width() - self._look.px(8)
        while block.isValid():
            top = round(self.blockBoundingGeometry(block).translated(self.contentOffset()).top())
            if top > room.bottom():
                break
            line = QRect(0, top, width, self.fontMetrics().height())
            painter.drawText(line, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            block = block.next()


class _Numbers(QWidget):
    """The gutter."""

    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.viewport().x(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._editor.paint_numbers(painter, event.rect())
        painter.end()


def can_edit(code: str) -> str:
    """Return why `code` cannot be changed here; empty when it can."""
    if any(len(line) > MOST_LINE for line in code.split("\n")):
        return tr("A line has more than {most_line} characters: too long to change here.", most_line=numeral(MOST_LINE))
    if any(sign in code for sign in "\r\u2028\u2029\u00a0\ufdd0\ufdd1"):
        # QPlainTextEdit would change these without a word.
        return tr("The code has line ends or blanks that an editor would change without a word.")
    return ""
