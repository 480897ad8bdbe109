"""A terminal of its own for a contained program, inside the one that Assent was started from.

Keys go in, what is printed comes out through `PrintedText`; the size follows. Job control is that of a shell: a small
leader (`inside/leader.py`) leads the program's session, and says when the program stops; then the outer terminal is
given back as it was, and Assent stops with its whole job.

The program has the keys from its start where they can only be meant for it. Otherwise, as part of a pipe or in the
background, it runs in the background of its own terminal: the kernel stops it when it reads, and it gets the keys then.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import signal
import socket
import stat
import sys
import termios
import time
import tty
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.local.printed import Dropped, PrintedText
from runner.sandbox.programs import inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WANTS_TERMINAL = (signal.SIGTTIN, signal.SIGTTOU)
STOP_SECONDS = 0.2
"""Time in which a stop takes effect; it does not where nobody is there to continue this process."""
CLOSELY_SECONDS = 1.0
"""Time that a program has to stop, once bubblewrap around it has."""
CLOSELY_EVERY, LOOK_EVERY = 0.01, 0.2
"""Seconds between two looks at whether the program has stopped: then, and otherwise."""
PIECE = 1 << 16
DRAIN_SECONDS = 2.0
"""Time for what was printed last to arrive."""
QUIET_SECONDS = 0.01
"""Time after which nothing more comes from a program that is stopped."""
ANSWER_SECONDS = 0.25
RECENT_SECONDS = 2.0
"""Time in which a terminal has answered anything."""
STATUS_QUESTION, STATUS_ANSWER = b"\x1b[5n", b"\x1b[0n"
LONGEST_LIST = 1 << 12
"""Bytes of a list of children; the program is among the first of them."""
GET_DEVICE = 0x80045432
"""TIOCGDEV: which terminal it is, also where it was opened as /dev/tty."""


class OwnTerminal:
    """The pair of both, from before the program starts until after its end. For one thread."""

    def __init__(self, outer: int) -> None:
        """Make it, inside the open terminal `outer`. Raises OSError."""
        self._outer = outer
        self._device = device(outer)
        self._modes = termios.tcgetattr(outer)
        self._master, self._inner = os.openpty()
        termios.tcsetattr(self._inner, termios.TCSANOW, self._modes)
        self._resize()
        os.set_blocking(self._master, False)
        self._console, self._leaders = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._text = PrintedText()
        self._typed, self._printed = b"", b""
        """What the program, and the outer terminal, have not taken yet."""
        self._has_keys = False
        self._group = 0
        """Process group of bubblewrap, which is the program's own unless that makes another one."""
        self._root = 0
        self._leader = 0
        self._before = 0
        """Group that had the program's terminal when it was stopped."""
        self._reported = 0
        """Signal by which bubblewrap was stopped, where it is not known yet whether the program was."""
        self._until = 0.0
        self._next = 0.0
        self._is_continuing = False
        self._is_told_to_stop = False
        self._asked_at = -RECENT_SECONDS
        self._is_over = False
        """Whether nobody has the program's terminal any more."""
        self.is_lost = False
        """Whether the outer terminal is gone."""

    @property
    def dropped(self) -> Dropped:
        return self._text.dropped

    # ---- for the start ----

    @property
    def streams(self) -> Mapping[int, int]:
        """The standard streams that are the outer terminal, with what the program gets for them."""
        return {number: self._inner for number in range(3) if os.isatty(number) and device(number) == self._device}

    def command(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command that starts `words` on this terminal, with `passed` open."""
        # Keys may be meant for the next program of a pipe, which reads them from the terminal as well.
        mine = {*self.streams} >= {0} and not _is_pipe(1) and self._is_ours()
        self._has_keys = mine
        numbers = (self._leaders.fileno(), self._inner, int(mine))
        return (sys.executable, "-I", "-S", "-c", inside("leader.py"), *map(str, numbers), *words)

    @property
    def passed(self) -> tuple[int, int]:
        return (self._leaders.fileno(), self._inner)

    def begin(self, leader: int) -> int:
        """Return the process group that the leader has started. Raises KnownError."""
        self._leaders.close()
        os.close(self._inner)
        self._inner = -1
        said = self._console.recv(64).split()
        if said[:1] != [b"group"]:
            raise KnownError("The program's terminal could not be set up.", "Try again; its words above may say why.")
        self._leader, self._group = leader, int(said[1])
        if self._has_keys:
            self._set_raw()
        return self._group

    def watch(self, root: int) -> None:
        """Look from now on at whether the program has stopped; `root` is the first process inside."""
        self._root = root

    # ---- while it runs ----

    @property
    def waited_for(self) -> Iterator[tuple[int, int]]:
        """Descriptors, each with what is waited for."""
        yield self._console.fileno(), select.POLLIN
        if not self.is_lost:
            wanted = (select.POLLIN if self._has_keys and not self._typed else 0) | (
                select.POLLOUT if self._printed else 0
            )
            if wanted:
                yield self._outer, wanted
        wanted = (0 if self._printed else select.POLLIN) | (select.POLLOUT if self._typed else 0)
        if wanted:
            yield self._master, wanted

    @property
    def patience(self) -> float:
        """Seconds until `serve` is to be called though nothing has come."""
        return max(0.0, self._next - time.monotonic())

    def serve(self, ready: Mapping[int, int]) -> None:
        """Carry what has come, and look whether the program has stopped."""
        if ready.get(self._console.fileno()):
            self._hear()
        if ready.get(self._outer, 0) & ~select.POLLOUT:
            self._take_typed()
        if self._typed:
            self._hand_in()
        if ready.get(self._master, 0) & ~select.POLLOUT and not self._printed:
            self._take_printed()
        if self._printed:
            self._hand_out()
        if time.monotonic() >= self._next:
            self._look()

    def resized(self) -> None:
        with contextlib.suppress(OSError):
            self._resize()

    def continued(self) -> None:
        """Set the terminal again, after a stop that nobody asked for, such as SIGSTOP."""
        self.resized()
        if self._has_keys and self._is_ours():
            self._set_raw()
        elif self._has_keys:
            self._has_keys = False
            self._continue(0)

    def told_to_stop(self) -> None:
        """Pass on that the job is to stop: the program may do something before, or not stop at all."""
        self._is_told_to_stop = True
        self.signal(signal.SIGTSTP)

    def signal(self, number: int) -> None:
        """Send a signal as a key of the terminal would."""
        group = self._foreground()
        with contextlib.suppress(OSError):
            os.killpg(self._group if group in (0, self._leader) else group, number)

    # ---- for the end ----

    def __enter__(self) -> None:
        """Nothing more: it is made already."""

    def __exit__(self, *_error: object) -> None:
        """Print what is left, and give the outer terminal back as it was. Everything inside has ended."""
        try:
            if self._inner < 0:  # else the program was not started
                self._finish()
        finally:
            self._console.close()
            self._leaders.close()
            for each in (self._master, self._inner, self._outer):
                if each >= 0:
                    os.close(each)

    def _finish(self) -> None:
        end = time.monotonic() + DRAIN_SECONDS
        while not self._is_over and time.monotonic() < end:
            self._flush()
            waiting = select.poll()
            waiting.register(self._master, select.POLLIN)
            waiting.poll(max(0.0, end - time.monotonic()) * 1000)
            self._take_printed()
        self._flush()
        self._printed += self._text.end()
        self._flush()
        if self._has_keys:
            self._await_answers()
            self._give_back()

    # ---- bytes ----

    def _take_typed(self) -> None:
        try:
            self._typed = os.read(self._outer, PIECE)
            self.is_lost = not self._typed
        except BlockingIOError:
            pass
        except OSError:
            self.is_lost = True

    def _hand_in(self) -> None:
        with contextlib.suppress(OSError):
            self._typed = self._typed[os.write(self._master, self._typed) :]

    def _take_printed(self) -> None:
        pieces: list[bytes] = []
        length = 0
        while length < PIECE:
            try:
                piece = os.read(self._master, PIECE)
            except BlockingIOError:
                break
            except OSError:  # nobody has it open any more
                piece = b""
            if not piece:
                self._is_over = True
                break
            pieces.append(piece)
            length += len(piece)
        data = self._text.passed(b"".join(pieces))
        if self._text.asked:
            self._text.asked, self._asked_at = False, time.monotonic()
        if not self._has_keys:
            # The outer terminal, whose modes are not changed, adds the same once more.
            data = data.replace(b"\r\n", b"\n")
        self._printed += data

    def _hand_out(self) -> None:
        if self.is_lost:
            self._printed = b""
            return
        try:
            self._printed = self._printed[os.write(self._outer, self._printed) :]
        except BlockingIOError:
            pass
        except OSError:
            self.is_lost = True

    def _flush(self) -> None:
        """Write what is to be printed; a terminal that takes nothing for a while gets no more."""
        waiting = select.poll()
        waiting.register(self._outer, select.POLLOUT)
        while self._printed and waiting.poll(DRAIN_SECONDS * 1000):
            self._hand_out()
        self._printed = b""

    def _await_answers(self) -> None:
        """Wait for what the terminal still answers to the program: the shell would take it for typed."""
        if self.is_lost or time.monotonic() - self._asked_at > RECENT_SECONDS:
            return
        self._printed = STATUS_QUESTION
        self._flush()
        said, end = b"", time.monotonic() + ANSWER_SECONDS
        waiting = select.poll()
        waiting.register(self._outer, select.POLLIN)
        while STATUS_ANSWER not in said and waiting.poll(max(0.0, end - time.monotonic()) * 1000):
            try:
                said = said[-len(STATUS_ANSWER) :] + os.read(self._outer, PIECE)
            except OSError:
                return

    # ---- stops ----

    def _hear(self) -> None:
        words = self._console.recv(64).split()
        if words[:1] == [b"stopped"]:
            self._reported, self._until = int(words[1]), time.monotonic() + CLOSELY_SECONDS
            self._next = 0.0
        elif words[:1] == [b"done"]:
            self._is_continuing = False

    def _look(self) -> None:
        """Look whether the program has stopped.

        Nobody is told of that but its parent, a process of bubblewrap that does not look. That bubblewrap itself was
        stopped says less: the program may clean up the screen before, or go on.
        """
        now = time.monotonic()
        self._next = now + (CLOSELY_EVERY if self._reported else LOOK_EVERY)
        if self._is_continuing or not self._group:
            return
        program = first_child(self._root)
        stopped = _is_stopped(program) if program else bool(self._reported)
        if stopped:
            number, self._reported = self._reported, 0
            self._stopped(number, program)
        elif self._reported and now > self._until:
            self._reported = 0
            with contextlib.suppress(OSError):
                os.kill(self._group, signal.SIGCONT)
        elif not self._has_keys and self._foreground() not in (0, self._leader) and self._is_ours():
            self._take_keys()

    def _stopped(self, number: int, program: int) -> None:
        """Stop as well, or give the keys to a program that waits for them; then continue it."""
        wants = number in WANTS_TERMINAL or (not self._has_keys and not number and not self._is_told_to_stop)
        group = self._foreground()
        if wants and self._is_ours():
            group = _group_of(program) or self._group
        else:
            self._stop()
        self._is_told_to_stop = False
        if self._is_ours():
            self._take_keys()
            self._continue(self._group if group in (0, self._leader) else group, program)
        else:
            self._continue(0, program)

    def _stop(self) -> None:
        """Give the outer terminal back, and stop with everything of this job until somebody continues it."""
        waiting = select.poll()
        waiting.register(self._master, select.POLLIN)
        while not self._is_over and waiting.poll(QUIET_SECONDS * 1000):
            self._take_printed()
            self._flush()
        if self._has_keys:
            self._give_back()
            self._has_keys = False
        handler = signal.getsignal(signal.SIGTSTP)
        if handler is not signal.SIG_IGN:  # else whoever started this process would not notice that it stops
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCONT})
        os.killpg(0, signal.SIGTSTP)
        signal.sigtimedwait({signal.SIGCONT}, STOP_SECONDS)
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
        signal.signal(signal.SIGTSTP, handler)

    def _continue(self, group: int, program: int = 0) -> None:
        """Let the leader give the program's terminal to `group`, to itself with 0, and continue the program."""
        self._is_continuing = True
        with contextlib.suppress(OSError):
            self._console.send(b"continue %d %d" % (group, program))

    # ---- the two terminals ----

    def _take_keys(self) -> None:
        self._has_keys = True
        self.resized()
        self._set_raw()

    def _set_raw(self) -> None:
        with _undisturbed(), contextlib.suppress(OSError, termios.error):
            tty.setraw(self._outer, termios.TCSANOW)

    def _give_back(self) -> None:
        with _undisturbed(), contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(self._outer, termios.TCSANOW, self._modes)

    def _is_ours(self) -> bool:
        """Return whether the outer terminal is for this job: not where it runs in the background."""
        try:
            return os.tcgetpgrp(self._outer) == os.getpgrp()
        except OSError:  # it is the terminal of no session: there are no jobs on it
            return not self.is_lost

    def _foreground(self) -> int:
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(self._master)
        return 0

    def _resize(self) -> None:
        size = fcntl.ioctl(self._outer, termios.TIOCGWINSZ, bytes(8))
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)


