"""Looks for the version that was last approved in place of the request under review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app.page_tasks import PageTasks
from app.review.changes import sums
from app.review.reading import CHANGES
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from asyncio import Future

    from app.bridge import EngineLink
    from app.cards import Card
    from app.review.reading import ReadingPane
    from app.review.under_review import UnderReview
    from runner.approval.editing import Earlier

COMPARING_MS = 100
"""On screen before an earlier version is looked for: who steps through many waits for none of their histories."""


class Comparing(QObject):
    """Fills the tab of changes, a moment after a request has come on screen."""

    def __init__(self, under_review: UnderReview, pane: ReadingPane, bridge: EngineLink, parent: QObject) -> None:
        super().__init__(parent)
        self._under_review = under_review
        self._pane = pane
        self._bridge = bridge
        self._tasks = PageTasks("earlier version", self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COMPARING_MS)
        self._timer.timeout.connect(self._ask)

    def start(self) -> None:
        """Ask for the earlier version in a moment."""
        self._timer.start()

    @Slot()
    def _ask(self) -> None:
        card = self._under_review.card
        if card is not None:
            self._tasks.start("compare", self._compare(card, self._bridge.decisions.earlier(card.id)))

    async def _compare(self, card: Card, answer: Future[Earlier | None]) -> None:
        """Show what has changed since the earlier version, where `card` is still on screen by then."""
        try:
            earlier = await answer
        except KnownError as error:
            if self._under_review.card is card:
                self._pane.changes.show_problem(str(error))
            return
        if self._under_review.card is card:
            findings = card.assessment.findings if card.assessment else ()
            self._pane.changes.show_earlier(earlier, findings)
            self._pane.tabs.setTabText(CHANGES, f"Changes {sums(earlier)}".strip())
