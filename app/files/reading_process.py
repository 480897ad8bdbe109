"""The process in which one file is read: it gets the bytes on its input, writes a preview on its output, and ends.

`app.files.apart` starts it. Before it looks at the first byte it gives up all that the bytes could be after.
"""

from __future__ import annotations

import os
import sys

from app.files.answer import pack
from app.files.found import form_of
from app.files.kinds import VECTORS, ending
from app.files.preview import preview
from app.files.result_card import card
from runner.system.computing import bind, only_compute
from runner.system.process_stat import read_proc

BASE = 1 << 30
"""Bytes of address space that the interpreter, Qt and the file may take, before what is in the file is looked at."""
NO_MEMORY = 3
"""The exit status where memory was not enough."""


def main(parent: int, memory: int, seconds: int, for_card: int, path: str) -> None:
    """Write a preview of what comes on the standard input; one for a card where `for_card` is not 0.

    `parent` is the console's process. `memory` are the bytes of address space, `seconds` the processor time, that the
    file may take beside what it takes to load the program.
    """
    bind(parent, BASE)
    if sys.platform == "linux":
        # Qt begins as many threads as it sees processors, and each takes address space of its own.
        seen = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {seen[os.getpid() % len(seen)]})
    try:
        data = sys.stdin.buffer.read()
        if form := form_of(data):
            from app.files.pixels import warm

            warm(form)
        elif for_card and ending(path) in VECTORS:
            from app.files.vector import warm_up

            warm_up()
        only_compute(_taken() + memory, seconds)
        sys.stdout.buffer.write(pack((card if for_card else preview)(data, path)))
        sys.stdout.buffer.flush()
    except MemoryError:
        os._exit(NO_MEMORY)
    os._exit(0)


def _taken() -> int:
    """Return the bytes of address space that this process has."""
    return int(read_proc("/proc/self/statm").split()[0]) * os.sysconf("SC_PAGE_SIZE")
