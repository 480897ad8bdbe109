"""Writes the program by which the kernel refuses system calls to code of the local sandbox (seccomp, classic BPF)."""

from __future__ import annotations

import errno
import functools
import json
import platform
import struct

from runner.sandbox.programs import seccomp
from runner.system.computing import (
    ANY_BIT,
    CLONE,
    CLONE3,
    EQUAL,
    FIRST,
    LOAD,
    MACHINE_AT,
    MACHINES,
    NUMBER_AT,
    RETURN,
    THREAD,
)

FILTERED = "system calls filtered (seccomp)"
X32 = 0x40000000
"""From here on, numbers are those of x86-64's third interface, by which a list of the first would be passed."""
IOCTL, PERSONALITY, SOCKET = (16, 29), (135, 92), (41, 198)
SETSOCKOPT, CLOSE_RANGE = (54, 208), (436, 436)
SOCKET_LEVEL = 1
BUFFERS = (7, 8, 32, 33)
"""`SO_SNDBUF`, `SO_RCVBUF` and their forms for root: memory of the kernel's own that no limit of a process counts."""
NAMESPACES = 0x7E020000
"""Every `CLONE_NEW` flag that clone takes."""
SAME_FILES, OTHER_FILES = 0x400, 2
"""`CLONE_FILES` of clone, `CLOSE_RANGE_UNSHARE` of close_range: all threads of a process share their
descriptors, so that whoever counts those of one counts all."""
TYPING = (0x5412, 0x541C)
"""`TIOCSTI` and `TIOCLINUX`: they type into the terminal."""
PERSONALITIES = (0, 8, 0x20000, 0xFFFFFFFF)
"""Those that change nothing of weight; the last one asks."""
FAMILIES = (1, 2, 10)
"""Sockets of the kinds UNIX, IPv4 and IPv6."""
NETLINK = 16

AT_LEAST = 0x35
SECOND, THIRD = 24, 32
"""Where a call's arguments lie. Only their lower half is looked at, as the kernel does with these ones."""

Step = tuple[int, int, int, int]
"""Code, steps to skip when it holds, steps to skip when it does not, operand."""
ALLOW: Step = (RETURN, 0, 0, 0x7FFF0000)
KILL: Step = (RETURN, 0, 0, 0x80000000)
REFUSE: Step = (RETURN, 0, 0, 0x00050000 | errno.EPERM)
UNKNOWN: Step = (RETURN, 0, 0, 0x00050000 | errno.ENOSYS)
"""Whoever gets this takes an older call in its place."""
IGNORE: Step = (RETURN, 0, 0, 0x00050000)
"""The call does nothing and says that it did."""


ENTERING = frozenset({"setns"})
"""The call by which a process enters a namespace that is there already: of its own, or made for it, never a new one."""


@functools.cache
def program(machine: str = "", *, without: frozenset[str] = frozenset()) -> bytes:
    """Return the program for `machine`, by default this one; nothing where it is not known.

    Of the calls that are refused in any case it lets those of `without` through.
    """
    name = machine or platform.machine()
    if name not in MACHINES:
        return b""
    kernels_name, column = MACHINES[name]
    steps = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, kernels_name), KILL, (LOAD, 0, 0, NUMBER_AT)]
    steps += _search(_ranges(column, without))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def leaving_newer(other: bytes) -> bytes:
    """Return the program `other`, which is loaded besides the one of `program`, without a say on newer calls.

    Of two errors the kernel takes that of the program loaded last, and libraries take an older call at ENOSYS only.
    """
    newest = json.loads(seccomp("local.json"))["newest"]
    steps: list[Step] = [(LOAD, 0, 0, NUMBER_AT), (AT_LEAST, 0, 1, newest + 1), ALLOW]
    return b"".join(struct.pack("<HBBI", *step) for step in steps) + other


def _ranges(column: int, without: frozenset[str]) -> list[tuple[int, list[Step]]]:
    """Return the ranges of call numbers, each with its first number and the steps for its calls."""
    table = json.loads(seccomp("local.json"))
    denied = {numbers[column] for name, numbers in table["denied"].items() if name not in without} - {None}
    treated = {number: [REFUSE] for number in denied}
    # As on a kernel that was built without them: programs then use files in /dev/shm.
    treated |= {numbers[column]: [UNKNOWN] for numbers in table["unbounded"].values()}
    treated[CLONE[column]] = _threads()
    treated[CLOSE_RANGE[column]] = [(LOAD, 0, 0, THIRD), (ANY_BIT, 0, 1, OTHER_FILES), REFUSE, ALLOW]
    treated[CLONE3[column]] = [UNKNOWN]  # its flags cannot be looked at
    treated[IOCTL[column]] = _one_of(SECOND, TYPING, REFUSE, ALLOW)
    treated[PERSONALITY[column]] = _one_of(FIRST, PERSONALITIES, ALLOW, REFUSE)
    treated[SOCKET[column]] = _sockets()
    buffers = _one_of(THIRD, BUFFERS, IGNORE, ALLOW)
    treated[SETSOCKOPT[column]] = [(LOAD, 0, 0, SECOND), (EQUAL, 0, len(buffers) - 2, SOCKET_LEVEL), *buffers]
    ranges: list[tuple[int, list[Step]]] = []
    for number in range(table["newest"] + 1):
        steps = treated.get(number, [ALLOW])
        if not ranges or ranges[-1][1] != steps:
            ranges.append((number, steps))
    return [*ranges, (table["newest"] + 1, [UNKNOWN]), (X32, [KILL])]


def _search(ranges: list[tuple[int, list[Step]]]) -> list[Step]:
    """Steps that find the number's range by halving: the kernel tries every number when it takes the program."""
    if len(ranges) == 1:
        return ranges[0][1]
    half = len(ranges) // 2
    below, above = _search(ranges[:half]), _search(ranges[half:])
    return [(AT_LEAST, len(below), 0, ranges[half][0]), *below, *above]


def _one_of(argument: int, values: tuple[int, ...], then: Step, otherwise: Step) -> list[Step]:
    tests = [(EQUAL, len(values) - nth, 0, value) for nth, value in enumerate(values)]
    return [(LOAD, 0, 0, argument), *tests, otherwise, then]


def _threads() -> list[Step]:
    """Return the steps that refuse new namespaces, and threads with descriptors of their own."""
    threads = [(ANY_BIT, 0, 2, THREAD), (ANY_BIT, 1, 0, SAME_FILES), REFUSE, ALLOW]
    return [(LOAD, 0, 0, FIRST), (ANY_BIT, 0, 1, NAMESPACES), REFUSE, *threads]


def _sockets() -> list[Step]:
    """Return the steps that allow some kinds of sockets; of netlink only the query of network interfaces."""
    netlink = [(EQUAL, 0, 2, NETLINK), (LOAD, 0, 0, THIRD), (EQUAL, 1, 0, 0), REFUSE, ALLOW]
    tests = [(EQUAL, len(FAMILIES) - nth + len(netlink) - 2, 0, family) for nth, family in enumerate(FAMILIES)]
    return [(LOAD, 0, 0, FIRST), *tests, *netlink]
