"""Leads the session of a contained program on a terminal of its own; run by a fresh interpreter with `-I -S -c`.

Usage: leader.py CONTROL TERMINAL HAS_KEYS PROGRAM ...; CONTROL is the descriptor of a socket to the console, on which
this one says `group N`, `stopped SIGNAL` and `done`, and hears `continue GROUP PROCESS`. It stays outside of the
sandbox, like a shell: a program without a parent in its session cannot be stopped by keys. It ends as the program does.
"""

import contextlib
import fcntl
import os
import select
import signal
import socket
import sys
import termios

AS_AT_FIRST = (signal.SIGTTOU, signal.SIGPIPE, signal.SIGXFSZ)
"""Ignored by this process, but not by the program."""


def main(control: int, terminal: int, has_keys: bool, program: list[str]) -> int:
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    # The end of the terminal is the end of this process: that of the program follows.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(writer)
    child = os.fork()
    if not child:
        begin(terminal, has_keys, program, {control, terminal, reader, writer})
    with contextlib.suppress(OSError):  # it may have become the program already
        os.setpgid(child, child)
    for each in os.listdir("/proc/self/fd"):
        if int(each) > 2 and int(each) not in (control, terminal, reader, writer):
            with contextlib.suppress(OSError):
                os.close(int(each))
    with socket.socket(fileno=control) as console:
        status = wait(child, terminal, console, reader)
    leave(terminal)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def begin(terminal: int, has_keys: bool, program: list[str], ours: set[int]) -> None:
    """Become the program."""
    try:
        os.setpgid(0, 0)
        if has_keys:
            os.tcsetpgrp(terminal, os.getpid())
        signal.set_wakeup_fd(-1)
        for number in (*AS_AT_FIRST, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        for each in ours - {0, 1, 2}:
            os.close(each)
        os.execvp(program[0], program)
    except OSError as error:
        sys.stderr.write(f"{program[0]}: {error.strerror}\n")
    finally:
        sys.stderr.flush()
        os._exit(127)


def wait(child: int, terminal: int, console: socket.socket, wakeup: int) -> int:
    """Return the status of the program once it has ended; without the console nothing waits for it."""
    console.send(b"group %d" % child)
    while True:
        pid, status = os.waitpid(child, os.WUNTRACED | os.WNOHANG)
        if pid and not os.WIFSTOPPED(status):
            return status
        if pid:
            console.send(b"stopped %d" % os.WSTOPSIG(status))
            continue
        ready, _, _ = select.select([console.fileno(), wakeup], [], [])
        if wakeup in ready:
            os.read(wakeup, 4096)
        if console.fileno() in ready:
            words = console.recv(64).split()
            if not words:
                os._exit(1)
            go_on(terminal, child, int(words[1]), int(words[2]))
            console.send(b"done")


def go_on(terminal: int, child: int, group: int, process: int) -> None:
    """Give the terminal to a group, to this one with 0; continue that one, the program's and the process."""
    with contextlib.suppress(OSError):  # all of it may have ended
        os.tcsetpgrp(terminal, group or os.getpgrp())
    for act, number in ((os.killpg, child), (os.killpg, group), (os.kill, process)):
        if number:
            with contextlib.suppress(OSError):
                act(number, signal.SIGCONT)


def leave(terminal: int) -> None:
    """Give up the terminal.

    Where a leader ends with its terminal, and others have that open, the kernel throws away what is not read yet.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCNOTTY)


if __name__ == "__main__":
    control, terminal, has_keys, *program = sys.argv[1:]
    sys.exit(main(int(control), int(terminal), has_keys == "1", program))
