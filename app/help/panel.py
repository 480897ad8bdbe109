"""The page of the help: its pages as tabs, and the links between them."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.help.pages import HelpView
from app.parts.clearing import clearable
from app.parts.fold import FoldingRow
from app.parts.order import tab_in_reading_order
from app.parts.plain import plain_label
from app.parts.tabs import WholeTabs
from runner.model.translation import ENGLISH, chosen, tr
from runner.settings.manual import PAGES

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look

ABOUT = tr(". Licence: Apache-2.0.")
MARK = 32
MISSING = tr("This page did not come with this Assent. The README has what is most needed.")


class HelpPanel(QWidget):
    """Left and right go from tab to tab, Tab to the search, into the text and from link to link."""

    first_steps = Signal()
    """The page of the first start is wanted."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.tabs = WholeTabs(self)
        self.tabs.setAccessibleName(tr("Pages of the help"))
        for page in PAGES:
            self.tabs.addTab(page.title)
        self.view = HelpView(look)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Find on this page"))
        self.search.setAccessibleName(tr("Find on this page of the help; Enter goes to the next place"))
        clearable(self.search, look)
        self.search.setMaximumWidth(look.px(260))
        self.found = plain_label(role="muted")
        self.begin = QPushButton(tr("First steps"))
        self.begin.setToolTip(tr("Connect a program, send a test request, choose whether to use the keyring"))
        self.begin.setAutoDefault(False)
        self.begin.clicked.connect(self.first_steps)
        self._lay_out()
        tab_in_reading_order(self)
        self.search.returnPressed.connect(self._find)
        self.search.textEdited.connect(self._start_again)
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.search.setFocus)
        self.tabs.currentChanged.connect(self._show)
        self.view.followed.connect(self._follow)
        self._show(0)

    def show_page(self, title: str, heading: str = "") -> None:
        """Show the page called `title`, where there is one, from `heading` on."""
        number = next((number for number, page in enumerate(PAGES) if page.title == title), self.tabs.currentIndex())
        self.tabs.setCurrentIndex(number)
        self.view.go_to(heading)

    @Slot(int)
    def _show(self, number: int) -> None:
        page = PAGES[number]
        try:
            text = page.text()
        except OSError:
            text = f"# {page.title}\n\n{MISSING}\n"
        self.view.setAccessibleName(tr("Help: {title}", title=page.title))
        if chosen() != ENGLISH:
            note = tr("The help is in English only.")
            text = f"*{note}*\n\n{text}"
        self.view.show_text(text)
        self.found.clear()

    @Slot(str)
    def _follow(self, link: str) -> None:
        """Follow a link to another page of the help; anything else leads nowhere."""
        files = [page.file for page in PAGES]
        if link in files:
            self.tabs.setCurrentIndex(files.index(link))

    @Slot()
    def _start_again(self) -> None:
        self.view.moveCursor(QTextCursor.MoveOperation.Start)
        self._find()

    @Slot()
    def _find(self) -> None:
        """Go to the next place with the words, from the top again after the last one."""
        words = self.search.text()
        there = not words or self.view.find(words)
        if not there:
            self.view.moveCursor(QTextCursor.MoveOperation.Start)
            there = self.view.find(words)
        self.found.setText("" if there else tr("Not on this page"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._head.fold(self.width() < self._look.px(620))

    def _about(self) -> QHBoxLayout:
        """Return a line with the mark, the version and the licence, and the way to the first steps."""
        picture = plain_label()
        picture.setPixmap(self._look.pixmap("assent", size=MARK))
        row = QHBoxLayout()
        row.setSpacing(self._look.px(8))
        row.addWidget(picture)
        row.addWidget(plain_label(f"Assent {_version()}".strip() + ABOUT, "muted"), 1)
        row.addWidget(self.begin)
        return row

    def _lay_out(self) -> None:
        px = self._look.px
        pages, finding = QHBoxLayout(), QHBoxLayout()
        for row in (pages, finding):
            row.setSpacing(px(12))
        pages.addWidget(plain_label(tr("Help"), "title"))
        pages.addWidget(self.tabs, 1)
        finding.addStretch()
        finding.addWidget(self.found)
        finding.addWidget(self.search, 1)
        self._head = FoldingRow()
        self._head.setSpacing(px(12))
        self._head.addLayout(pages)
        self._head.addLayout(finding, 1)
        card = QFrame()
        card.setProperty("card", True)
        column = QVBoxLayout(card)
        column.setContentsMargins(px(16), px(10), px(10), px(12))
        column.setSpacing(px(10))
        column.addLayout(self._head)
        column.addWidget(self.view, 1)
        column.addLayout(self._about())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(card)


def _version() -> str:
    """Return the version of this installation; '' where it has none."""
    try:
        return metadata.version("assent")
    except metadata.PackageNotFoundError:
        return ""
