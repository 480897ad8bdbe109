"""Notices that the file with the agents was changed by another process, such as `assent agents add` in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

if TYPE_CHECKING:
    from pathlib import Path

REST_MS = 100
"""However often files are changed there, this much time lies between two looks."""


class FolderWatch(QObject):
    """Watches the folder: each change replaces the file itself. The system reports it, nothing polls."""

    changed = Signal()

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = str(folder)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.changed)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._begin)
        self._watcher.addPath(self._folder)

    @Slot()
    def look_for_folder(self) -> None:
        """Watch the folder where that was not possible before: at a first start the engine has yet to make it."""
        if not self._watcher.directories() and self._watcher.addPath(self._folder):
            self._begin()  # something may have come between its making and this

    @Slot()
    def _begin(self) -> None:
        if not self._rest.isActive():
            self._rest.start()
