"""A contained program while Assent waits for it: whom signals are for, and its end.

The program has a process group of its own. In that of Assent `kill 0` would end Assent, and the script that called it:
the kernel looks at no namespace when a signal goes to a group.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from types import FrameType

    from runner.sandbox.local.own_terminal import OwnTerminal

    Handler = Callable[[int, FrameType | None], object] | int | None

KEYS = (signal.SIGINT, signal.SIGQUIT)
"""Sent by keys of the terminal: they are for the program, not for bubblewrap or Assent."""
ENDS = (signal.SIGTERM, signal.SIGHUP)
OF_TERMINALS = (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)
LOOK_SECONDS = 0.5


class AttendedProgram:
    """The signals that reach this process, from before the program starts until it has ended. For the main thread."""

    def __init__(self, terminal: OwnTerminal | None) -> None:
        self.told = 0
        """The signal by which Assent was told to end; 0 for none."""
        self._terminal = terminal
        self._before: dict[signal.Signals, Handler] = {}
        self._came: list[int] = []
        """Signals that are to be treated in turn."""
        self._group = 0

    @contextlib.contextmanager
    def heard(self, *, ignoring: bool) -> Iterator[None]:
        """Pass signals on to the program. With `ignoring`, what is started before `begin` ignores those of keys."""
        blocking = {each: os.get_blocking(each) for each in range(3)}
        reader, writer = os.pipe()
        for end in (reader, writer):
            os.set_blocking(end, False)
        wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._wakeup = reader
        try:
            for number in (*KEYS, *ENDS, *(OF_TERMINALS if self._terminal else ())):
                if (now := signal.getsignal(number)) is not signal.SIG_IGN:
                    self._before[number] = now
                    signal.signal(number, signal.SIG_IGN if ignoring and number in KEYS else self._take)
            yield
        finally:
            for number, handler in self._before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)
            for end in (reader, writer):
                os.close(end)
            for each, was in blocking.items():
                os.set_blocking(each, was)

    def begin(self, group: int) -> None:
        """Let signals of keys reach the program's process group, which waits for its start."""
        self._group = group
        for number in self._before.keys() & set(KEYS):
            signal.signal(number, self._take)

    def wait(self, process: subprocess.Popen[bytes], look: Callable[[], bool]) -> int:
        """Return the exit code of the process; end it and the program once `look`, called twice a second, says so."""
        ended = os.pidfd_open(process.pid)
        try:
            then = time.monotonic()
            while (code := process.poll()) is None:
                if time.monotonic() >= then:
                    then = time.monotonic() + LOOK_SECONDS
                    if look():
                        self._end()
                self._turn(ended, then)
            return code
        finally:
            os.close(ended)

    def _turn(self, ended: int, then: float) -> None:
        """Wait for what comes next, and treat it."""
        terminal = self._terminal
        waiting = select.poll()
        waiting.register(ended, select.POLLIN)
        waiting.register(self._wakeup, select.POLLIN)
        patience = max(0.0, then - time.monotonic())
        if terminal is not None:
            patience = min(patience, terminal.patience)
            for descriptor, events in terminal.waited_for:
                waiting.register(descriptor, events)
        ready = dict(waiting.poll(patience * 1000))
        if self._wakeup in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wakeup, 4096)
        while self._came:
            self._treat(self._came.pop(0))
        if terminal is not None:
            terminal.serve(ready)
            if terminal.is_lost and not self.told:
                self._treat(signal.SIGHUP)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self._came.append(number)

    def _treat(self, number: int) -> None:
        if number in ENDS:
            self.told = number
            self._end()
        elif self._terminal is None:
            self._send(number)
        elif number == signal.SIGTSTP:
            self._terminal.told_to_stop()
        elif number == signal.SIGCONT:
            self._terminal.continued()
        elif number == signal.SIGWINCH:
            self._terminal.resized()
        else:
            self._terminal.signal(number)

    def _end(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self._group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._group, number)
