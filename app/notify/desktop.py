"""Notices on the desktop by the freedesktop interface: shown, replaced and taken back on a thread of their own."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
ANSWER_SECONDS = 3.0
SHOWN_MS = 8000
SOUND = "message-new-instant"
"""The freedesktop name of the sound of something that somebody waits for."""
REVIEW = "review"
"""The one action there is. A click on the notice itself is called `default` by the specification."""


@dataclass(frozen=True, slots=True)
class Said:
    """One notice. No text by an agent goes into it: some desktops take it for markup."""

    about: str
    """The request, or a word of the window's own; a later notice about the same replaces this one."""
    title: str
    text: str
    stays: bool = False
    """Until somebody deals with it."""
    sounds: bool = False
    """It is heard as well."""


class Desktop(QObject):
    """`say` and `unsay` return at once. Nothing is started before the first `say`."""

    clicked = Signal(str)
    """What the notice was about whose action or body was clicked."""
    silent = Signal()
    """A notice that sounds was shown by somebody who has no sounds."""
    missing = Signal()
    """There is nobody to show notices: say it another way."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._box: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._shown: set[str] = set()
        """What notices were about that were not taken back."""
        self._numbers: dict[str, int] = {}
        self._actions: list[str] = []
        self._has_sounds = False

    def say(self, said: Said) -> None:
        """Show it; `missing` where that cannot be done."""
        self._shown.add(said.about)
        self._send(lambda call: self._say(call, said))

    def unsay(self, about: str) -> None:
        """Take a notice back, where there is one."""
        if about not in self._shown:
            return
        self._shown.discard(about)
        if self._thread is not None and self._thread.is_alive():
            self._send(lambda call: self._unsay(call, about))

    def close(self) -> None:
        """Take everything back and end the thread; waits for at most a second."""
        self._closed = True
        if self._thread is not None:
            self._box.put(None)
            self._thread.join(1.0)

    # ---- in the thread ----

    def _send(self, job: Callable[[Any], None]) -> None:
        if self._closed:
            return
        self._box.put(job)
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._main, name="assent-notices", daemon=True)
            self._thread.start()

    def _main(self) -> None:
        # Imported here: most of the time nobody needs a notice.
        from jeepney.io.threading import Proxy, RouterClosed, open_dbus_router
        from jeepney.wrappers import DBusErrorResponse

        try:
            with open_dbus_router() as router:
                self._serve(router, Proxy)
        except (OSError, KeyError, ValueError, RuntimeError, TimeoutError, RouterClosed, DBusErrorResponse):
            # No bus, or nobody on it who shows notices. What waits in the box is announced another way.
            self._shown.clear()
            while not self._box.empty():
                self._box.get()
            if not self._closed:
                self.missing.emit()

    def _serve(self, router: Any, proxy: Any) -> None:
        from jeepney import DBusAddress, MatchRule, new_method_call
        from jeepney.bus_messages import message_bus
        from jeepney.wrappers import unwrap_msg

        rule = MatchRule(type="signal", interface=NAME, path=PATH)
        address = DBusAddress(PATH, NAME, NAME)

        def call(method: str, signature: str = "", values: tuple[object, ...] = ()) -> Any:
            message = new_method_call(address, method, signature or None, values)
            return unwrap_msg(router.send_and_get_reply(message, timeout=ANSWER_SECONDS))

        (abilities,) = call("GetCapabilities")
        # An action on a desktop that has none would be a promise that nothing keeps.
        self._actions = ["default", tr("Review"), REVIEW, tr("Review")] if "actions" in abilities else []
        self._has_sounds = "sound" in abilities
        self._numbers = {}
        proxy(message_bus, router, timeout=ANSWER_SECONDS).AddMatch(rule)
        with router.filter(rule, queue=self._box):
            while (job := self._box.get()) is not None:
                if callable(job):
                    job(call)
                else:
                    self._hear(job)
            for about in list(self._numbers):
                self._unsay(call, about)

    def _say(self, call: Any, said: Said) -> None:
        hints: dict[str, tuple[str, object]] = {
            "urgency": ("y", 2 if said.stays else 1),
            "desktop-entry": ("s", "assent"),
            # Some desktops have a sound for every notice that is urgent.
            **({"sound-name": ("s", SOUND)} if said.sounds else {"suppress-sound": ("b", True)}),
        }
        values = (
            "Assent",
            self._numbers.get(said.about, 0),
            "assent",
            said.title,
            said.text,
            self._actions,
            hints,
            0 if said.stays else SHOWN_MS,
        )
        (self._numbers[said.about],) = call("Notify", "susssasa{sv}i", values)
        self._shown.add(said.about)  # an earlier one about the same may have been closed since `say`
        if said.sounds and not self._has_sounds:
            self.silent.emit()

    def _unsay(self, call: Any, about: str) -> None:
        if (number := self._numbers.pop(about, None)) is not None:
            call("CloseNotification", "u", (number,))

    def _hear(self, message: Any) -> None:
        from jeepney import HeaderFields

        member = message.header.fields.get(HeaderFields.member)
        number = message.body[0] if message.body else None
        about = next((name for name, known in self._numbers.items() if known == number), None)
        if about is None:
            return
        if member == "ActionInvoked" and message.body[1] in ("default", REVIEW):
            self.clicked.emit(about)
        elif member == "NotificationClosed":
            del self._numbers[about]
            self._shown.discard(about)
