"""An approval that is remembered in the same act: what is offered, and how both are done or neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.link.page_tasks import PageTasks
from app.review.again import SECONDS, USES, WAYS
from runner.approval.deliberate import ApproveBy
from runner.model.errors import KnownError
from runner.policy.grants import Choice, Subject, offered

if TYPE_CHECKING:
    from asyncio import Future

    from app.link.bridge import EngineLink
    from app.review.foot import Foot
    from app.review.under_review import UnderReview
    from app.state.cards import Card
    from runner.approval.hindsight import Preview


class LastingApproval(QObject):
    """Opens the list beside Approve. It answers nothing by itself: what was chosen goes the way of every approval."""

    chosen = Signal(object)
    """Choice: what is to be remembered together with the approval."""

    def __init__(self, under_review: UnderReview, foot: Foot, bridge: EngineLink, parent: QObject) -> None:
        super().__init__(parent)
        self._under_review = under_review
        self._foot = foot
        self._bridge = bridge
        self._tasks = PageTasks("lasting approval", self)
        foot.remember.clicked.connect(self._offer)
        foot.again.chosen.connect(self.chosen)

    @Slot()
    def _offer(self) -> None:
        card = self._under_review.card
        if card is None or card.level is None or not self._foot.remember.isEnabled():
            return
        self._under_review.pause_countdown()
        may = offered(card.request, card.level)
        mouse_only = self._bridge.decisions.approve_by() is ApproveBy.MOUSE
        self._foot.again.open(self._foot.remember, may, mouse_only)
        if Subject.SHAPE in may:
            choice = Choice(Subject.SHAPE, USES, SECONDS)
            self._tasks.start("preview", self._preview(card, self._bridge.memory.preview(card.id, choice)))

    async def _preview(self, card: Card, answer: Future[Preview]) -> None:
        """Say whether other values may be remembered of what is shown."""
        words, possible = WAYS[Subject.SHAPE][1], True
        try:
            await answer
        except KnownError as error:
            words, possible = str(error), False
        if self._under_review.card is card:
            self._foot.again.say(Subject.SHAPE, words, possible)

    async def approve(self, card: Card, choice: Choice, pin: str) -> str:
        """Remember and approve, or neither; return why neither was done, or ''. Raises KnownError."""
        grant = await self._bridge.memory.remember(card.id, card.digest, choice, pin)
        why_not = await self._bridge.decisions.approve(card.id, card.digest, pin)
        if why_not:
            await self._bridge.memory.revoke_grant(grant.name)
        return why_not
