"""One card of the results: a name, what is said of it, and the thing itself, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.files.found import JsonRows, MarkdownPage, Picture, Table
from app.files.kinds import LANGUAGES, PAGES, PICTURES, VECTORS, ending
from app.files.picture import PictureView
from app.files.table import TableView
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.parts.text.code import CodeView
from app.parts.text.copying import CopyButton
from app.parts.text.visible_characters import visible
from app.results.chart import ChartView
from app.results.page import MarkdownView
from app.results.tree import JsonView
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.files.found import Preview
    from app.look.look import Look
    from runner.model.result import CapturedFile

TALLEST = 300
"""Pixels of what is on a card; what is longer scrolls inside of it."""
ROWS = 8
"""Of a table that are seen at once."""
READING = tr("Reading\N{HORIZONTAL ELLIPSIS}")


class ResultCard(QFrame):
    """Shows a file as soon as it was read, or the value that a run handed over."""

    file_wanted = Signal(object)
    """The CapturedFile that is to be looked into under Files."""

    def __init__(self, look: Look, name: str, file: CapturedFile | None = None) -> None:
        super().__init__()
        self._look = look
        self._file = file
        self._view: QWidget | None = None
        self._picture: Picture | None = None
        self.setProperty("card", True)
        self.setAccessibleName(name)
        px = look.px
        self.name = ElidedLabel(name)
        self.name.setProperty("role", "strong")
        self.said = plain_label(READING, "small")
        self.chart = QPushButton(tr("Chart"))
        self.chart.setProperty("kind", "link")
        self.chart.setAccessibleName(tr("Chart of {name}", name=name))
        self.chart.hide()
        self.open = QPushButton(tr("File"))
        self.open.setProperty("kind", "link")
        self.open.setToolTip(tr("Look into it under Files, and save it there"))
        self.open.setAccessibleName(tr("{name} under Files", name=name))
        # Not to be shown here: without a parent it would be a window for a moment, and take the focus.
        if file is None:
            self.open.hide()
        self.copy = CopyButton(tr("Copy"), tr("Copy: {name}", name=name))
        self.copy.setProperty("kind", "link")
        self.copy.hide()
        head = QHBoxLayout()
        head.setSpacing(px(10))
        head.addWidget(self.name, 1)
        for part in (self.said, self.chart, self.copy, self.open):
            head.addWidget(part)
        self._place = QStackedWidget()
        self._waiting = QWidget()
        self._place.addWidget(self._waiting)
        self._set_height(self._expected())
        column = QVBoxLayout(self)
        column.setContentsMargins(px(12), px(8), px(12), px(10))
        column.setSpacing(px(6))
        column.addLayout(head)
        column.addWidget(self._place)
        self.chart.clicked.connect(self._turn)
        self.open.clicked.connect(self._ask)

    @property
    def file(self) -> CapturedFile | None:
        return self._file

    @property
    def view(self) -> QWidget | None:
        """What is on it; None before it was read."""
        return self._view

    @property
    def shape(self) -> int:
        """The height of what is on it, in pixels."""
        return self._place.height()

    def offer_copy(self, text: str) -> None:
        """Let `text` be copied: all of what the card shows folded or in part."""
        self.copy.set_text_to_copy(text)
        self.copy.show()

    def show_found(self, found: Preview) -> None:
        """Show what a look into the file has found."""
        self.said.setText(found.said)
        self.said.setToolTip("")
        if isinstance(found, Picture):
            self._show_picture(found)
        elif isinstance(found, Table):
            self._show_table(found)
        elif isinstance(found, JsonRows):
            tree = JsonView(self._look)
            tree.show_tree(found)
            self._put(tree, tree.sizeHintForRow(0) * min(12, max(1, tree.rows_open())) + self._look.px(6))
        elif isinstance(found, MarkdownPage):
            page = MarkdownView(self._look)
            page.resize(max(self.width(), self._look.px(200)), 100)
            page.show_page(found)
            self._put(page, max(self._look.px(60), page.height_wanted()))
        else:
            code = CodeView(self._look)
            code.set_code(found.text, found.language)
            lines = found.text.rstrip("\n").count("\n") + 1
            self._put(code, round(QFontMetrics(self._look.code()).lineSpacing() * 1.3) * min(12, lines + 1))

    def show_trouble(self, words: str) -> None:
        """Say why the file cannot be shown."""
        self.said.setText(tr("Not shown"))
        label = plain_label(words, "muted", wrap=True)
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._put(label, self._look.px(60))

    def _show_picture(self, picture: Picture) -> None:
        view = PictureView(self._look)
        view.show_picture(picture)
        view.setAccessibleName(f"{self.accessibleName()}. {view.accessibleName()}")
        self._picture = picture
        self._put(view, 0)
        self._fit_picture()

    def _show_table(self, found: Table) -> None:
        view = TableView(self._look)
        view.for_card()
        view.show_table(found)
        rows = view.model_.rowCount()
        height = view.horizontalHeader().sizeHint().height() + self._look.px(26) * min(ROWS, max(1, rows))
        self._table = view
        self._put(view, height)
        if found.shares:
            self._drawn = ChartView(self._look)
            self._drawn.show_table(found)
            self._place.addWidget(self._drawn)
            self.chart.show()

    def _put(self, view: QWidget, height: int) -> None:
        self._view = view
        if not view.accessibleName() or view.accessibleName() in ("Table", "Value", "Page"):
            view.setAccessibleName(f"{self.accessibleName()}, {self.said.text()}")
        self._place.addWidget(view)
        self._place.setCurrentWidget(view)
        if height:
            self._set_height(height)

    def _set_height(self, height: int) -> None:
        self._place.setFixedHeight(min(height, self._look.px(TALLEST)))

    def _expected(self) -> int:
        """Return a height for what was not read yet, so that little moves when it comes."""
        kind = ending(self._file.path) if self._file is not None else ""
        tall = kind in (*PICTURES, *VECTORS, *PAGES)
        return self._look.px(TALLEST if tall else 120 if kind in LANGUAGES else 200)

    def _fit_picture(self) -> None:
        if self._picture is not None and self.width() > 0:
            room = max(self._look.px(80), self.width() - self._look.px(40))
            shown = min(1.0, room / self._picture.width)
            self._set_height(max(self._look.px(80), round(self._picture.height * shown) + 16))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_picture()

    @Slot()
    def _turn(self) -> None:
        """Show the chart in place of the table, or the table again."""
        drawn = self._place.currentWidget() is self._table
        self._place.setCurrentWidget(self._drawn if drawn else self._table)
        self.chart.setText(tr("Table") if drawn else tr("Chart"))
        self.chart.setAccessibleName(
            tr("{words} of {accessiblename}", words=self.chart.text(), accessiblename=self.accessibleName())
        )

    @Slot()
    def _ask(self) -> None:
        self.file_wanted.emit(self._file)


def name_of(file: CapturedFile) -> str:
    """Return the path of a file on one line in which nothing hides."""
    return visible(file.path)
