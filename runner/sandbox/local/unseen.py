"""Counts memory that processes take without having it among their pages: in sockets, and in pages they share."""

from __future__ import annotations

import contextlib
from pathlib import Path

from runner.system.process_stat import read_proc

SOCKET_EXTRA = 32 << 10
"""Bytes by which a queue of messages may pass its bound: the last message is taken whole."""
FEW_SOCKETS = 32
"""So many do not count: their queues are mostly empty."""
SHARED = b"/dev/zero (deleted)"
"""What the kernel calls memory that processes share without a file. Such pages stay when nobody looks at them."""


def in_sockets(pid: int) -> int:
    """Return the most bytes that the sockets of the network namespace of `pid` may hold.

    Counted where no descriptor leads to them as well: closed ones, those sent through another, those not accepted yet.
    """
    lines = read_proc(f"/proc/{pid}/net/sockstat").decode("utf-8", "replace").splitlines()
    counts = {line.split(" ")[0]: line.split() for line in lines}
    try:
        used = int(counts["sockets:"][2])
        streams, datagrams = int(counts["TCP:"][2]), int(counts["UDP:"][2])
    except (KeyError, IndexError, ValueError):
        return 0
    local = max(0, used - streams - FEW_SOCKETS)
    return local * _most_in_one() + (_queued(pid) if streams or datagrams else 0)


def shared(pids: list[int]) -> int:
    """Return the bytes of shared memory that these processes have reserved and that are not among their pages.

    How much of it is taken cannot be seen; a limit on what may be written to counts reserved memory as well.
    """
    largest: dict[int, int] = {}
    among_pages = 0
    for pid in pids:
        maps = read_proc(f"/proc/{pid}/maps")
        if SHARED not in maps:
            continue
        for line in maps.splitlines():
            if line.endswith(SHARED):
                span, _, offset, _, number, *_ = line.split(None, 5)
                begin, end = (int(part, 16) for part in span.split(b"-"))
                largest[int(number)] = max(largest.get(int(number), 0), int(offset, 16) + end - begin)
        _, _, rest = read_proc(f"/proc/{pid}/status").partition(b"RssShmem:")
        among_pages += int(rest.split()[0]) * 1024 if rest else 0
    return max(0, sum(largest.values()) - among_pages)


def _most_in_one() -> int:
    """Return how many bytes a local socket may hold; the filter of system calls keeps code from raising it."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/sys/net/core/wmem_default").read_text()) + SOCKET_EXTRA
    return SOCKET_EXTRA


def _queued(pid: int) -> int:
    """Return the bytes that wait in sockets of the Internet's protocols."""
    total = 0
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in read_proc(f"/proc/{pid}/net/{kind}").splitlines()[1:]:
            sent, _, received = line.split()[4].partition(b":")
            total += int(sent, 16) + int(received, 16)
    return total
