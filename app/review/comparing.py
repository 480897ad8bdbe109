"""Compares what is under review with what was last approved in its place, or a person's version with the request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app.link.page_tasks import PageTasks
from app.review.changes import sums
from app.review.reading import CHANGES
from runner.model.difference import difference
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Awaitable

    from app.link.bridge import EngineLink
    from app.review.reading import ReadingPane
    from app.review.under_review import UnderReview
    from app.state.cards import Card
    from runner.approval.editing import Earlier
    from runner.model.difference import DiffLine

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
        self._own = False
        """What the person changed is shown, and not what changed since the last approval."""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COMPARING_MS)
        self._timer.timeout.connect(self._ask)

    def start(self) -> None:
        """Ask for the earlier version in a moment."""
        self._own = False
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
        if self._under_review.card is card and not self._own:
            findings = card.assessment.findings if card.assessment else ()
            self._pane.changes.show_earlier(earlier, findings)
            self._name_tab(earlier.lines if earlier is not None else ())

    def compare_version(self) -> None:
        """Show what the person changed in the code; without such a version what changed since the last approval."""
        card, draft = self._under_review.card, self._under_review.draft
        if card is None or draft is None or draft.request.code == card.request.code:
            self._own = False
            self.start()
            return
        self._own = True
        self._timer.stop()
        before, after = card.request.code, draft.request.code
        self._tasks.start("compare", self._compare_own(draft, asyncio.to_thread(difference, before, after)))

    async def _compare_own(self, draft: Card, answer: Awaitable[tuple[DiffLine, ...]]) -> None:
        """Show the difference, where `draft` is still what would run by then: comparing may take seconds."""
        lines = await answer
        if self._own and self._under_review.draft is draft:
            self._pane.changes.show_own(lines, draft.assessment.findings if draft.assessment else ())
            self._name_tab(lines)

    def _name_tab(self, lines: tuple[DiffLine, ...]) -> None:
        self._pane.tabs.setTabText(CHANGES, tr("Changes {sums}", sums=sums(lines)).strip())
