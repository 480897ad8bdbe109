"""The one way out: whatever ends the console ends it here, once, with every question answered and every run stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, Signal, Slot

from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from app.link.bridge import EngineLink
    from app.state.cards import Cards

CLOSED = "The console was closed. Ask again when it is back."
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Leave(QObject):
    """Asks at most once, then closes the engine and says `gone`.

    `ask` puts the question about what is at stake, which changes while it is open, and calls back with the answer; it
    must not block. `hurry` ends the process at once: a
    second signal while leaving, or an engine that does not close within its 2 s.
    """

    leaving = Signal()
    """No way back: the window may disappear."""
    gone = Signal()

    def __init__(
        self,
        cases: Cards,
        bridge: EngineLink,
        ask: Callable[[Callable[[], str], Callable[[bool], None]], None],
        hurry: Callable[[], None],
        parent: QObject | None = None,
        away: Callable[[], bool] = lambda: False,
    ) -> None:
        """`away` tells whether requests wait for the person, also over a restart."""
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._ask = ask
        self._hurry = hurry
        self._away = away
        self._asking = False
        self._leaving = False
        self.again = False
        """Whether Assent is to open again once it has been left."""
        self._wake: tuple[socket.socket, socket.socket] | None = None
        self._notifier: QSocketNotifier | None = None

    @Slot()
    def wish(self) -> None:
        """Start leaving at a person's wish; asks first where something would be lost."""
        self._begin(again=False)

    @Slot()
    def wish_again(self) -> None:
        """Start leaving at a person's wish, to open again at once."""
        self._begin(again=True)

    def _begin(self, *, again: bool) -> None:
        if self._leaving or self._asking:
            return
        self.again = again
        if self.at_stake():
            self._asking = True
            self._ask(self.at_stake, self._answered)
        else:
            self.now()

    @Slot()
    def now(self) -> None:
        """Go without asking: the system ends the session, or the person has agreed."""
        if self._leaving:
            return
        self._leaving = True
        self.leaving.emit()
        if self._bridge.close(CLOSED):
            self.gone.emit()
        else:
            self._hurry()

    def at_stake(self) -> str:
        """Return what leaving ends, in words; empty when nothing."""
        waiting, running = self._cases.count_waiting(), self._cases.count_running()
        parts = []
        if waiting:
            but = tr(", but for those whose agents fetch the answer later") if self._away() else ""
            parts.append(
                plural(
                    "{count} request will be denied{but}.", "{count} requests will be denied{but}.", waiting, but=but
                )
            )
        if running:
            parts.append(plural("{count} run will be stopped.", "{count} runs will be stopped.", running))
        return " ".join(parts)

    def _answered(self, yes: bool) -> None:
        self._asking = False
        if yes:
            self.now()
        else:
            self.again = False

    # ---- signals ----

    def listen_to_signals(self) -> None:
        """Python runs its signal handlers only between two of its own steps, which an idle Qt loop does not take:
        the wake-up socket makes one."""
        reader, writer = socket.socketpair()
        reader.setblocking(False)
        writer.setblocking(False)
        self._wake = (reader, writer)
        for number in SIGNALS:
            signal.signal(number, self._interrupted)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._signalled)

    def stop_listening(self) -> None:
        """Give the signals their usual meaning again."""
        if self._wake is None:
            return
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        if self._notifier is not None:
            self._notifier.setEnabled(False)
        for end in self._wake:
            end.close()
        self._wake = None

    @Slot()
    def _signalled(self) -> None:
        assert self._wake is not None
        with contextlib.suppress(BlockingIOError):
            for number in self._wake[0].recv(64):
                self._on_signal(number)

    def _on_signal(self, number: int) -> None:
        if number == signal.SIGINT and not self._asking:
            self.wish()
        else:
            self.now()

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        """Handle a signal while `now` waits for the engine; the wake-up socket passes the first one to the loop."""
        if self._leaving:
            self._hurry()


def end_at_once() -> None:
    """Exit without the interpreter's clean-up, which could wait for a thread that hangs. The last resort."""
    os._exit(1)
