"""Says how far the history is indexed while that is not all of it, and what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget

from app.history.reader import Reader
from runner.model.translation import tr

if TYPE_CHECKING:
    from pathlib import Path

    from runner.audit.history.search import History

EVERY_MS = 2000
FEW = 5000
"""Entries that are looked through one by one so quickly that nobody needs to know."""

Found = tuple[int, int, tuple[str, ...], tuple[str, ...]]


class IndexProgress(QLabel):
    """A line below the filters, which is there only while the index has not caught up."""

    content_known = Signal(object, object)
    """Names of findings and of hosts that occur."""

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reader = Reader(path, "index", self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.look)
        self.setProperty("role", "muted")
        self.hide()
        self.destroyed.connect(self._reader.close)

    @Slot()
    def look(self) -> None:
        """Ask how far the index has come; again and again while it is behind and somebody can see it."""
        self._reader.ask(_look, self._tell, self._failed)

    def _tell(self, found: Found) -> None:
        done, last, findings, hosts = found
        self.content_known.emit(findings, hosts)
        behind = last - done > FEW
        if behind:
            self.setText(
                tr(
                    "{done} of the history is indexed. Until all of it is, searching takes longer.",
                    done=f"{done / last:.0%}",
                )
            )
        self.setVisible(behind)
        if self.isVisible():
            self._timer.start()

    def _failed(self, _error: Exception) -> None:
        # What is wrong with the history is said in place of the list.
        self.hide()


def _look(history: History) -> Found:
    return (*history.indexed(), history.choices("finding"), history.choices("host"))
