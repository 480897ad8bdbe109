"""A page of Markdown, painted from its pieces: nothing in it can be followed, and nothing is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen, QResizeEvent, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.files.found import BlockKind, PieceKind
from app.parts.roles import Role
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.files.found import MarkdownBlock, MarkdownPage
    from app.look.look import Look

_LARGER = {1: 4.0, 2: 2.5, 3: 1.0}
"""Points that a heading of this depth is larger than the text."""
LONGEST_NAME = 2000


class _Paper(QWidget):
    accessible_role = Role.Document

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._page: MarkdownPage | None = None
        self._laid: list[tuple[MarkdownBlock, QTextLayout, QPointF]] = []
        look.changed.connect(self._again)

    def show_page(self, page: MarkdownPage) -> None:
        self._page = page
        text = "\n".join("".join(piece.text for piece in block.pieces) for block in page.blocks)
        self.setAccessibleName(tr("Page"))
        self.setAccessibleDescription(text[:LONGEST_NAME])
        self._again()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._again()

    def _again(self) -> None:
        self._laid = []
        at = 0.0
        px = self._look.px
        for block in self._page.blocks if self._page is not None else ():
            at += px(2 if block.kind in (BlockKind.ITEM, BlockKind.CODE) else 6)
            left = px(16) * (block.depth + 1) if block.kind is BlockKind.ITEM else 0.0
            left += px(10) if block.kind in (BlockKind.CODE, BlockKind.QUOTE) else 0.0
            layout, height = self._laid_out(block, max(px(60), self.width() - left - px(10)))
            self._laid.append((block, layout, QPointF(left, at)))
            at += height
        self.setMinimumHeight(round(at) + px(8))
        self.update()

    def _laid_out(self, block: MarkdownBlock, width: float) -> tuple[QTextLayout, float]:
        bold = block.kind is BlockKind.HEADING
        font = self._look.font(_LARGER.get(block.depth, 0.0) if bold else 0.0, bold=bold)
        text = "".join(piece.text for piece in block.pieces).replace("\n", "\N{LINE SEPARATOR}")
        layout = QTextLayout(text, font)
        layout.setFormats(self._formats(block, font))
        layout.beginLayout()
        height = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        return layout, height if block.pieces else self._look.px(8)

    def _formats(self, block: MarkdownBlock, font: QFont) -> list[QTextLayout.FormatRange]:
        tokens = self._look.tokens
        ranges = []
        at = 0
        for piece in block.pieces:
            written = QTextCharFormat()
            written.setForeground(QColor(tokens.muted if block.kind is BlockKind.QUOTE else tokens.text))
            match piece.kind:
                case PieceKind.STRONG:
                    written.setFontWeight(QFont.Weight.DemiBold)
                case PieceKind.EMPHASIS:
                    written.setFontItalic(True)
                case PieceKind.CODE:
                    written.setFont(self._look.mono())
                case PieceKind.ADDRESS:
                    written.setForeground(QColor(tokens.muted))
                case _:
                    pass
            one = QTextLayout.FormatRange()
            # Counted as Qt counts, for which some characters are two.
            one.start, one.length = at, len(piece.text.encode("utf-16-le", "surrogatepass")) // 2
            one.format = written
            ranges.append(one)
            at += one.length
        return ranges

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        try:
            self._paint(painter, QRectF(event.rect()))
        finally:
            painter.end()

    def _paint(self, painter: QPainter, seen: QRectF) -> None:
        tokens, px = self._look.tokens, self._look.px
        painter.fillRect(seen, QColor(tokens.surface))
        for block, layout, at in self._laid:
            room = QRectF(at.x(), at.y(), self.width() - at.x(), layout.boundingRect().height() or px(8))
            if not room.intersects(seen):
                continue
            if block.kind is BlockKind.CODE:
                painter.fillRect(room.adjusted(-px(10), -1, 0, 1), QColor(tokens.code))
            elif block.kind is BlockKind.QUOTE:
                painter.fillRect(QRectF(0, room.top(), px(3), room.height()), QColor(tokens.border))
            elif block.kind is BlockKind.RULE:
                painter.setPen(QPen(QColor(tokens.border), 1))
                painter.drawLine(QPointF(0, room.center().y()), QPointF(self.width(), room.center().y()))
            painter.setPen(QColor(tokens.text))
            layout.draw(painter, at)


class MarkdownView(QScrollArea):
    """Scrolls; arrows do so while it has the focus."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._paper = _Paper(look)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(tr("Page"))
        self.setWidget(self._paper)

    def show_page(self, page: MarkdownPage) -> None:
        self._paper.show_page(page)
        self.verticalScrollBar().setValue(0)

    def height_wanted(self) -> int:
        """Return the height that all of the page takes at its present width."""
        return self._paper.minimumHeight()
