"""The caller's terminal while a program runs on it: job control as a shell does it; afterwards it is as it was.

The program has a process group of its own. In that of Assent `kill 0` would end Assent, and the script that called it:
the kernel looks at no namespace when a signal goes to a group. Who reads from the terminal, and whom its keys interrupt
or stop, is the group that it is lent to.
"""

from __future__ import annotations

import contextlib
import os
import signal
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | int | None

KEYS = (signal.SIGINT, signal.SIGQUIT)
"""Sent by keys of the terminal: they are for the program, not for bubblewrap or Assent."""
ENDS = (signal.SIGTERM, signal.SIGHUP)
WANTS_TERMINAL = (signal.SIGTTIN, signal.SIGTTOU)
STOP_SECONDS = 0.2
"""Time in which a stop takes effect; it does not where nobody is there to continue this process."""


class LentTerminal:
    """The terminal, where there is one, from before the program starts until it has ended. For the main thread."""

    def __init__(self) -> None:
        self.told = 0
        """The signal by which Assent was told to end; 0 for none."""
        self._terminal = _terminal()
        self._modes = None if self._terminal is None else termios.tcgetattr(self._terminal)
        self._blocking = {each: os.get_blocking(each) for each in range(3)}
        self._before: dict[signal.Signals, Handler] = {}
        self._group = 0
        self._is_lent = False

    @contextlib.contextmanager
    def borrowed(self, *, ignoring: bool) -> Iterator[None]:
        """Pass signals on to the program, and give back the terminal as it was.

        With `ignoring`, what is started before `lend` ignores the signals of keys.
        """
        try:
            for number in (*KEYS, *ENDS):
                if (now := signal.getsignal(number)) is not signal.SIG_IGN:
                    self._before[number] = now
                    pass_on = signal.SIG_IGN if ignoring else self._pass_on
                    signal.signal(number, pass_on if number in KEYS else self._end)
            yield
        finally:
            self._take_back()
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def lend(self, group: int) -> None:
        """Lend the terminal to the process group of the program, which waits for its start."""
        self._group = group
        for number in self._before.keys() & set(KEYS):
            signal.signal(number, self._pass_on)
        if os.isatty(0) and os.isatty(1):  # else another program of a pipe may read from it: not before this one does
            self._lend()
        if self.told:
            self._end(self.told, None)

    def wait(self, process: int) -> int:
        """Wait for the end of a child; return its status as waitpid(2) does. Stops with it, and continues it."""
        while True:
            _, status = os.waitpid(process, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                return status
            if os.WSTOPSIG(status) not in WANTS_TERMINAL or not self._is_ours():
                self._stop()
            self._lend()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._group, signal.SIGCONT)

    def _is_ours(self) -> bool:
        """Return whether the terminal is for this job: not where it runs in the background."""
        with contextlib.suppress(OSError):
            return self._terminal is not None and os.tcgetpgrp(self._terminal) in (os.getpgrp(), self._group)
        return False

    def _lend(self) -> None:
        if self._terminal is not None and self._is_ours():
            with _undisturbed(), contextlib.suppress(OSError):
                os.tcsetpgrp(self._terminal, self._group)
                self._is_lent = True

    def _stop(self) -> None:
        """Stop with everything of this job until somebody continues it."""
        self._is_lent = False
        old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCONT})
        os.killpg(0, signal.SIGTSTP)
        signal.sigtimedwait({signal.SIGCONT}, STOP_SECONDS)
        signal.pthread_sigmask(signal.SIG_SETMASK, old)

    def _take_back(self) -> None:
        for each, blocking in self._blocking.items():
            os.set_blocking(each, blocking)
        if self._terminal is None:
            return
        if (self._is_lent or self._is_ours()) and self._modes is not None:
            with _undisturbed(), contextlib.suppress(OSError, termios.error):
                os.tcsetpgrp(self._terminal, os.getpgrp())
                termios.tcsetattr(self._terminal, termios.TCSANOW, self._modes)
        os.close(self._terminal)
        self._terminal = None

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        if self._group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._group, number)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self.told = number
        self._pass_on(signal.SIGKILL, None)


def _terminal() -> int | None:
    """Return the terminal whose keys reach this process, open; None where there is none."""
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a process that does not have the terminal change it, which stops it otherwise."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
