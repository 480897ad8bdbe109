"""The output of a request beside the queue, once it was answered and nothing else waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.running.outcome import OutcomeView
from runner.model.events import QuestionAsked

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.review.deciding import Deciding
    from app.state.cards import Cards
    from runner.model.events import Event


class Aftermath(QObject):
    """Puts the outcome in the place of the review while nothing is under review; any request that is takes it back.

    The review rests when it comes on screen again, as always: a key for the output answers nothing.
    """

    run_wanted = Signal(str)
    """The page of runs is wanted, with this request."""

    def __init__(self, deciding: Deciding, cases: Cards, bridge: EngineLink, look: Look) -> None:
        super().__init__(deciding)
        self._deciding = deciding
        self._cases = cases
        queue = deciding.queue
        self._stack = deciding.beside
        self.outcome = OutcomeView(cases, queue.answers, bridge, look, self._stack)
        self._stack.addWidget(self.outcome)
        queue.just_now.wanted.connect(self.show_outcome)
        deciding.opened.connect(self.give_way)
        deciding.review.answered.connect(self._answered)
        self.outcome.closed.connect(self.give_way)
        self.outcome.shown_changed.connect(queue.just_now.mark)
        self.outcome.all_wanted.connect(self.run_wanted)
        cases.happened.connect(self._take)

    @property
    def on_screen(self) -> bool:
        """Whether the outcome stands in the place of the review."""
        return self._stack.currentWidget() is self.outcome

    @Slot(str)
    def show_outcome(self, request_id: str) -> None:
        """Show what became of a request, at a person's wish; what is under review stays so, behind it."""
        if self.outcome.show_request(request_id):
            focused = self._deciding.isAncestorOf(self._deciding.window().focusWidget() or self._deciding.window())
            self._stack.setCurrentWidget(self.outcome)
            self._deciding.occupy(True)
            if focused:
                self.outcome.setFocus()  # where no key does anything

    @Slot()
    def give_way(self, *_: object) -> None:
        """Show the review."""
        if self.on_screen:
            focused = self.outcome.hasFocus()
            self._stack.setCurrentWidget(self._deciding.review)
            self._deciding.occupy(False)
            self.outcome.clear()
            if focused:
                self._deciding.review.focus_neutral()

    @Slot(str)
    def _answered(self, request_id: str) -> None:
        """Follow what was approved, unless something else is under review by now."""
        one = self._deciding.queue.answers.find(request_id)
        if self._deciding.review.card is None and one is not None and one.approved:
            self.show_outcome(request_id)
            focus = self._deciding.window().focusWidget()
            # A button that went away with the review has left the focus to whatever comes next in the window.
            if focus is None or not self._deciding.queue.isAncestorOf(focus):
                self.outcome.setFocus()

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        """Give way at once to a new question: an outcome never hides it."""
        if any(isinstance(event, QuestionAsked) for event in events):
            self.give_way()
