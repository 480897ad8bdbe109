"""Folds what stands in the code under review as text and is a picture, where all that the code does was read.

Only then: a text that reaches other code, a command, a path or a host is one that reading found something about, or did
not follow to its end. A picture says nothing about what else its bytes may be taken for; so its characters are counted,
said to be unread, and shown on a key.
"""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.link.page_tasks import PageTasks
from app.parts.text.folded import FoldedPiece
from app.state import attention
from runner.model.assessment import Level
from runner.model.embedded_picture import BEGIN, LEAST
from runner.model.errors import KnownError
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from app.link.bridge import EngineLink
    from app.review.reading import ReadingPane
    from app.review.under_review import UnderReview
    from app.state.cards import Card
    from runner.model.embedded_picture import EmbeddedPicture

SECONDS = 2
"""Processor time for drawing one picture."""


class PictureFolding(QObject):
    """Looks for pictures once a request has come on screen; until they are found, all characters are there."""

    folded = Signal()
    """Less of the code is to be scrolled: a press that was meant for that must not approve."""

    def __init__(self, under_review: UnderReview, pane: ReadingPane, bridge: EngineLink, parent: QObject) -> None:
        super().__init__(parent)
        self._under_review = under_review
        self._pane = pane
        self._bridge = bridge
        self._tasks = PageTasks("pictures", self)

    def start(self) -> None:
        """Begin with what is on screen now."""
        shown = self._under_review.shown
        if shown is not None and may_fold(shown):
            self._tasks.start("fold", self._fold(shown))

    def follow(self) -> None:
        """Show all characters again where a trial has found something."""
        shown = self._under_review.shown
        if self._pane.code.folds and (shown is None or not may_fold(shown)):
            self._pane.code.fold({})

    async def _fold(self, shown: Card) -> None:
        listing = self._pane.code.listing
        found: dict[int, FoldedPiece] = {}
        try:
            for picture in await self._bridge.decisions.pictures(shown.request):
                line = picture.line - 1
                text = listing.lines[line][picture.start : picture.end] if line < len(listing.lines) else ""
                drawn = await asyncio.to_thread(_drawn, text)
                if drawn is not None and line not in found:
                    found[line] = FoldedPiece(picture.start, picture.end, words(picture), drawn)
        except KnownError:
            return  # the characters stay
        same = self._under_review.shown is shown and self._pane.code.listing is listing
        if found and same and may_fold(shown):
            self._pane.code.fold(found)
            self.folded.emit()


def may_fold(shown: Card) -> bool:
    """Return whether the code of `shown` was read to its end, with nothing found that stands out."""
    read = shown.assessment is not None and shown.assessment.whole
    calm = (attention.attention(shown) or Level.LOW) <= Level.LOW  # of what was read, and of what was tried
    return read and calm and BEGIN in shown.request.code and len(shown.request.code) > LEAST


def words(picture: EmbeddedPicture) -> str:
    """Return what stands in place of the characters of `picture`."""
    return tr(
        "{count} characters, not looked at one by one: base64 of a PNG picture of {width} × {height} pixels and of "
        "nothing else. Click, or press the key O, to see them.",
        count=numeral(picture.end - picture.start),
        width=numeral(picture.width),
        height=numeral(picture.height),
    )


def _drawn(text: str) -> QImage | None:
    """Return the picture of which `text` is the base64; None where it cannot be drawn. Raises KnownError.

    What is decoded here is nothing but letters and digits; that it is a picture, a process of its own finds out.
    """
    # Imported here: hardly any code has a picture in it.
    from app.files.apart import ReadingProcess
    from app.files.found import Picture
    from app.files.picture import image_of

    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    found = ReadingProcess(seconds=SECONDS, for_card=True).preview(lambda: data, "picture.png")
    return image_of(found) if isinstance(found, Picture) else None
