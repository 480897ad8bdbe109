"""Checks the whole ledger on a thread of its own, and says in a sentence what it found."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.errands import Errands
from app.parts.notice import Tone
from runner import signer
from runner.audit.verify import verify
from runner.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.audit.verify import Verdict
    from runner.places import Places

NO_KEY = "The signing key is not at hand, so a ledger that was rewritten from end to end would not be noticed."


class _Stopped(Exception):
    """The person does not want to know any more."""


class Checking(QObject):
    """At most one check at a time."""

    progressed = Signal(int)
    """Entries checked so far."""
    found = Signal(str, str)
    """A tone of `notice.Tone`, and what was found."""
    stopped = Signal()

    def __init__(
        self, places: Places, public_key: Callable[[], str] | None = None, parent: QObject | None = None
    ) -> None:
        """`public_key` gives the key (hex) that must have signed, '' where there is none; it may block. By default
        that of this installation."""
        super().__init__(parent)
        self._places = places
        self._public_key = public_key or (lambda: signer.public_key(places))
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

    def _check(self) -> tuple[Verdict, bool]:
        key = self._public_key()
        return verify(self._places.ledger, key, self._progress), bool(key)

    def _progress(self, entries: int) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._errands.tell(self.progressed.emit, entries)

    # ---- back in the window ----

    def _tell(self, outcome: tuple[Verdict, bool]) -> None:
        self._running = False
        self.found.emit(*told(*outcome))

    def _failed(self, error: Exception) -> None:
        self._running = False
        if isinstance(error, _Stopped):
            self.stopped.emit()
        else:
            words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else f"{error!r}"
            self.found.emit(Tone.BAD.value, f"The ledger could not be checked. {words}")


def told(verdict: Verdict, with_key: bool) -> tuple[str, str]:
    """Tone and words for what `verify` found."""
    if not verdict.ok:
        good = f" Entries 1 to {verdict.entries:,} are as they were written." if verdict.entries else ""
        return Tone.BAD.value, f"The ledger was changed. {verdict.what}{good}"
    if not with_key:
        return Tone.GOOD.value, f"{verdict.what} {NO_KEY}"
    signed = f" Entries up to {verdict.signed_to:,} are signed." if verdict.signed_to else " None of them is signed."
    return Tone.GOOD.value, verdict.what + signed
