"""First process of the outer ring: starts the inner one, takes the filter, then starts the program and waits for it.

Run by an interpreter with `-I -S -c`; its one argument is a descriptor with JSON, written by `runner/work/rings.py`.
The inner ring is a child of the outer one, as only whoever made a user namespace may enter it. The filter comes after
it, as it refuses new namespaces. When the program starts no process of the rings is without it: whoever may write to
the memory of another process of this account (/proc/PID/mem) could make one that is without call what it likes.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import sys
from typing import Any

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL = 38, 22, 24, 47, 4
CAPABILITIES = 64
"""More than there are."""
FAILED = 125


def main(plan: dict[str, Any]) -> None:
    needed = (plan["control"], plan["filter"], plan["strict"])
    for each in map(int, os.listdir("/proc/self/fd")):
        if each > 2 and each not in needed:
            with contextlib.suppress(OSError):  # that of the list itself is closed already
                os.close(each)
    for each in needed[:2]:
        os.set_inheritable(each, False)
    control = socket.socket(fileno=plan["control"])
    if plan["is_root"]:
        uncover()
    first = inner(plan["inner"])
    with open(plan["place"], "w") as file:
        file.write(f"{first}\n")
    entered = os.pidfd_open(first)
    socket.send_fds(control, [b"ready"], [entered])
    if control.recv(1) != b"g":
        raise OSError("Assent has ended")
    control.close()
    os.close(entered)
    if plan["is_root"]:
        give_up_power()
    with open(plan["filter"], "rb") as file:
        refuse(file.read())
    program = os.fork()
    # What a parent of ours had open is no business of the program.
    os.closerange(3, 1 << 12)
    if program == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            os.execvp(plan["program"][0], plan["program"])
        except OSError as error:
            sys.stderr.write(f"assent: the program was not started: {error}\n")
            sys.stderr.flush()
            os._exit(FAILED)
    os._exit(code_of(program))


def code_of(program: int) -> int:
    """Wait for the end of the program, and of whatever else has no parent any more; return its code as a shell does."""
    while True:
        process, status = os.wait()
        if process == program:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def inner(words: list[str]) -> int:
    """Start the inner ring, and return the process whose namespaces are its own, once all is mounted."""
    said, say = os.pipe()
    told, tell = os.pipe()
    heard, complain = os.pipe()
    monitor = os.fork()
    if monitor == 0:
        try:
            for each in (say, tell):
                os.set_inheritable(each, True)
            # Nor the terminal: whoever is in that ring can open what its first process has open.
            null = os.open("/dev/null", os.O_RDWR)
            for each, stream in ((null, 0), (null, 1), (complain, 2)):
                os.dup2(each, stream)
            holder = ("/bin/sh", "-c", f"echo >&{tell}; exec {tell}>&-; exec sleep infinity")
            # Whoever is in that ring can read what its first process was started with.
            os.execve(words[0], (*words, "--info-fd", str(say), "--", *holder), {"PATH": os.defpath})
        except OSError as error:
            os.write(2, f"assent: {error}\n".encode())
        os._exit(FAILED)
    os.close(say)
    os.close(tell)
    os.close(complain)
    text = b""
    while piece := os.read(said, 4096):
        text += piece
        if b"}" in text:
            break
    if not text or not os.read(told, 1):
        os.write(2, os.read(heard, 4096))
        raise OSError("the inner ring could not be made")
    for each in (said, told, heard):
        os.close(each)
    # It only waits for the end of the ring, and has no filter.
    os.kill(monitor, signal.SIGKILL)
    os.waitpid(monitor, 0)
    return int(json.loads(text)["child-pid"])


def uncover() -> None:
    """Mount /proc once more: bubblewrap covers parts of it for root, and the kernel then mounts none in a namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None):
        raise OSError(ctypes.get_errno(), "/proc cannot be mounted")


def give_up_power() -> None:
    """Make /proc read-only and give up every capability: the inner ring needed them. Only root had them."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(None, b"/proc", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, None):
        raise OSError(ctypes.get_errno(), "/proc cannot be made read-only")
    for number in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    libc.prctl(PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL, 0, 0, 0)
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    if libc.capset(header, none):
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")


def refuse(filter_: bytes) -> None:
    """Have the kernel refuse the calls that the filter names, to this process and all that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    steps = ctypes.create_string_buffer(filter_, len(filter_))
    program = struct.pack("@HP", len(filter_) // 8, ctypes.addressof(steps))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "system calls cannot be filtered")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a key of the terminal is for the program
    try:
        with open(int(sys.argv[1])) as orders:
            read = json.load(orders)
        main(read)
    except OSError as error:
        sys.stderr.write(f"assent: the program was not started: {error}\n")
        sys.exit(FAILED)
