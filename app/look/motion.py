"""Asks the desktop whether things may move: what people set who get ill or lose the thread when they do."""

from __future__ import annotations

from typing import Any

NAME, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
ANSWER_SECONDS = 2.0


def wanted_still() -> bool:
    """Return what the settings portal says, blocking for seconds at most; False where there is nobody to ask."""
    # Imported here: on a thread of its own, after the window is on the screen.
    from jeepney import DBusAddress
    from jeepney.io.blocking import open_dbus_connection

    address = DBusAddress(PATH, NAME, "org.freedesktop.portal.Settings")
    try:
        with open_dbus_connection() as bus:
            reduced = _read(bus, address, "org.freedesktop.appearance", "reduced-motion")
            animated = _read(bus, address, "org.gnome.desktop.interface", "enable-animations")
    except (OSError, KeyError, ValueError, RuntimeError, TimeoutError):
        return False
    return reduced == 1 or animated is False


def _read(bus: Any, address: Any, group: str, name: str) -> object:
    """Return a setting of the desktop; None where it does not have it."""
    from jeepney import MessageType, new_method_call

    message = new_method_call(address, "Read", "ss", (group, name))
    answer = bus.send_and_get_reply(message, timeout=ANSWER_SECONDS)
    if answer.header.message_type is not MessageType.method_return or not answer.body:
        return None
    # A variant, and with older portals one in another.
    value: Any = answer.body[0]
    while isinstance(value, tuple) and len(value) == 2:
        value = value[1]
    return value
