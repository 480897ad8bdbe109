"""Every key of the window in one table, and the sheet that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.parts.fold import FoldingRow, Room, fit
from app.parts.plain import plain_label

if TYPE_CHECKING:
    from app.look.look import Look

KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Deciding",
        (
            ("J  K", "next, previous request"),
            ("A  Shift+A", "approve or hand over, run for real"),
            ("Ctrl+Shift+A", "held for a second: approve what is CRITICAL"),
            ("D", "deny, with a reason"),
            ("Ctrl+Enter", "in the reason: deny. In the editor: done"),
            ("T", "try it without network first"),
            ("E", "edit the code first"),
            ("L", "change the limits first"),
            ("R", "remember"),
            ("X", "select for a batch"),
        ),
    ),
    (
        "Code",
        (
            ("N  P", "next, previous finding"),
            ("Page Down, End", "through the code"),
            ("Ctrl+F", "search the code"),
            ("Ctrl+ + - 0", "size of the code"),
            ("Alt+Z", "long lines: wrap them, or not"),
            ("Ctrl+C", "copy the selection or the line"),
        ),
    ),
    (
        "Output",
        (("/", "search"), ("Ctrl+S", "save"), ("End", "follow the output"), ("Ctrl+Shift+P", "pause, resume the run")),
    ),
    (
        "Work",
        (("A", "apply what is ticked"), ("Space", "tick the change, or leave it out"), ("/", "search the changes")),
    ),
    (
        "Everywhere",
        (
            ("Ctrl+K", "go anywhere"),
            ("Ctrl+0 to 9", "the pages"),
            ("Ctrl+Shift+D", "a narrow column, the whole window"),
            ("Ctrl+Shift+H", "pause all, resume all"),
            ("Ctrl+Shift+S", "stop all"),
            ("F1", "help"),
            ("F5", "look again"),
            ("?", "this sheet"),
            ("Ctrl+Q", "quit"),
        ),
    ),
)


class KeySheet(QDialog):
    """Opened with `open`; Escape closes it."""

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent)
        px = look.px
        self.setWindowTitle("Keys")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        half = len(KEYS) // 2
        sides = FoldingRow()
        sides.setSpacing(px(36))
        for groups in (KEYS[:half], KEYS[half:]):
            grid = QGridLayout()
            grid.setHorizontalSpacing(px(10))
            grid.setVerticalSpacing(px(5))
            for name, keys in groups:
                if grid.rowCount() > 1:
                    grid.setRowMinimumHeight(grid.rowCount(), px(8))
                grid.addWidget(plain_label(name, "heading"), grid.rowCount(), 0, 1, 2)
                for key, what in keys:
                    row = grid.rowCount()
                    grid.addWidget(plain_label(key, "strong"), row, 0)
                    grid.addWidget(plain_label(what), row, 1)
            grid.setRowStretch(grid.rowCount(), 1)
            sides.addLayout(grid)
        never = plain_label("Enter, Space and Escape never decide anything.", "muted")
        close = QPushButton("Close")
        close.clicked.connect(self.accept)
        table = QWidget()
        table.setLayout(sides)
        sides.setContentsMargins(px(10), px(8), px(10), px(8))
        sides.fold(table.minimumSizeHint().width() > parent.window().width() - px(60))
        self.table = Room(table)
        self.table.setAccessibleName("Keys")
        self.table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        foot = QHBoxLayout()
        foot.addWidget(never, 1)
        foot.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(16), px(12), px(14))
        column.setSpacing(px(14))
        column.addWidget(plain_label("Keys", "title"))
        column.addWidget(self.table, 1)
        column.addLayout(foot)
        fit(self, table.sizeHint().width() + px(44), table.sizeHint().height() + px(130))
        close.setFocus()
        spoken = [f"{key}: {what}" for _, keys in KEYS for key, what in keys]
        self.setAccessibleDescription(". ".join(spoken))
