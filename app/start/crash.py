"""Every uncaught error to one place: on disk at once, in the window now, and at the next start."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, TextIO

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, Slot, qInstallMessageHandler

from runner.system.plain_file import open_file, read_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from pathlib import Path
    from types import TracebackType

    from runner.system.places import Places

log = logging.getLogger(__name__)

SHOWN_LENGTH = 100_000
"""Characters of an earlier log that are shown; its end says most."""
DISTINCT = 100
"""Different errors written in one session: one that repeats with every repaint is written once."""


class Faults(QObject):
    """Writes what nobody caught to `places.faults` and tells the window. Any thread.

    `install` comes first of all; `earlier` and `watch` once it is certain that this is the only console, because
    they take over the file.
    """

    happened = Signal(str)
    """The last line of an error that was just written."""
    _recorded = Signal(str)

    def __init__(self, places: Places, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = places.faults
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._stream: TextIO | None = None
        self._recorded.connect(self.happened, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Catch what nobody else does: in slots, in threads, in finalizers, and Qt's own messages."""
        sys.excepthook = self._uncaught
        threading.excepthook = self._in_thread
        sys.unraisablehook = self._unraisable
        qInstallMessageHandler(self._qt_said)

    def remove(self) -> None:
        """Put the interpreter's own hooks back."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__
        qInstallMessageHandler(None)
        if self._stream is not None:
            faulthandler.disable()
            self._stream.close()
            self._stream = None

    def earlier(self) -> str:
        """Return what the session before left behind, set aside as it is read; empty when it ended well."""
        try:
            text = read_file(self._path).decode("utf-8", "replace")
            if text.strip():
                self._path.replace(self.aside)
            return text[-SHOWN_LENGTH:].strip()
        except OSError:
            return ""

    @property
    def aside(self) -> Path:
        """Where the log of the session before is kept."""
        return self._path.with_suffix(".earlier.log")

    def watch(self) -> None:
        """Have the interpreter write its stacks to the file when the process itself crashes."""
        with contextlib.suppress(OSError):
            self._stream = self._open()
            faulthandler.enable(self._stream)

    def record(self, error: BaseException, where: str) -> None:
        """Write one error down, durably, and tell the window. Never raises."""
        text = "".join(traceback.format_exception(error)).rstrip()
        self._write(where, text)

    # ---- the hooks ----

    def task_failed(self, _loop: AbstractEventLoop, context: dict[str, Any]) -> None:
        """Record errors of tasks and callbacks that nobody awaits; the handler of the window's loop."""
        what = str(context.get("message", ""))
        self.record(context.get("exception") or RuntimeError(what), f"in the window's loop: {what}")

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            self.record(error.with_traceback(trace), "in the window")

    def _in_thread(self, failure: threading.ExceptHookArgs) -> None:
        if failure.exc_value is not None:
            self.record(failure.exc_value, f"in thread {failure.thread.name if failure.thread else '?'}")

    def _unraisable(self, failure: sys.UnraisableHookArgs) -> None:
        if failure.exc_value is not None:
            self.record(failure.exc_value, f"while cleaning up {failure.object!r}")

    def _qt_said(self, kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        if kind is QtMsgType.QtFatalMsg:
            self._write("in Qt", text)
        elif kind in (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg):
            log.warning("Qt: %s", text)

    # ---- the file ----

    def _write(self, where: str, text: str) -> None:
        with self._lock:
            if text in self._seen or len(self._seen) >= DISTINCT:
                return
            self._seen.add(text)
            with contextlib.suppress(OSError), self._open() as stream:
                stream.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {where}\n{text}\n\n")
                stream.flush()
                os.fsync(stream.fileno())
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"assent: {where}\n{text}\n")
        # The object may be gone while the interpreter closes down.
        with contextlib.suppress(RuntimeError):
            self._recorded.emit(text.rsplit("\n", 1)[-1])

    def _open(self) -> TextIO:
        make_folder(self._path.parent)
        return open(open_file(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "a", encoding="utf-8")

    @Slot(object, str)
    def engine_failed(self, error: BaseException, where: str) -> None:
        """Record errors of the engine that nobody awaits; called in its thread."""
        self.record(error, f"in the engine: {where}")
