"""Watches one child in a thread: reads its output, enforces its limits, ends it."""

from __future__ import annotations

import os
import resource
import select
import threading
import time
from typing import TYPE_CHECKING

from runner.model.result import Outcome, Usage
from runner.sandbox.local.meter import Meter
from runner.sandbox.output import Stream, Transcript
from runner.sandbox.verdict import RunEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.request import Limits
    from runner.sandbox.local.child import Child

CHUNK = 1 << 18
GRACE = 0.5
"""Seconds from SIGTERM to SIGKILL: the whole console has 2 s to leave."""
LAST_GRACE = 2.0
"""Seconds from SIGKILL below the launcher to SIGKILL of the launcher."""
DRAIN_SECONDS = 1.0
"""For output that is still in the pipes when everything has ended."""
FIRST_READING = 0.03
READING_EVERY = 0.1
OUTPUT_STOP = 64
"""A program that has written so many times its output limit is ended."""
OUTPUT_STOP_LEAST = 64 << 20


class Watch:
    """One child. `run` is called once, in the thread that started the child: bubblewrap dies with that thread."""

    def __init__(
        self, child: Child, limits: Limits, transcript: Transcript, asked: StopSignal, measured: Callable[[Usage], None]
    ) -> None:
        self._child = child
        self._limits = limits
        self._transcript = transcript
        self._asked = asked
        self._meter = Meter(child, limits, measured)
        self._why: Outcome | None = None
        self._reason = ""
        self._kill_at = float("inf")
        self._killed = False
        self._poll = select.poll()
        self._streams: dict[int, Stream] = {}
        self._begun = time.monotonic()

    def run(self) -> RunEnd:
        """Blocks until the child and everything below it is gone and its output is read."""
        process = self._child.process
        own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pidfd = os.pidfd_open(process.pid)
        root = self._open_root()
        try:
            self._open(pidfd)
            self._follow(pidfd)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.monotonic() - self._begun
            process.returncode = os.waitstatus_to_exitcode(status)
            self._poll.unregister(pidfd)
            self._outlive(root)
            self._drain()
            if self._meter.conclude():
                self._why = self._why or Outcome.OUT_OF_MEMORY
        finally:
            os.close(pidfd)
            if root is not None:
                os.close(root)
            self._close()
        # Linux counts the peak of the process that forked it as the child's: only a higher one is its own.
        own = usage.ru_maxrss * 1024 if usage.ru_maxrss > own_peak else 0
        code = process.returncode
        return RunEnd(
            status=code if code >= 0 else 128 - code,
            seconds=seconds,
            why=self._why,
            reason=self._reason,
            curve=self._meter.curve,
            peak_memory=max(own, self._meter.peak_memory),
            disk_is_full=self._meter.disk_is_full,
        )

    def _open_root(self) -> int | None:
        """Return a descriptor of the process above the code, where that is not the launcher itself."""
        if self._child.root == self._child.process.pid:
            return None
        try:
            return os.pidfd_open(self._child.root)
        except ProcessLookupError:
            return None

    def _outlive(self, root: int | None) -> None:
        """Bubblewrap ends as soon as the code does; what the code left behind dies with the first process inside."""
        if root is None:
            return
        gone = select.poll()
        gone.register(root, select.POLLIN)
        if not gone.poll(LAST_GRACE * 1000):
            self._child.end()
            gone.poll(LAST_GRACE * 1000)

    def _open(self, pidfd: int) -> None:
        out, err = self._child.process.stdout, self._child.process.stderr
        assert out is not None
        assert err is not None
        self._streams = {out.fileno(): Stream.OUT, err.fileno(): Stream.ERR}
        for fd in (*self._streams, pidfd, self._asked.fd):
            self._poll.register(fd, select.POLLIN)

    def _follow(self, pidfd: int) -> None:
        """Watch the child until it has ended."""
        deadline = self._begun + self._limits.seconds
        next_reading = self._begun + FIRST_READING
        while True:
            wake = min(next_reading, self._kill_at, deadline if self._why is None else self._kill_at)
            ready = [fd for fd, _ in self._poll.poll(max(0.0, wake - time.monotonic()) * 1000)]
            self._read(ready)
            if pidfd in ready:
                return
            if self._asked.fd in ready:
                self._poll.unregister(self._asked.fd)
                self._end(Outcome.KILLED, self._asked.why, GRACE)
            now = time.monotonic()
            if now >= deadline:
                self._end(Outcome.TIMED_OUT, "", GRACE)
            if now >= next_reading:
                next_reading = now + READING_EVERY
                if passed := self._meter.read():
                    self._end(*passed, 0.0)
            if now >= self._kill_at:
                self._kill(now)

    def _read(self, ready: list[int]) -> None:
        """Read one chunk of each stream that is ready."""
        for fd in ready:
            if (stream := self._streams.get(fd)) is None:
                continue
            if data := os.read(fd, CHUNK):
                self._transcript.append(stream, data)
            else:
                self._poll.unregister(fd)
                del self._streams[fd]
        if self._transcript.total > output_stop(self._limits):
            self._end(Outcome.OUTPUT_LIMIT, "", 0.0)

    def _end(self, why: Outcome, reason: str, grace: float) -> None:
        """Begin to end the child; the first reason counts."""
        if self._why is not None:
            return
        self._why, self._reason = why, reason
        self._kill_at = time.monotonic() + grace
        if grace:
            self._child.ask_to_end()

    def _kill(self, now: float) -> None:
        self._kill_at = now + LAST_GRACE
        if self._killed:
            self._child.give_up()
        else:
            self._child.end()
        self._killed = True

    def _drain(self) -> None:
        """Read the rest of the pipes. No process that could write is alive, so they end at once."""
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._streams and time.monotonic() < deadline:
            self._read([fd for fd, _ in self._poll.poll(DRAIN_SECONDS * 1000)])

    def _close(self) -> None:
        for pipe in (self._child.process.stdout, self._child.process.stderr):
            if pipe is not None:
                pipe.close()


class StopSignal:
    """A signal to end a watch, from any thread. The first reason counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.why = ""
        self._given = False
        self._closed = False

    def give(self, why: str) -> None:
        with self._lock:
            if not (self._given or self._closed):
                self._given, self.why = True, why
                os.eventfd_write(self.fd, 1)

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self.fd)


def output_stop(limits: Limits) -> int:
    """Return the number of output bytes after which a program is ended."""
    return max(OUTPUT_STOP * limits.output_bytes, OUTPUT_STOP_LEAST)
