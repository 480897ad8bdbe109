"""Files that a program reads or writes as its standard streams, handed to it as pipes.

Who has a file open can open it again by /proc/self/fd, for writing where it was for reading: a way to what is not in
the sandbox. A pipe leads nowhere.
"""

from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import contextlib

CARRY = "/bin/cat"


class HandedStreams(TypedDict, total=False):
    """For `Popen`."""

    stdin: int
    stdout: int
    stderr: int


class PipedStreams:
    """What stands in for the streams of this process that are files."""

    def __init__(self, kept: contextlib.ExitStack) -> None:
        """All that is written has arrived once `kept` is closed."""
        self.handed: HandedStreams = {}
        self._ends: list[int] = []
        if _is_file(0):
            self.handed["stdin"] = self._carried(0, kept)
        if _is_file(1):
            self.handed["stdout"] = self._carried(1, kept)
        if _is_file(2):
            same = "stdout" in self.handed and os.path.samestat(os.fstat(1), os.fstat(2))
            self.handed["stderr"] = self.handed["stdout"] if same else self._carried(2, kept)

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
        carrying = subprocess.Popen((CARRY,), stdin=source, stdout=target, process_group=0)
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
