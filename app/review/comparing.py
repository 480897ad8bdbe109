"""Looks for the version that was last approved in place of the request under review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from app.review.changes import sums
from app.review.reading import CHANGES

if TYPE_CHECKING:
    from app.bridge import Bridge
    from app.review.reading import ReadingPane
    from app.review.under_review import UnderReview
    from runner.approval.editing import Earlier

COMPARING_MS = 100
"""On screen before an earlier version is looked for: who steps through many waits for none of their histories."""


class Comparing(QObject):
    """Fills the tab of changes, a moment after a request has come on screen."""

    def __init__(self, under_review: UnderReview, pane: ReadingPane, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._under_review = under_review
        self._pane = pane
        self._bridge = bridge
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COMPARING_MS)
        self._timer.timeout.connect(self._ask)
        bridge.earlier_known.connect(self.show_earlier)

    def start(self) -> None:
        """Ask for the earlier version in a moment."""
        self._timer.start()

    @Slot()
    def _ask(self) -> None:
        if self._under_review.card is not None:
            self._bridge.ask_earlier(self._under_review.card.id)

    @Slot(str, object)
    def show_earlier(self, request_id: str, earlier: Earlier | None) -> None:
        """Show what has changed since `earlier`, where `request_id` is still on screen."""
        card = self._under_review.card
        if card is None or card.id != request_id:
            return
        findings = card.assessment.findings if card.assessment else ()
        self._pane.changes.show_earlier(earlier, findings)
        self._pane.tabs.setTabText(CHANGES, f"Changes {sums(earlier)}".strip())
