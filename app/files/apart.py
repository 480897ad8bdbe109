"""Reads files that code left in processes of their own, so that no file can harm the console.

What takes too much memory or time ends its process; the file is then shown as bytes, with what happened.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from app.files.answer import MOST_ANSWER, NoPreview, unpack
from app.files.found import Text, form_of
from app.files.preview import hexadecimal
from app.files.reading_process import NO_MEMORY
from runner.model.errors import KnownError
from runner.model.translation import chosen, tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.files.found import Preview

log = logging.getLogger(__name__)

MEMORY = 512 << 20
"""Bytes that reading a file may take."""
SECONDS = 5
"""Processor time that reading a file may take."""
PATIENCE = 6
"""Times that, on the clock: a busy machine hardly lets the process run."""
QT = {"MALLOC_ARENA_MAX": "1", "QT_NO_GLIB": "1"}
"""For the thread that Qt begins for large pictures: no 64 MB of its own, and nothing that looks for files."""
COMMAND = (
    "import sys; sys.path[:] = sys.argv[7:]; from runner.model.translation import choose; "
    "from runner.system.shipped import resources; choose(sys.argv[6], resources() / 'languages'); "
    "from app.files.reading_process import main; main(*map(int, sys.argv[1:5]), sys.argv[5])"
)
"""The same code as this process has, wherever that was found; with `-I` and `-S` nothing else from its surroundings."""


class NotWanted(Exception):
    """Nobody waits for this preview any more."""


class ReadingProcess:
    """The process that reads one file. `preview` is called once, on any thread; `end` on any other."""

    def __init__(self, memory: int = MEMORY, seconds: int = SECONDS, *, for_card: bool = False) -> None:
        """`for_card`: what is read is drawn and short, for a card of the results, in place of the file as it is."""
        self._for_card = for_card
        self._memory = memory
        self._seconds = seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._late = False

    def preview(self, read: Callable[[], bytes], path: str) -> Preview:
        """Return what to show for the file of name `path` whose content `read` gives.

        Raises what `read` raises, NotWanted after `end`, and KnownError where no process can be started.
        """
        if self._ended:
            raise NotWanted
        data = read()
        process = self._start(path)
        timer = threading.Timer(self._seconds * PATIENCE, self._time_is_up)
        timer.daemon = True
        timer.start()
        try:
            answer = _exchanged(process, data)
        finally:
            timer.cancel()
            process.kill()
            status = process.wait()
        if self._ended:
            raise NotWanted
        if status == 0 and len(answer) <= MOST_ANSWER:
            with contextlib.suppress(NoPreview):
                return unpack(answer)
        return self._not_shown(data, status)

    def end(self) -> None:
        """End it, as nobody waits for the preview. A second time, and after its end, does nothing."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def _time_is_up(self) -> None:
        with self._lock:
            self._late = True
            if self._process is not None:
                self._process.kill()

    def _start(self, path: str) -> subprocess.Popen[bytes]:
        """Raises NotWanted, and KnownError. The kernel ends the process with the thread that started it."""
        numbers = map(str, (os.getpid(), self._memory, self._seconds, int(self._for_card)))
        # Half of a surrogate pair cannot be handed on; only the end of the name is looked at.
        name = path.encode("ascii", "replace").decode()[-100:].replace("\0", "?")
        with self._lock:
            if self._ended:
                raise NotWanted
            try:
                self._process = subprocess.Popen(
                    (sys.executable, "-I", "-S", "-c", COMMAND, *numbers, name, chosen(), *filter(None, sys.path)),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", **QT},
                    cwd="/",
                )
            except OSError as error:
                what = tr("No process to read it in could be started: {strerror}.", strerror=error.strerror)
                raise KnownError(what, tr("Free memory, or save the file and open it elsewhere.")) from error
            return self._process

    def _not_shown(self, data: bytes, status: int) -> Text:
        """Return the bytes of a file that ended its process, with what can be said about that."""
        log.warning("the process that reads a file of %d bytes ended with %d", len(data), status)
        memory = f"{self._memory >> 20} MB"
        if self._late or status == -signal.SIGXCPU:
            why = tr("it needs more than {seconds} s", seconds=self._seconds)
        elif status == NO_MEMORY:
            why = tr("it needs more than {memory}", memory=memory)
        else:
            why = tr("it needs more than {memory}, or breaks the program that reads it", memory=memory)
        what = tr("This picture could not be drawn") if form_of(data) else tr("This file could not be read")
        return hexadecimal(data, f"{what}: {why}.")


def _exchanged(process: subprocess.Popen[bytes], data: bytes) -> bytes:
    """Return what `process` says to `data`, and no more than one byte above what it may."""
    assert process.stdin is not None and process.stdout is not None
    with process.stdout as answers:
        with contextlib.suppress(OSError), process.stdin as line:  # it may have ended before it has read all
            line.write(data)
        return answers.read(MOST_ANSWER + 1)
