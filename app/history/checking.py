"""Checks the whole ledger on a thread of its own, and says in a sentence what it found."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.link.background import Errands
from app.parts.notice import Tone
from runner.identity import signer
from runner.model.errors import KnownError
from runner.model.translation import numeral, tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.audit.ledger.verify import Verification
    from runner.identity.signer import Vouching
    from runner.system.places import Places


class _Stopped(Exception):
    """Raised inside a check that the person has stopped."""


class Checking(QObject):
    """At most one check at a time."""

    progressed = Signal(int)
    """Entries checked so far."""
    found = Signal(str, str)
    """A tone of `notice.Tone`, and what was found."""
    stopped = Signal()

    def __init__(
        self, places: Places, vouching: Callable[[], Vouching] | None = None, parent: QObject | None = None
    ) -> None:
        """`vouching` gives the key that must have signed, and how far; it may block. By default what this
        installation keeps."""
        super().__init__(parent)
        self._places = places
        self._vouching = vouching or (lambda: signer.vouching(places))
        self._errands = Errands("verify", self)
        self._stop = threading.Event()
        self._running = False

    @property
    def running(self) -> bool:
        return self._running

    def start(self) -> None:
        """Check now, unless that is under way."""
        if self._running:
            return
        self._running = True
        self._stop.clear()
        self._errands.send(self._check, self._tell, self._failed)

    def stop(self) -> None:
        """Give up at the next thousand entries."""
        self._stop.set()

    def close(self) -> None:
        self.stop()
        self._errands.close()

    # ---- on the thread ----

    def _check(self) -> tuple[Verification, str]:
        known = self._vouching()
        verdict = signer.check_ledger(self._places, known, self._progress)
        if verdict.ok:
            signer.note_verified(self._places)
        return verdict, known.problem

    def _progress(self, entries: int) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._errands.tell(self.progressed.emit, entries)

    # ---- back in the window ----

    def _tell(self, outcome: tuple[Verification, str]) -> None:
        self._running = False
        self.found.emit(*verdict_words(*outcome))

    def _failed(self, error: Exception) -> None:
        self._running = False
        if isinstance(error, _Stopped):
            self.stopped.emit()
        else:
            words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else f"{error!r}"
            self.found.emit(Tone.BAD.value, tr("The ledger could not be checked. {words}", words=words))


def verdict_words(verdict: Verification, problem: str = "") -> tuple[str, str]:
    """Return tone and words for what `verify` found; `problem` is what is wrong with the key."""
    if not verdict.ok:
        if verdict.altered and verdict.first_broken is None:
            return Tone.BAD.value, verdict.what
        good = (
            tr(" Entries 1 to {entries} are as they were written.", entries=numeral(verdict.entries))
            if verdict.entries
            else ""
        )
        return Tone.BAD.value, tr("The ledger was changed. {what}{good}", what=verdict.what, good=good)
    if verdict.unsure or problem:
        return Tone.WARN.value, " ".join(filter(None, (tr("Not vouched for:"), verdict.what, verdict.unsure, problem)))
    signed = tr("Entries up to {signed_to} are signed.", signed_to=numeral(verdict.signed_to))
    return Tone.GOOD.value, " ".join((verdict.what, signed, *verdict.outside))
