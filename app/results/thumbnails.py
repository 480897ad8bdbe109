"""Small pictures of what runs made, for rows of lists: read in the process apart, one at a time, and kept in bounds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage

from app.files.apart import ReadingProcess
from app.files.found import Picture
from app.files.picture import image_of
from app.link.background import Errands
from app.results.choosing import thumbnail_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.result import CapturedFile, Result

LARGEST = QSize(160, 112)
"""Pixels."""
MOST_KEPT = 64
MOST_WAITING = 12
"""Files that are still to be read; of more, those asked for first are forgotten until they are asked for again."""
SECONDS = 2
"""Processor time for one."""


class Thumbnails(QObject):
    """Asked while a row is painted; says when there is more to paint."""

    changed = Signal()

    def __init__(self, read: Callable[[CapturedFile], bytes], parent: QObject | None = None) -> None:
        """`read` gives the content of a file; raises KnownError where it is gone or was altered."""
        super().__init__(parent)
        self._read = read
        self._errands = Errands("thumbnails", self)
        self._kept: dict[str, QImage] = {}
        """By digest, the one asked for last at the end; an empty picture for a file that is none."""
        self._waiting: dict[str, CapturedFile] = {}
        self._busy = False

    def of(self, result: Result | None) -> QImage | None:
        """Return the picture that stands for a run; None where it has none, or none yet."""
        return self.of_file(None if result is None else thumbnail_of(result.files))

    def of_file(self, file: CapturedFile | None) -> QImage | None:
        """Return the same for a file that `thumbnail_of` chose; None where it chose none, or where it is still read."""
        if file is None:
            return None
        found = self._kept.pop(file.sha256, None)
        if found is None:
            self._ask(file)
            return None
        self._kept[file.sha256] = found
        return None if found.isNull() else found

    def _ask(self, file: CapturedFile) -> None:
        if file.sha256 in self._waiting:
            return
        self._waiting[file.sha256] = file
        while len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self._next()

    def _next(self) -> None:
        if self._busy or not self._waiting:
            return
        self._busy = True
        file = next(iter(self._waiting.values()))
        read = self._read
        self._errands.send(
            lambda: _small(file, read), partial(self._came, file.sha256), lambda _: self._came(file.sha256, QImage())
        )

    def _came(self, digest: str, found: QImage) -> None:
        self._busy = False
        self._waiting.pop(digest, None)
        self._kept[digest] = found
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self.changed.emit()
        self._next()


def _small(file: CapturedFile, read: Callable[[CapturedFile], bytes]) -> QImage:
    """Raises KnownError, and what `read` raises."""
    found = ReadingProcess(seconds=SECONDS, for_card=True).preview(lambda: read(file), file.path)
    if not isinstance(found, Picture):
        return QImage()
    aspect, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    return image_of(found).scaled(LARGEST, aspect, smooth)
