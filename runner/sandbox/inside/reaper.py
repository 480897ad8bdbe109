"""Parent of code that runs without namespaces: sets its limits and leaves none of its processes behind.

Usage: reaper.py NAME=VALUE,... COMMAND... with names of the `resource` module without `RLIMIT_`.
As a child subreaper it inherits whatever the code detaches. When the command ends, on SIGTERM, or when the
console dies, everything below it is killed. It ends as the command ended (128 + signal for a signal).
"""

import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
LISTENED = {signal.SIGCHLD, signal.SIGTERM}


def main(limits: dict[str, int], command: list[str]) -> int:
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, LISTENED)
    child = os.fork()
    if child == 0:
        become(limits, command)
    status = wait(child)
    kill_all()
    if status is None:
        return 128 + signal.SIGKILL
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def become(limits: dict[str, int], command: list[str]) -> None:
    try:
        for name, value in limits.items():
            _, hard = resource.getrlimit(getattr(resource, "RLIMIT_" + name))
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (bound, bound))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, LISTENED)
        os.execv(command[0], command)
    finally:
        os._exit(127)


def wait(child: int) -> int | None:
    """Return the command's wait status, or None where SIGTERM came first."""
    while signal.sigwaitinfo(LISTENED).si_signo == signal.SIGCHLD:
        while (ended := _reap()) is not None:
            if ended[0] == child:
                return ended[1]
    return None


def _reap() -> tuple[int, int] | None:
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def kill_all() -> None:
    """Stop, then kill, whatever is below, until there is nothing left to wait for."""
    while True:
        below = descendants(os.getpid())
        for signum in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                try:
                    os.kill(pid, signum)
                except ProcessLookupError:
                    continue
        try:
            while os.waitpid(-1, 0 if not descendants(os.getpid()) else os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child, *descendants(child)]
    except OSError:
        pass
    return found


if __name__ == "__main__":
    given = dict(pair.split("=") for pair in sys.argv[1].split(",") if pair)
    sys.exit(main({name: int(value) for name, value in given.items()}, sys.argv[2:]))
