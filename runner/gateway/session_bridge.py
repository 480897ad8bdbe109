"""The stdio bridge for a program at work: the same, on this side of its rings, for as many calls as one program has."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from runner.gateway import catalog
from runner.gateway.bridge import INVALID_REQUEST, StdioBridge
from runner.gateway.stdio import StdioClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.gateway.messages import Json
    from runner.system.places import Places

MOST_CALLS = 32
"""Messages of one client that are on their way to the console at once; the next one is read when one is answered."""
HEADER = "Assent-Work"
"""Names the working copy and the key of the program at work there."""


LONGEST_INTRODUCTION = 1 << 16
"""Bytes of `initialize`, which is kept for as long as its connection is open."""


def serve(
    places: Places,
    token: str,
    name: str,
    key: str,
    lines: Iterator[bytes],
    out: BinaryIO,
    hold: str,
    done: Callable[[int], None],
) -> None:
    """Answer the client of a program at work until `lines` end. Blocks. `done` gets the bytes of each one answered."""
    further = {"Assent-Session": os.urandom(8).hex(), HEADER: f"{name} {key}"}
    bridge = SessionBridge(places, token, hold, _QuietClient(out), further, done)
    with contextlib.suppress(OSError, ValueError):
        bridge.serve(lines)


class _QuietClient(StdioClient):
    """A client that may be gone: whoever is on the terminal is not to read of it."""

    def send(self, message: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            super().send(message)


class SessionBridge(StdioBridge):
    """The bridge with a bound on what it has under way: its client is whoever is in the rings."""

    def __init__(
        self,
        places: Places,
        token: str,
        wait: str,
        client: StdioClient,
        further: dict[str, str],
        done: Callable[[int], None],
    ) -> None:
        super().__init__(places, token, wait, client, further)
        self._done = done
        self._under_way = 0
        self._changed = threading.Condition()

    def serve(self, lines: Iterator[bytes]) -> None:
        """Forward messages until there are no more."""
        try:
            for line in lines:
                with self._changed:
                    self._changed.wait_for(lambda: self._under_way < MOST_CALLS)
                if line.strip():
                    self._take(line, partial(self._done, len(line)))
                else:
                    self._done(len(line))
                line = b""  # not kept while the next one is waited for
        finally:
            self.leave()

    def _listed(self, request: Json) -> Json:
        return {"tools": catalog.offered("", at_work=True)}

    def carry(self, message: Json) -> None:
        if message.get("method") == "initialize" and len(json.dumps(message)) > LONGEST_INTRODUCTION:
            text = f"This `initialize` is longer than the {LONGEST_INTRODUCTION // 1024} KiB that are taken."
            self._client.error(message.get("id"), INVALID_REQUEST, text)
            return
        with self._changed:
            self._under_way += 1
        try:
            super().carry(message)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()
