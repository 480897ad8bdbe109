"""Input that a program sent is not taken for input that somebody made; by real events: tests/path/test_console.py."""

from __future__ import annotations

import ctypes

import pytest

from app.start.synthetic import SEND_EVENT, XCB, SyntheticInput

KEY_PRESS, BUTTON_PRESS, FOCUS_IN, EXPOSE, CONFIGURE, CLIENT_MESSAGE = 2, 4, 9, 12, 22, 33


@pytest.mark.parametrize(
    ("kind", "first_byte", "dropped"),
    [
        (XCB, KEY_PRESS | SEND_EVENT, True),
        (XCB, BUTTON_PRESS | SEND_EVENT, True),
        (XCB, FOCUS_IN | SEND_EVENT, True),
        (XCB, KEY_PRESS, False),
        (XCB, BUTTON_PRESS, False),
        (XCB, EXPOSE | SEND_EVENT, False),
        # Window managers send these two.
        (XCB, CONFIGURE | SEND_EVENT, False),
        (XCB, CLIENT_MESSAGE | SEND_EVENT, False),
        (b"another kind of event", KEY_PRESS | SEND_EVENT, False),
    ],
)
def test_only_input_that_a_program_sent_is_dropped(kind: bytes, first_byte: int, dropped: bool) -> None:
    event = (ctypes.c_uint8 * 32)(first_byte)
    assert SyntheticInput().nativeEventFilter(kind, ctypes.addressof(event)) == (dropped, 0)
