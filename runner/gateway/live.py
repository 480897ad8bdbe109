"""Output on its way to a program that prints it as it comes: every byte, with its place among all. Standard library."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.sandbox.output import OutputPiece

ERRORS = 2
"""Number of the stream for errors."""


class LivePiece(NamedTuple):
    """Bytes of one stream, from `offset` among those of both on."""

    offset: int
    stream: int
    data: bytes


def packed(state: str, pieces: Iterable[OutputPiece]) -> str:
    """Return the text of a progress message with the state of the request and new output."""
    output = [[one.offset, int(one.stream), base64.b64encode(one.data).decode("ascii")] for one in pieces]
    return json.dumps({"state": state, "output": output})


def unpacked(message: str) -> tuple[str, list[LivePiece]]:
    """Return state and output of a progress message. A message without output is all state."""
    try:
        fields = json.loads(message)
        pieces = [LivePiece(int(at), int(stream), base64.b64decode(data)) for at, stream, data in fields["output"]]
        return str(fields["state"]), pieces
    except (ValueError, KeyError, TypeError):
        return message, []


class Received:
    """The place up to which output has arrived: what comes twice is given once, and what is missing is counted."""

    def __init__(self) -> None:
        self.position = 0
        self.missing = 0

    def news(self, piece: LivePiece) -> bytes:
        """Return the part of `piece` that has not arrived before."""
        self.missing += max(0, piece.offset - self.position)
        data = piece.data[max(0, self.position - piece.offset) :]
        self.position = max(self.position, piece.offset + len(piece.data))
        return data
