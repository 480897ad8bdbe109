"""Sets aside what the console has loaded, so that the collector of garbage need not walk through it again and again."""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

if TYPE_CHECKING:
    from app.state.cards import Cards

SETTLED_MS = 5000
"""With what has been loaded each full collection held up the window for 80 ms, without it for 3 ms (measured while a
run printed 50 MB/s). On a busy machine the engine is not there yet after this time: 59,000 objects came later, and a
full collection held every thread up three times while 100 callers called."""


def settle(cases: Cards, opened: bool = False) -> None:
    """Set aside what is there, again and again until the engine was `opened` for SETTLED_MS."""
    gc.freeze()
    if not opened:
        QTimer.singleShot(SETTLED_MS, cases, partial(settle, cases, bool(cases.address)))
