"""Files and terminals that a program reads or writes as its standard streams, handed to it as pipes.

Who has a file open can open it again by /proc/self/fd, for writing where it was for reading: a way to what is not in
the sandbox. A pipe leads nowhere. A further terminal, besides the one that the program gets its own for, shows plain
text of it alone.
"""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
from typing import TYPE_CHECKING, TypedDict, cast

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Mapping

CARRY, PLAIN = ("/bin/cat",), ("/bin/cat", "-v")


class HandedStreams(TypedDict, total=False):
    """For `Popen`."""

    stdin: int
    stdout: int
    stderr: int


class PipedStreams:
    """What stands in for the streams of this process that are files or terminals."""

    def __init__(self, kept: contextlib.ExitStack, given: Mapping[int, int], *, apart: bool = False) -> None:
        """All that is written has arrived once `kept` is closed. `given` are those that somebody else stands in for.

        `apart` keeps one from having the flags of another (`_part`).
        """
        self._ends: list[int] = []
        handed = dict(given)
        for number in range(3):
            if number in handed or not (_is_file(number) or os.isatty(number)):
                continue
            same = number == 2 and 1 in handed and os.path.samestat(os.fstat(1), os.fstat(2))
            handed[number] = handed[1] if same else self._carried(number, kept)
        self._handed = handed
        if apart:
            self._part(kept)

    @property
    def handed(self) -> HandedStreams:
        names = {0: "stdin", 1: "stdout", 2: "stderr"}
        return cast("HandedStreams", {names[number]: stream for number, stream in self._handed.items()})

    def _part(self, kept: contextlib.ExitStack) -> None:
        """Open each pipe or terminal once more, so that no two streams share their flags.

        gVisor sets one to return at once where nothing can be read or written, and takes that of the next one for the
        program's own wish where both are the same.
        """
        for number in range(3):
            stream = self._handed.get(number, number)
            mode = fcntl.fcntl(stream, fcntl.F_GETFL) & os.O_ACCMODE
            try:
                own = os.open(f"/proc/self/fd/{stream}", mode | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:  # a socket, or another account's pipe
                if number and number not in self._handed:
                    self._handed[number] = self._carried(number, kept)
            else:
                os.set_blocking(own, True)
                self._ends.append(own)
                self._handed[number] = own

    def close(self) -> None:
        """Close the program's ends here, once it has them."""
        while self._ends:
            os.close(self._ends.pop())

    def _carried(self, number: int, kept: contextlib.ExitStack) -> int:
        """Return the end for the program of a pipe from or to the stream."""
        reader, writer = os.pipe()
        ours, theirs = (writer, reader) if number == 0 else (reader, writer)
        self._ends.append(theirs)
        source, target = (number, ours) if number == 0 else (ours, number)
        # In a group of its own, as the program is: keys end the program, and what it wrote still arrives.
        carrying = subprocess.Popen(PLAIN if os.isatty(target) else CARRY, stdin=source, stdout=target, process_group=0)
        os.close(ours)
        kept.callback(_end, carrying, waiting=number != 0)
        kept.callback(self.close)
        return theirs


def _is_file(number: int) -> bool:
    kind = os.fstat(number).st_mode
    return stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISBLK(kind)


def _end(carrying: subprocess.Popen[bytes], *, waiting: bool) -> None:
    if not waiting:  # for input that nobody reads any more
        carrying.kill()
    carrying.wait()
