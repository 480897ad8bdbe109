"""The feed of one container: what gVisor's kernel reports over a socket, read on a thread of its own.

The kernel never waits for it: what is not read in time it drops, and says how much. Nor does the console: each feed
may use a bounded share of the processor, and code that makes its kernel report more loses the rest.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from typing import TYPE_CHECKING

from runner.model.behaviour import NEVER_REPORTED, Behaviour
from runner.model.request import Language
from runner.sandbox.behaviour import BehaviourBook
from runner.sandbox.gvisor.run_trace import RIGHTS, RunTrace
from runner.sandbox.gvisor.trace_messages import HANDSHAKE, LARGEST, BadMessage, decoded

if TYPE_CHECKING:
    from pathlib import Path

SOCKET, SESSION = "t.sock", "trace.json"
"""In the folder of a container."""
HANDSHAKE_SECONDS = 20.0
SLICE_SECONDS, SLICE_SHARE = 0.1, 0.25
"""How much of each slice of time a feed may work."""
PAUSE_SECONDS, LONG_PAUSE_SECONDS = 0.003, 0.008
"""Between two looks, after MANY messages and after fewer; what comes meanwhile waits, some two hundred at most."""
START_PAUSE_SECONDS = 0.03
"""Between two looks while the interpreter starts: what it reports is not the code's doing, and may be dropped."""
MANY = 20
LAST_SECONDS = 0.5
"""For what is left to be read when a run is over; usual are some microseconds."""
BEGIN_SECONDS = 0.05
"""For what came before a run; the same."""
SUDDEN_SECONDS = 2.0
"""A feed that ends so long before its run has broken off; one that ends later has ended with it."""
WRAP = 1 << 32
RETRIES = 0
"""Of a message that finds no room: each slows the code by some hundred microseconds, and a flood by as many."""
BROKEN = "gVisor's report broke off while the run went on."
UNSEEN = "gVisor did not report that the code started."
ENDLESS = "gVisor did not report that the code ended; what it did last may be missing."
"""What is dropped is counted by the next message only, and there was none."""
_CONTEXT = ["group_id"]


def session(folder: Path, *, opens: bool = True, shared: bool = False) -> dict[str, object]:
    """Return what `runsc --pod-init-config` reads: which points report, and to which socket.

    Where it is `shared` by several containers, each says first which one it is.
    """
    names = (
        *(("container/start",) if shared else ()),
        *("sentry/clone", "sentry/execve", "sentry/exit_notify_parent", "syscall/execve/exit", "syscall/connect/enter"),
        *(f"syscall/sysno/{number}/enter" for number in RIGHTS),
    )
    points: list[dict[str, object]] = [{"name": name, "context_fields": _CONTEXT} for name in names]
    if opens:
        fields = [*_CONTEXT, "cwd"]
        points += [
            {"name": "syscall/openat/exit", "context_fields": fields, "optional_fields": ["fd_path"]},
            {"name": "syscall/open/exit", "context_fields": fields},
            {"name": "syscall/creat/exit", "context_fields": fields},
        ]
    sink = {
        "name": "remote",
        "config": {"endpoint": str(folder / SOCKET), "retries": RETRIES},
        "ignore_setup_error": True,  # the code runs all the same, and its record says that there is no report
    }
    return {"trace_session": {"name": "Default", "ignore_missing": True, "points": points, "sinks": [sink]}}


