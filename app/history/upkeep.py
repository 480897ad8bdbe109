"""The button of the history page for removing content, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu, QPushButton

from app import phrases
from app.parts.notice import Notice, Tone
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.look.look import Look


class RemovalMenu(QObject):
    """Says what is wanted; asking, and removing, is somebody else's."""

    old_wanted = Signal()
    """Content that is old, or too much."""
    one_wanted = Signal(str, str)
    """The content of this request: id and title."""

    def __init__(self, look: Look, chosen: Callable[[], str], title: Callable[[], str], parent: QWidget) -> None:
        """`chosen` gives the request that is shown, or nothing; `title` its title."""
        super().__init__(parent)
        self._chosen = chosen
        self._title = title
        self.button = QPushButton(tr("Remove"))
        self.button.setToolTip(tr("Remove code, output and files of requests; their entries stay"))
        self.button.setAutoDefault(False)
        look.dress(self.button, "trash-2", size=14)
        menu = QMenu(self.button)
        self.one = menu.addAction(tr("Content of the request that is shown\N{HORIZONTAL ELLIPSIS}"))
        self.old = menu.addAction(tr("Old content\N{HORIZONTAL ELLIPSIS}"))
        menu.aboutToShow.connect(self._enable)
        self.one.triggered.connect(self._want_one)
        self.old.triggered.connect(self.old_wanted)
        self.button.setMenu(menu)
        self.notice = Notice(look, Tone.INFO, "", closable=True)
        self.notice.hide()

    def say(self, tone: Tone, words: str) -> None:
        """Show what came of it above the list."""
        self.notice.say(tone, phrases.visible(words))
        self.notice.show()

    @Slot()
    def _enable(self) -> None:
        self.one.setEnabled(bool(self._chosen()))

    @Slot()
    def _want_one(self) -> None:
        if name := self._chosen():
            self.one_wanted.emit(name, self._title())
