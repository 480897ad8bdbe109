"""libseccomp, which container engines use as well: numbers of system calls, and the program that the kernel takes.

It is called as its manual pages have it (seccomp_init(3), seccomp_rule_add_array(3), seccomp_export_bpf(3)); apt itself
needs it, so it is on every Debian. Where it is not, a profile counts in containers alone.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.seccomp.profile import COMPARISONS

if TYPE_CHECKING:
    from runner.sandbox.seccomp.narrowed import SeccompFilter
    from runner.sandbox.seccomp.profile import ArgumentTest, SeccompAction

NAME = "libseccomp.so.2"
UNKNOWN = -1
"""`__NR_SCMP_ERROR`: nobody knows the name. Below it are calls that only other machines have."""
ACTIONS = {
    "SCMP_ACT_ALLOW": 0x7FFF0000,
    "SCMP_ACT_LOG": 0x7FFC0000,
    "SCMP_ACT_ERRNO": 0x00050000,
    "SCMP_ACT_TRAP": 0x00030000,
    "SCMP_ACT_KILL": 0x00000000,
    "SCMP_ACT_KILL_THREAD": 0x00000000,
    "SCMP_ACT_KILL_PROCESS": 0x80000000,
}
"""Of seccomp.h. An error has its number in the lower half."""
OPTIMIZE, BY_HALVING = 8, 2
"""`SCMP_FLTATR_CTL_OPTIMIZE`: the kernel then finds a call in a tree."""
MOST_STEPS = 4096 - 16
"""The kernel takes no longer program (`BPF_MAXINSNS`), and a few steps may be put before it."""
STEP_BYTES = 8


class _Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp`."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@functools.cache
def _library() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(NAME)
    except OSError:
        return None
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    library.seccomp_init.restype = pointer
    library.seccomp_init.argtypes = (number,)
    library.seccomp_release.argtypes = (pointer,)
    library.seccomp_release.restype = None
    library.seccomp_attr_set.argtypes = (pointer, ctypes.c_int, number)
    library.seccomp_syscall_resolve_name.argtypes = (ctypes.c_char_p,)
    comparisons = ctypes.POINTER(_Comparison)
    library.seccomp_rule_add_array.argtypes = (pointer, number, ctypes.c_int, ctypes.c_uint, comparisons)
    library.seccomp_export_bpf.argtypes = (pointer, ctypes.c_int)
    return library


class CallNumbers:
    """The names of calls. Without the library every name counts as one of this machine: then more is asked."""

    def knows(self, name: str) -> bool:
        return _number(name) != UNKNOWN

    def exists(self, name: str) -> bool:
        return _number(name) >= 0


def _number(name: str) -> int:
    library = _library()
    return 0 if library is None else int(library.seccomp_syscall_resolve_name(name.encode()))


def compiled(wanted: SeccompFilter) -> bytes:
    """Return the program of `wanted` for this machine (classic BPF); calls that it does not have are left out.

    Raises KnownError where there is no library, and for a filter that is too long for the kernel.
    """
    if (library := _library()) is None:
        raise KnownError(
            f"A seccomp profile counts in the local sandbox with {NAME} only, and it is not here.",
            "Install libseccomp2.",
        )
    if not (context := library.seccomp_init(_value(wanted.default))):
        raise KnownError("libseccomp takes the default action of the profile for none.", "Take another one.")
    try:
        library.seccomp_attr_set(context, OPTIMIZE, BY_HALVING)
        for rule in wanted.rules:
            array = (_Comparison * len(rule.when))(*map(_comparison, rule.when))
            for name in rule.names:
                if (number := _number(name)) < 0:
                    continue
                _check(
                    library.seccomp_rule_add_array(context, _value(rule.action), number, len(array), array),
                    f"the rule for {name}",
                )
        return _exported(library, context)
    finally:
        library.seccomp_release(context)


def _exported(library: ctypes.CDLL, context: int) -> bytes:
    """Raises KnownError."""
    descriptor = os.memfd_create("filter", os.MFD_CLOEXEC)
    try:
        _check(library.seccomp_export_bpf(context, descriptor), "the profile")
        size = os.fstat(descriptor).st_size
        if size > MOST_STEPS * STEP_BYTES:
            raise KnownError(
                f"The seccomp profile is too long for the kernel: {size // STEP_BYTES:,} steps of {MOST_STEPS:,}.",
                "Make it shorter: conditions take most of it.",
            )
        return os.pread(descriptor, size, 0)
    finally:
        os.close(descriptor)


def _check(status: int, what: str) -> None:
    if status:
        why = os.strerror(-status) if -status in errno.errorcode else f"error {-status}"
        raise KnownError(f"libseccomp does not take {what}: {why}.", "Correct the profile.")


def _value(action: SeccompAction) -> int:
    return ACTIONS[action.name] | (action.errno or 0)


def _comparison(one: ArgumentTest) -> _Comparison:
    return _Comparison(one.index, COMPARISONS.index(one.op) + 1, one.value, one.two)
