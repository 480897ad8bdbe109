"""Every key of the window in one table, and the sheet that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.parts.fold import FoldingRow, Room, fit
from app.parts.key_names import key_text
from app.parts.plain import plain_label
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.look.look import Look

KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        tr("Deciding"),
        (
            ("J  K", tr("next, previous request")),
            ("A  Shift+A", tr("approve or hand over, run for real")),
            ("Ctrl+Shift+A", tr("held for a second: approve what is CRITICAL")),
            ("D", tr("deny, with a reason")),
            ("Ctrl+Enter", tr("in the reason: deny. In the editor: done")),
            ("T", tr("try it without network first")),
            ("E", tr("edit the code first")),
            ("L", tr("change the limits first")),
            ("R", tr("remember")),
            ("X", tr("select for a batch")),
        ),
    ),
    (
        tr("Code"),
        (
            ("N  P", tr("next, previous finding")),
            ("Page Down, End", tr("through the code")),
            ("Ctrl+F", tr("search the code")),
            ("Ctrl+ + - 0", tr("size of the code")),
            ("Alt+Z", tr("long lines: wrap them, or not")),
            ("O", tr("show a folded picture as text, or fold it")),
            ("Ctrl+C", tr("copy the selection or the line")),
        ),
    ),
    (
        tr("Output"),
        (
            ("/", tr("search")),
            ("Ctrl+S", tr("save")),
            ("End", tr("follow the output")),
            ("Ctrl+Shift+P", tr("pause, resume the run")),
        ),
    ),
    (
        tr("Work"),
        (
            ("A", tr("apply what is ticked")),
            ("Space", tr("tick the change, or leave it out")),
            ("/", tr("search the changes")),
        ),
    ),
    (
        tr("Everywhere"),
        (
            ("Ctrl+K", tr("go anywhere")),
            ("Ctrl+0 to 9", tr("the pages")),
            ("Ctrl+Shift+D", tr("a narrow column, the whole window")),
            ("Ctrl+Shift+H", tr("pause all, resume all")),
            ("Ctrl+Shift+S", tr("stop all")),
            ("F1", tr("help")),
            ("F5", tr("look again")),
            ("?", tr("this sheet")),
            ("Ctrl+Q", tr("quit")),
        ),
    ),
)


class KeySheet(QDialog):
    """Opened with `open`; Escape closes it."""

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent)
        px = look.px
        self.setWindowTitle(tr("Keys"))
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
                    grid.addWidget(plain_label(key_text(key), "strong"), row, 0)
                    grid.addWidget(plain_label(what), row, 1)
            grid.setRowStretch(grid.rowCount(), 1)
            sides.addLayout(grid)
        never = plain_label(tr("Enter, Space and Escape never decide anything."), "muted")
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.accept)
        table = QWidget()
        table.setLayout(sides)
        sides.setContentsMargins(px(10), px(8), px(10), px(8))
        sides.fold(table.minimumSizeHint().width() > parent.window().width() - px(60))
        self.table = Room(table)
        self.table.setAccessibleName(tr("Keys"))
        self.table.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        foot = QHBoxLayout()
        foot.addWidget(never, 1)
        foot.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(16), px(16), px(12), px(14))
        column.setSpacing(px(14))
        column.addWidget(plain_label(tr("Keys"), "title"))
        column.addWidget(self.table, 1)
        column.addLayout(foot)
        fit(self, table.sizeHint().width() + px(44), table.sizeHint().height() + px(130))
        close.setFocus()
        spoken = [f"{key_text(key)}: {what}" for _, keys in KEYS for key, what in keys]
        self.setAccessibleDescription(". ".join(spoken))
