"""The name server of a relay: answers any query within bounds, alike each time, with addresses that lead back."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from runner.sandbox.container.inside.relay import InventedNames
from tests.fuzz.mutation import generated, mutated

if TYPE_CHECKING:
    import random

QUERY = b"\x12\x34\x01\x00\0\1\0\0\0\0\0\0\4good\7example\0\0\1\0\1"
KNOWN = (QUERY, QUERY[:-3] + b"\x1c\0\1", QUERY[:12] + b"\xc0\x0c\0\1\0\1", QUERY[:12] + b"\0\0\1\0\1", b"")


def check(data: bytes) -> None:
    """Fail where an answer is none of the query, or an address leads to no name."""
    names = InventedNames()
    answer = names.answer(data)
    assert answer == names.answer(data)
    assert len(names._names) <= 1
    if answer:
        assert answer[:2] == data[:2] and len(answer) <= len(data) + 16
        if int.from_bytes(answer[6:8], "big"):
            address = socket.inet_ntoa(answer[-4:])
            assert address == "127.0.0.1" or names.name(address) == names._names[0]


def run(seconds: float, seed: int) -> int:
    return generated("relay_names", made, check, seconds, seed)


def made(source: random.Random) -> bytes:
    if source.random() < 0.3:
        labels = [source.randbytes(source.randint(1, 70)) for _ in range(source.randint(0, 6))]
        return QUERY[:12] + b"".join(bytes([len(one) % 256]) + one for one in labels) + QUERY[-5:]
    return mutated(source, KNOWN)
