"""Keeps this process's memory and files to itself."""

from __future__ import annotations

import os
import sys

SET_DUMPABLE = 4
"""PR_SET_DUMPABLE of prctl(2)."""


def keep_private() -> bool:
    """Let no other program of this account read or steer this process, and write no core of it; whether that works.

    Against ptrace(2), /proc/PID/mem and /proc/PID/environ, as the process holds tokens, the signing key and the answer
    to every question. Programs that it starts are not affected, nor is root. Linux only.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes  # not above: a hook, which is started for each tool, needs the rest alone

    return bool(ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0) == 0)


def close_to_others() -> None:
    """Let no other account write to any file or folder that this process will make, whatever its umask was."""
    os.umask(os.umask(0o077) | 0o022)
