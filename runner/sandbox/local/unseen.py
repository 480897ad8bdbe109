"""Counts memory that processes take without having it among their pages: in sockets, and in pages they share."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from runner.system.process_stat import read_proc

SOCKET_EXTRA = 32 << 10
"""Bytes by which a queue of messages may pass its bound: the last message is taken whole."""
INTERNET = ("tcp", "tcp6", "udp", "udp6")
"""Kinds of sockets of the Internet's protocols, as /proc/PID/net names them."""
FEW_SOCKETS = 32
"""So many do not count: their queues are mostly empty."""
SHARED = b"/dev/zero (deleted)"
"""What the kernel calls memory that processes share without a file. Such pages stay when nobody looks at them."""

BLOCK = 512
"""Bytes in a block of `st_blocks`."""


def in_sockets(pid: int) -> int:
    """Return the most bytes that the sockets of the network namespace of `pid` may hold.

    Counted where no descriptor leads to them as well: closed ones, those sent through another, those not accepted yet.
    """
    counts = _counts(pid)
    kinds = [kind for kind in INTERNET if counts.get(f"{kind.upper()}:", 0)]
    local = max(0, counts.get("sockets:", 0) - counts.get("TCP:", 0) - counts.get("TCP6:", 0) - FEW_SOCKETS)
    return (local * _most_in_one() if local else 0) + _queued(pid, kinds)


class SharedMemory:
    """Memory that processes share without a file, as far as it is not among their pages.

    The kernel keeps all of it as long as one page is mapped. How much that is only root sees; for others what counts
    is the most that was ever seen reserved, as a limit on what may be written to counts reserved memory as well.
    """

    def __init__(self) -> None:
        self._largest: dict[int, int] = {}
        """Bytes by the number of the memory."""

    def beside_pages(self, pids: list[int]) -> int:
        """Return its bytes that are among the pages of none of these processes, which are all that have it."""
        sizes: dict[int, int] = {}
        among_pages = 0
        for pid in pids:
            maps = read_proc(f"/proc/{pid}/maps")
            if SHARED not in maps:
                continue
            for line in maps.splitlines():
                if line.endswith(SHARED):
                    span, _, offset, _, number, *_ = line.split(None, 5)
                    begin, end = (int(part, 16) for part in span.split(b"-"))
                    size = _taken(pid, begin, end)
                    if size is None:
                        size = max(self._largest.get(int(number), 0), int(offset, 16) + end - begin)
                    sizes[int(number)] = max(size, sizes.get(int(number), 0))
            among_pages += _resident(pid)
        self._largest = sizes
        return max(0, sum(sizes.values()) - among_pages)


def _taken(pid: int, begin: int, end: int) -> int | None:
    """Return the bytes of what is mapped from `begin` to `end`; None for whoever may not see it."""
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}/map_files/{begin:x}-{end:x}").st_blocks * BLOCK
    return None


def _resident(pid: int) -> int:
    """Return the bytes of shared memory among the pages of a process, its part of those that others have as well."""
    total, counts = 0, False
    for line in read_proc(f"/proc/{pid}/smaps").splitlines():
        if line.startswith(b"Pss:"):
            total += int(line.split()[1]) * 1024 if counts else 0
        elif b"-" in line.partition(b" ")[0]:
            counts = line.endswith(SHARED)
    return total


def _counts(pid: int) -> dict[str, int]:
    """Return how many sockets of each kind the network namespace of `pid` has, all of them under `sockets:`."""
    found: dict[str, int] = {}
    for table in ("sockstat", "sockstat6"):
        for line in read_proc(f"/proc/{pid}/net/{table}").decode("ascii", "replace").splitlines():
            with contextlib.suppress(ValueError):
                kind, _, number, *_ = line.split()
                found[kind] = int(number)
    return found


def _most_in_one() -> int:
    """Return how many bytes a local socket may hold; the filter of system calls keeps code from raising it."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text()) + SOCKET_EXTRA
    return SOCKET_EXTRA


def _queued(pid: int, kinds: list[str]) -> int:
    """Return the bytes that wait in sockets of these kinds."""
    total = 0
    for kind in kinds:
        for line in read_proc(f"/proc/{pid}/net/{kind}").splitlines()[1:]:
            sent, _, received = line.split()[4].partition(b":")
            total += int(sent, 16) + int(received, 16)
    return total
