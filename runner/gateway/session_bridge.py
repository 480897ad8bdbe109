"""The stdio bridge for a program at work: the same, on this side of its rings, for as many calls as one program has."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, BinaryIO

from runner.gateway import catalog
from runner.gateway.bridge import StdioBridge
from runner.gateway.stdio import StdioClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.gateway.messages import Json
    from runner.system.places import Places

MOST_CALLS = 32
"""Messages of one client that are on their way to the console at once; the next one is read when one is answered."""
HEADER = "Assent-Work"
"""Names the working copy and the key of the program at work there."""


def serve(places: Places, token: str, name: str, key: str, lines: Iterator[bytes], out: BinaryIO, hold: str) -> None:
    """Answer the client of a program at work until `lines` end. Blocks."""
    further = {"Assent-Session": os.urandom(8).hex(), HEADER: f"{name} {key}"}
    bridge = SessionBridge(places, token, hold, _QuietClient(out), further)
    with contextlib.suppress(OSError, ValueError):
        bridge.serve(lines)


class _QuietClient(StdioClient):
    """A client that may be gone: whoever is on the terminal is not to read of it."""

    def send(self, message: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            super().send(message)


class SessionBridge(StdioBridge):
    """The bridge with a bound on what it has under way: its client is whoever is in the rings."""

    def __init__(self, places: Places, token: str, wait: str, client: StdioClient, further: dict[str, str]) -> None:
        super().__init__(places, token, wait, client, further)
        self._under_way = 0
        self._changed = threading.Condition()

    def serve(self, lines: Iterator[bytes]) -> None:
        """Forward messages until there are no more."""
        try:
            for line in lines:
                with self._changed:
                    self._changed.wait_for(lambda: self._under_way < MOST_CALLS)
                if line.strip():
                    self._take(line)
        finally:
            self.leave()

    def _listed(self, request: Json) -> Json:
        return {"tools": catalog.offered("", at_work=True)}

    def carry(self, message: Json) -> None:
        with self._changed:
            self._under_way += 1
        try:
            super().carry(message)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()
