"""A plain text editor, in a process of its own: stands for the program in which a person works when an agent asks."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette, QTextCursor
from PySide6.QtWidgets import QApplication, QMainWindow, QPlainTextEdit, QStyleFactory, QTabBar, QVBoxLayout, QWidget

from runner.system.shipped import resources

MENUS = ("File", "Edit", "View", "Help")
MONO = "JetBrainsMono-Regular.ttf"
"""Of Assent's own fonts: a machine may have none."""


class Editor(QMainWindow):
    """One file, with the place of the cursor below it. Nothing is saved."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.setWindowTitle(f"{file.name} - Editor")
        for name in MENUS:
            self.menuBar().addMenu(name)
        tabs = QTabBar()
        tabs.setExpanding(False)
        tabs.setDrawBase(False)
        tabs.addTab(file.name)
        number = QFontDatabase.addApplicationFont(str(resources() / "fonts" / MONO))
        font = QFont(QFontDatabase.applicationFontFamilies(number))
        font.setPixelSize(14)
        self.text = QPlainTextEdit(file.read_text())
        self.text.setFont(font)
        self.text.document().setDocumentMargin(10)
        self.text.moveCursor(QTextCursor.MoveOperation.End)
        self.text.cursorPositionChanged.connect(self._say_place)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(0)
        column.addWidget(tabs)
        column.addWidget(self.text)
        self.setCentralWidget(body)
        self.text.setFocus()
        self._say_place()

    @Slot()
    def _say_place(self) -> None:
        cursor = self.text.textCursor()
        self.statusBar().showMessage(f"Line {cursor.blockNumber() + 1}, column {cursor.columnNumber() + 1}")


def main(file: str, *place: str) -> int:
    """Show `file` until the process is ended. `place` is x, y, width and height of the window in pixels."""
    app = QApplication(["editor"])
    app.setStyle(QStyleFactory.create("Fusion"))
    app.setPalette(QPalette(QColor("#f0f0f0"), QColor("#f0f0f0")))
    editor = Editor(Path(file))
    editor.setGeometry(*map(int, place))
    editor.show()
    while (handle := editor.windowHandle()) is None or not handle.isExposed():
        app.processEvents()  # only what is on the screen can get the focus
    sys.stdout.write(f"{int(editor.winId())}\n")
    sys.stdout.flush()
    return app.exec()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