class KernelFeed:
    """Takes what the kernel of one container reports. Everything may be called on any thread."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._came = threading.Event()
        """Set once there is a line."""
        self._reading = threading.Lock()
        """Held by whoever reads from the line."""
        self._trace = RunTrace()
        self._book: BehaviourBook | None = None
        self._begun = threading.Event()
        """Set once there is a book."""
        self._dropped = self._before = self._unread = 0
        self._ended: float | None = None
        self._closing = threading.Event()
        """Set once nobody wants it any more."""

    # ---- for the run ----

    def begin(self, language: Language, *, networked: bool) -> None:
        """Begin to note what the code does that is started next."""
        if self._line is not None:
            with self._reading:  # that its interpreter has started is there already, and is not the code's doing
                self._read(time.monotonic() + BEGIN_SECONDS)
        self._book = BehaviourBook()
        self._before, self._unread = self._dropped, 0
        self._trace.begin(self._book, shell=language is Language.SHELL, networked=networked)
        self._begun.set()

    @property
    def changes(self) -> int:
        """A number that grows when there is news of the run."""
        return 0 if self._book is None else self._book.changes + self._lost

    @property
    def behaviour(self) -> Behaviour:
        """What is known of the run by now."""
        if self._line is None or self._book is None:
            return Behaviour(gap=NEVER_REPORTED)
        return self._book.behaviour(lost=self._lost)

    def finish(self, over: float) -> Behaviour:
        """Return what the run did that was over at the moment `over` (monotonic). Blocks for a moment."""
        self._came.wait(LAST_SECONDS)
        if self._line is None or self._book is None:
            return Behaviour(gap=NEVER_REPORTED)
        with self._reading:
            self._read(time.monotonic() + LAST_SECONDS)
        gap = UNSEEN if not self._trace.begun else "" if self._trace.over else ENDLESS
        if self._ended is not None and not self._trace.over and over - self._ended > SUDDEN_SECONDS:
            gap = BROKEN
        self._trace.stop()
        return self._book.behaviour(lost=self._lost, gap=gap)

    def break_off(self) -> None:
        """Have whoever follows it stop. Harmless when done before."""
        self._closing.set()
        self._begun.set()
        wake(self._line)

    # ---- on the thread ----

    @property
    def followed(self) -> bool:
        """Whether there is or was a line."""
        return self._line is not None

    def follow(self, line: socket.socket) -> None:
        """Take what comes over a line whose kernel has introduced itself, until it ends; then close it."""
        with line:
            line.setblocking(False)
            self._line = line
            self._came.set()
            poll = select.poll()
            poll.register(line, select.POLLIN)
            while not self._closing.is_set() and self._ended is None:
                poll.poll()
                begun, worked = time.monotonic(), time.thread_time()
                with self._reading:
                    read = self._read(begun + SLICE_SECONDS * SLICE_SHARE)
                if not self._begun.is_set():
                    self._begun.wait(START_PAUSE_SECONDS)
                    continue
                pause = PAUSE_SECONDS if read > MANY else LONG_PAUSE_SECONDS
                rest = (time.thread_time() - worked) / SLICE_SHARE - (time.monotonic() - begun)
                # Not woken for each message, which would take the processor from the code that is looked at.
                self._closing.wait(min(max(rest, pause), SLICE_SECONDS))

    @property
    def _lost(self) -> int:
        return (self._dropped - self._before) % WRAP + self._unread

    def _read(self, until: float) -> int:
        """Take what is there, until the moment `until` at most; return how many messages that were."""
        assert self._line is not None
        taken = 0
        while self._ended is None and time.monotonic() < until:
            try:
                data, _, flags, _ = self._line.recvmsg(LARGEST)
            except BlockingIOError:
                break
            except OSError:
                data, flags = b"", 0
            if not data:
                self._ended = time.monotonic()
                break
            taken += 1
            try:
                if flags & socket.MSG_TRUNC:
                    raise BadMessage
                message, self._dropped = decoded(data)
                if message is not None:
                    self._trace.take(message)
            except BadMessage:
                self._unread += 1
        return taken


class Feed(KernelFeed):
    """That of a container with a socket of its own: listens from before the container starts until it is gone."""

    def __init__(self, folder: Path, *, opens: bool = True) -> None:
        """Open the socket in `folder`. Raises OSError."""
        super().__init__()
        self.arguments = (f"--pod-init-config={folder / SESSION}",)
        """For the command that starts the container."""
        (folder / SESSION).write_text(json.dumps(session(folder, opens=opens)))
        self._door = opened(folder, 1)
        try:
            self._thread = threading.Thread(target=self._serve, name="gVisor feed", daemon=True)
            self._thread.start()
        except BaseException:
            self._door.close()
            raise

    def close(self) -> None:
        """End it. Harmless when done before."""
        wake(self._door)
        self.break_off()
        self._thread.join()

    def _serve(self) -> None:
        try:
            line, _ = self._door.accept()
        except OSError:  # closed before a kernel came
            return
        finally:
            self._door.close()
        if introduced(line):
            self.follow(line)


def opened(folder: Path, waiting: int) -> socket.socket:
    """Return the socket in `folder` to which kernels connect, `waiting` at a time. Raises OSError."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        door.bind(str(folder / SOCKET))
        (folder / SOCKET).chmod(0o600)
        door.listen(waiting)
    except BaseException:
        door.close()
        raise
    return door


def introduced(line: socket.socket) -> bool:
    """Return whether both sides have introduced themselves; where not, the line is closed."""
    try:
        line.settimeout(HANDSHAKE_SECONDS)
        if not line.recv(LARGEST).startswith(HANDSHAKE):
            raise OSError
        line.send(HANDSHAKE)
    except OSError:
        line.close()
        return False
    return True


def wake(end: socket.socket | None) -> None:
    """Have whoever waits for a socket stop."""
    if end is not None:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