def found() -> OwnTerminal | None:
    """Return one inside the terminal that this process was started from; None where there is none. Raises OSError."""
    paths = ("/dev/tty", *(f"/proc/self/fd/{number}" for number in range(3) if os.isatty(number)))
    for path in paths:
        with contextlib.suppress(OSError):
            # Opened once more: not to wait for it is a matter between it and this process alone.
            outer = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
            return OwnTerminal(outer)
    return None


def device(terminal: int) -> int:
    """Return the number of the terminal that is open as `terminal`. Raises OSError."""
    number = array.array("I", [0])
    fcntl.ioctl(terminal, GET_DEVICE, number)
    return number[0]


def first_child(process: int) -> int:
    """Return the oldest child, of the first process inside a sandbox: the program itself; 0 where it has none.

    An older one that is the first process of a sandbox further inside is none.
    """
    try:
        with open(f"/proc/{process}/task/{process}/children", "rb") as file:
            children = [int(one) for one in file.read(LONGEST_LIST).split()]
    except OSError:
        return 0
    depth = _depth(process)
    return next((one for one in children if _depth(one) == depth), 0)


def _depth(process: int) -> int:
    """Return in how many namespaces of processes one has a number; 0 where it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/status", "rb") as file:
        return next((len(line.split()) - 1 for line in file if line.startswith(b"NSpid:")), 0)
    return 0


def _is_stopped(process: int) -> bool:
    return _status(process)[:1] == [b"T"]


def _group_of(process: int) -> int:
    return int((_status(process) + [b"0"] * 3)[2])


def _status(process: int) -> list[bytes]:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _is_pipe(number: int) -> bool:
    kind = os.fstat(number).st_mode
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a process that does not have the terminal change it, which stops it otherwise."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
