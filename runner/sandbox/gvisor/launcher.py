"""Starts long-running programs on one thread that outlives them: the kernel ends them with it (prctl(2))."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from runner.sandbox.gvisor.program import MORTAL
from runner.sandbox.local.leftovers import MARKER

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
START_SECONDS = 20.0
"""For the system to start a program; usual are three milliseconds."""


class RunscLauncher:
    """The kernel ends what was started here when the console ends, however that comes about."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[tuple[Future[subprocess.Popen[bytes]], _Order] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(
        self, words: Sequence[str], streams: tuple[int, int, int], name: str, entry: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Start the program `words` of the run `name`; `entry` are those of its control group.

        Blocks. Raises OSError and TimeoutError.
        """
        done: Future[subprocess.Popen[bytes]] = Future()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="gVisor launcher", daemon=True)
                self._thread.start()
            self._work.put((done, _Order([*entry, *MORTAL, *words], streams, name)))
        try:
            return done.result(START_SECONDS)
        except TimeoutError:
            done.add_done_callback(_kill)
            raise

    def close(self) -> None:
        """End the thread, and with it everything that was started here and still runs."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._work.put(None)
        if thread is not None:
            thread.join(START_SECONDS)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            done, order = work
            try:
                process = order.carried_out()
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(process)
                del process
            del work, done, order


class _Order:
    def __init__(self, words: list[str], streams: tuple[int, int, int], name: str) -> None:
        self._words = words
        self._streams = streams
        self._name = name

    def carried_out(self) -> subprocess.Popen[bytes]:
        stdin, stdout, stderr = self._streams
        return subprocess.Popen(
            self._words,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd="/",
            env={"PATH": PATH, "LC_ALL": "C.UTF-8", MARKER: self._name},
            start_new_session=True,
        )


def _kill(done: Future[subprocess.Popen[bytes]]) -> None:
    """End a program whose start nobody awaits any more."""
    with contextlib.suppress(OSError):
        process = done.result()
        process.kill()
        process.wait()
