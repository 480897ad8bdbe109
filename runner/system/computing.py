"""Bounds of a process that reads hostile bytes: it lives no longer than its parent, and may do no more than compute.

Whatever breaks the library that reads the bytes then has nothing to open, nobody to call and nothing to start.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""What the kernel calls the machine, and which of a call's two numbers is its own (`AUDIT_ARCH_` in linux/audit.h)."""
CLONE, CLONE3 = (56, 220), (435, 435)
THREAD = 0x10000
"""`CLONE_THREAD` of clone."""
CALLS = {
    "brk": (12, 214),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "close": (3, 57),
    "eventfd2": (290, 19),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fstat": (5, 80),
    "futex": (202, 98),
    "getpid": (39, 172),
    "getrandom": (318, 278),
    "gettid": (186, 178),
    "lseek": (8, 62),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "read": (0, 63),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "set_robust_list": (273, 99),
    "write": (1, 64),
}
"""What memory, threads and what is already open need. None of them opens a file or a socket, or starts a program."""

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER_AT, MACHINE_AT, FIRST = 0, 4, 16
ALLOW, KILL, REFUSE, UNKNOWN = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
"""Go on; end the process; say EPERM; say ENOSYS, on which libc takes an older call."""
DIE_WITH_PARENT, NO_NEW_PRIVILEGES, FILTER = 1, 38, 22
"""Of prctl(2)."""


def bind(parent: int, memory: int) -> None:
    """Die with the process `parent`, whatever it dies of, and take no more than `memory` bytes of address space."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # Ctrl+C in a terminal reaches the whole group; the console says when it is over.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def only_compute(memory: int, seconds: int) -> bool:
    """Keep this process to what it has open, `memory` bytes of address space and `seconds` of processor time.

    Return whether the kernel sees to the first: then threads that come later are kept to the same, and
    without it the limits alone stand.
    """
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    code = program(platform.machine())
    if sys.platform != "linux" or not code:
        return False
    library = ctypes.CDLL(None)
    steps = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: how many steps, and where they lie.
    told = struct.pack("HP", len(code) // 8, ctypes.addressof(steps))
    if library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and library.prctl(FILTER, 2, told, 0, 0) == 0:
        return True
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    return False


def program(machine: str) -> bytes:
    """Return the filter of system calls for `machine` (seccomp, classic BPF); nothing where it is not known."""
    if machine not in MACHINES:
        return b""
    kernels_name, column = MACHINES[machine]
    numbers = sorted(call[column] for call in CALLS.values())
    steps = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, kernels_name), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER_AT)]
    steps += [(EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, UNKNOWN)]
    steps += [(EQUAL, 0, 4, CLONE[column]), (LOAD, 0, 0, FIRST), (ANY_BIT, 0, 1, THREAD)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    steps += [(EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    steps += [(RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)
