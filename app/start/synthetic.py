"""Keeps input events from the window that another program of the X server's made up."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractNativeEventFilter

if TYPE_CHECKING:
    from PySide6.QtCore import QByteArray

XCB = b"xcb_generic_event_t"
SEND_EVENT = 0x80
"""The bit of an event's type that the X server sets where a program sent it (XSendEvent). Nobody can leave it out."""
INPUT = range(2, 11)
"""Keys, buttons, the pointer and the focus: KeyPress (2) to FocusOut (10) of the core protocol."""


class SyntheticInput(QAbstractNativeEventFilter):
    """Drops input that was sent to the window and pressed nowhere; all others are passed on.

    What the XTEST extension makes looks like a device, and Wayland has no such events: there a program needs
    the desktop's own consent to make input.
    """

    def nativeEventFilter(self, kind: QByteArray | bytes | bytearray | memoryview, message: int) -> tuple[bool, int]:
        """Return whether to drop this event, and 0 as its result."""
        return kind == XCB and is_synthetic(ctypes.c_uint8.from_address(int(message)).value), 0


def is_synthetic(response_type: int) -> bool:
    """Return whether the first byte of an event says that it is input and that a program sent it."""
    return bool(response_type & SEND_EVENT) and response_type & ~SEND_EVENT in INPUT
