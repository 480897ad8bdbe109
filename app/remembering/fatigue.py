"""Notices when approvals come faster than their code could be read, and says so once in a while (spec A13)."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app import phrases
from runner.model.decision import Decider, Verdict
from runner.model.events import RequestDecided
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.state.cards import Card, Cards
    from runner.model.decision import Decision
    from runner.model.events import Event

WORDS_A_SECOND = 12.0
"""Three times the speed at which prose is read silently, 238 words a minute (Brysbaert 2019, J. Mem. Lang. 109)."""
LOOKED_AT = 8
"""Latest approvals that count."""
TOO_MANY = 5
"""Of these, approved faster than that."""
QUIET_SECONDS = 900.0
"""Before it is said again."""
ONE_ACT = 0.2
"""Seconds. Approvals closer together were one act, such as approving several at once."""


@dataclass(frozen=True, slots=True)
class Approval:
    """One approval: seconds it took, and seconds that reading takes."""

    took: float
    reading: float

    @property
    def unread(self) -> bool:
        return self.took < self.reading


class Fatigue(QObject):
    """Counts approvals by a person. Code that was approved before in this session takes no reading."""

    noticed = Signal(str)
    """What to say, kindly."""

    def __init__(
        self, cases: Cards, clock: Callable[[], float] = time.monotonic, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._cases = cases
        self._clock = clock
        self._latest: deque[Approval] = deque(maxlen=LOOKED_AT)
        self._known: set[bytes] = set()
        self._decided_at = -QUIET_SECONDS
        self._took = 0.0
        self._quiet_until = 0.0
        cases.happened.connect(self._take)

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, RequestDecided) and event.decision.by is Decider.PERSON:
                self._decided(self._cases.card(event.request_id), event.decision)

    def _decided(self, card: Card | None, decision: Decision) -> None:
        now = self._clock()
        since, self._decided_at = now - self._decided_at, now
        # Reading begins when it is asked, but not before the answer to the one before.
        self._took = self._took if since < ONE_ACT else min(since, decision.after_seconds)
        if card is None or decision.verdict is not Verdict.APPROVED:
            return
        known = hashlib.sha256(card.request.code.encode("utf-8", "replace")).digest()
        words = 0 if known in self._known else len(card.request.code.split())
        self._known.add(known)
        self._latest.append(Approval(self._took, words / WORDS_A_SECOND))
        if sum(one.unread for one in self._latest) >= TOO_MANY and now >= self._quiet_until:
            self._quiet_until = now + QUIET_SECONDS
            self.noticed.emit(self._words())
            self._latest.clear()

    def _words(self) -> str:
        unread = [one for one in self._latest if one.unread]
        took, reading = _middle([one.took for one in unread]), _middle([one.reading for one in unread])
        return tr(
            "{count} of your last {count_2} approvals took about {took} each; a quick look at "
            "their code takes {reading}. What you approve anyway can be remembered for a while, "
            "so that there is time for the rest.",
            count=len(unread),
            count_2=len(self._latest),
            took=phrases.span(took),
            reading=phrases.span(reading),
        )


def _middle(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 2]
