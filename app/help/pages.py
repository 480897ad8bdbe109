"""Shows one page of the help: Markdown that came with Assent, in the colors and fonts of the window."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look

HEADINGS = (5.0, 2.5, 1.0)
"""Points above body text, by level."""
READABLE = 760
"""Pixels; longer lines tire."""
FENCE = QTextFormat.Property.BlockCodeFence
"""Blocks that have it are code."""


class HelpView(QTextBrowser):
    """Only for texts that came with Assent: what agents send is never Markdown (spec K4).

    Nothing is loaded and nothing is opened from here: a link only says where it leads.
    """

    followed = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._text = ""
        self._page: QTextDocument | None = None
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("pane", True)
        self.setAccessibleName(tr("Help"))
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.anchorClicked.connect(self._follow)
        look.changed.connect(self._paint)

    def show_text(self, markdown: str) -> None:
        """Show another page, from its beginning."""
        self._text = markdown
        self.verticalScrollBar().setValue(0)
        self._paint()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        return None

    def go_to(self, heading: str) -> None:
        """Bring a heading of this page to the top; to the beginning of the page where there is none of these words."""
        block = self.document().begin()
        while block.isValid() and not (block.blockFormat().headingLevel() and block.text() == heading):
            block = block.next()
        at = QTextCursor(block) if block.isValid() else QTextCursor(self.document())
        self.setTextCursor(at)
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() + self.cursorRect(at).top())

    @Slot(QUrl)
    def _follow(self, link: QUrl) -> None:
        self.followed.emit(link.toString())

    # ---- how it looks ----

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.setLineWrapColumnOrWidth(min(self.viewport().width(), self._look.px(READABLE)))
        super().resizeEvent(event)

    @Slot()
    def _paint(self) -> None:
        at = self.verticalScrollBar().value()
        self.setFont(self._look.font())
        # Dressed before it is shown: else all of it is laid out again after each of thousands of changes.
        former, page = self._page, QTextDocument(self)
        page.setDocumentMargin(0)
        page.setDefaultFont(self._look.font())
        page.setMarkdown(self._text)
        self._dress_blocks(page)
        for table in self._tables(page):
            self._dress_table(table)
        self.setDocument(page)
        self._page = page
        if former is not None:
            former.deleteLater()
        self.verticalScrollBar().setValue(at)
        if self.verticalScrollBar().value() < at:
            QTimer.singleShot(0, self, partial(self._go_on, page, at))

    def _go_on(self, page: QTextDocument, at: int) -> None:
        """Go to a place near the end of a page, which is laid out only later by itself."""
        if page is self._page:
            page.documentLayout().blockBoundingRect(page.lastBlock())
            self.setLineWrapColumnOrWidth(self.lineWrapColumnOrWidth())
            self.verticalScrollBar().setValue(at)

    def _dress_blocks(self, page: QTextDocument) -> None:
        """Give Markdown the sizes, distances and fonts of the window in place of Qt's own."""
        px, cursor = self._look.px, QTextCursor(page)
        block = page.begin()
        while block.isValid():
            level, shape = block.blockFormat().headingLevel(), QTextBlockFormat()
            shape.setLineHeight(135, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            if block.blockFormat().hasProperty(FENCE):
                shape.setLeftMargin(px(16))
                shape.setBottomMargin(0 if block.next().blockFormat().hasProperty(FENCE) else px(8))
            elif level:
                shape.setTopMargin(px(0 if block.blockNumber() == 0 else 22 if level == 2 else 14))
                shape.setBottomMargin(px(6))
            elif QTextCursor(block).currentTable() is None:
                listed = block.textList() is not None and block.next().textList() is not None
                shape.setBottomMargin(px(2 if listed else 8))
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(shape)
            iterator = block.begin()
            while not iterator.atEnd():
                fragment = iterator.fragment()
                cursor.setPosition(fragment.position())
                cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
                cursor.mergeCharFormat(self._ink(fragment.charFormat(), level, block.blockFormat().hasProperty(FENCE)))
                iterator += 1
            block = block.next()

    def _ink(self, given: QTextCharFormat, level: int, code: bool) -> QTextCharFormat:
        ink = QTextCharFormat()
        if level:
            ink.setFont(self._look.font(HEADINGS[min(level, 3) - 1], bold=True))
        elif code or given.fontFixedPitch():
            mono = self._look.mono()
            mono.setBold(given.fontWeight() > QFont.Weight.Normal)
            ink.setFont(mono)
        else:
            ink.setFont(self._look.font(bold=given.fontWeight() > QFont.Weight.Normal))
            ink.setFontItalic(given.fontItalic())
        if given.isAnchor():
            ink.setForeground(QColor(self._look.tokens.accent_ink))
        return ink

    def _tables(self, page: QTextDocument) -> list[QTextTable]:
        return [frame for frame in page.rootFrame().childFrames() if isinstance(frame, QTextTable)]

    def _dress_table(self, table: QTextTable) -> None:
        shape = table.format()
        shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        shape.setBorder(1)
        shape.setBorderCollapse(True)
        shape.setBorderBrush(QColor(self._look.tokens.border))
        shape.setCellPadding(self._look.px(6))
        shape.setCellSpacing(0)
        shape.setTopMargin(self._look.px(4))
        shape.setBottomMargin(self._look.px(10))
        shape.setWidth(QTextLength())
        table.setFormat(shape)
