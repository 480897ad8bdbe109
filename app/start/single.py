"""One console at a time: the second one raises the window of the first and leaves."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal, Slot

from runner.model.errors import KnownError
from runner.system.private_folder import make_folder
from runner.system.socket_address import short_address

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)

ANSWER_SECONDS = 3.0
"""How long the second console waits for the first to answer."""
SPEAK_MS = 200
"""How long a caller may keep silent while others wait; a second console speaks at once."""
RAISE = b"raise\n"
RAISED = b"raised\n"


class Single(QObject):
    """Whoever holds the lock beside the socket is the first.

    The lock goes with its process, however that ends, so a socket left behind by a crash is known to be stale.
    """

    raise_window = Signal()
    """Somebody started a second console."""

    def __init__(self, address: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._address = address
        self._lock: int | None = None
        self._listener: socket.socket | None = None
        self._notifier: QSocketNotifier | None = None
        self._caller: tuple[socket.socket, QSocketNotifier] | None = None
        self._hurry = QTimer(self, singleShot=True, interval=SPEAK_MS)
        self._hurry.timeout.connect(self._dismiss)

    def claim(self) -> bool:
        """Become the first console; return False where there is one. Raises KnownError for an unusable folder."""
        try:
            make_folder(self._address.parent)
            lock = os.open(self._address.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            what = f"Assent cannot use its folder {self._address.parent}: {error.strerror}."
            raise KnownError(what, "Give yourself the right to write there.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        self._listen()
        return True

    def call_first(self) -> bool:
        """Ask the first console to come to the front; return False where it does not answer."""
        with socket.socket(socket.AF_UNIX) as caller, contextlib.suppress(OSError):
            caller.settimeout(ANSWER_SECONDS)
            with short_address(self._address) as name:
                caller.connect(name)
            caller.sendall(RAISE)
            return caller.recv(len(RAISED)) == RAISED
        return False

    def release(self) -> None:
        """Make room for the next console."""
        if self._notifier is not None:
            self._notifier.setEnabled(False)
            self._notifier = None
        self._dismiss()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
            self._address.unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _listen(self) -> None:
        """Listen for second consoles; where that fails, they cannot raise this one."""
        listener = socket.socket(socket.AF_UNIX)
        try:
            self._address.unlink(missing_ok=True)
            with short_address(self._address) as name:
                listener.bind(name)
            self._address.chmod(0o600)
        except OSError as error:
            listener.close()
            log.warning("no second console can raise this one: %s", error)
            return
        listener.setblocking(False)
        listener.listen(4)
        self._listener = listener

    def watch(self) -> None:
        """Hear second consoles from now on. Once there is an application: before, a notifier never fires."""
        if self._listener is None:
            return
        self._notifier = QSocketNotifier(self._listener.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._called)

    @Slot()
    def _called(self) -> None:
        """Take one caller; the next one waits until this one has spoken or its time is up."""
        assert self._listener is not None and self._notifier is not None
        with contextlib.suppress(OSError):
            caller, _ = self._listener.accept()
            caller.setblocking(False)
            self._notifier.setEnabled(False)
            self._caller = caller, QSocketNotifier(caller.fileno(), QSocketNotifier.Type.Read, self)
            self._caller[1].activated.connect(self._spoken)
            self._hurry.start()

    @Slot()
    def _spoken(self) -> None:
        if self._caller is None:
            return
        with contextlib.suppress(OSError):
            # Only this user can reach the socket, and all it can do is to raise the window.
            if self._caller[0].recv(len(RAISE)) == RAISE:
                self._caller[0].sendall(RAISED)
                self.raise_window.emit()
        self._dismiss()

    @Slot()
    def _dismiss(self) -> None:
        """Leave the caller, and hear the next one."""
        self._hurry.stop()
        if self._caller is not None:
            caller, notifier = self._caller
            self._caller = None
            notifier.setEnabled(False)
            notifier.deleteLater()
            caller.close()
        if self._notifier is not None:
            self._notifier.setEnabled(True)
