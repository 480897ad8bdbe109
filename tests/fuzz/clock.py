"""Inputs one after the other until the time is up, each within a time limit of its own."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SLOWEST = 2.0
"""Seconds for one input on a busy machine; an input that takes longer is a finding."""


class TooSlow(AssertionError):
    """An input that was read, but not in time."""


def tried(seconds: float, seed: int, make: Callable[[random.Random], bytes], check: Callable[[bytes], None]) -> int:
    """Give `check` what `make` makes for `seconds`; return the number of inputs. Raises what `check` raises."""
    source = random.Random(seed)
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        data = make(source)
        begun = time.monotonic()
        try:
            check(data)
        except Exception as error:
            error.add_note(f"seed {seed}, input {count}: {data[:2000]!r}")
            raise
        if (took := time.monotonic() - begun) > SLOWEST:
            raise TooSlow(f"seed {seed}, input {count} took {took:.1f} s: {data[:2000]!r}")
        count += 1
    return count


def mutated(source: random.Random, data: bytes) -> bytes:
    """Return `data` with some bytes changed, left out, repeated or put in."""
    changed = bytearray(data)
    for _ in range(source.randint(0, 6)):
        at = source.randint(0, len(changed))
        match source.randint(0, 3):
            case 0:
                changed[at : at + source.randint(1, 8)] = b""
            case 1:
                changed[at:at] = source.randbytes(source.randint(1, 8))
            case 2:
                changed[at:at] = changed[at : at + source.randint(1, 40)] * source.randint(1, 20)
            case _:
                changed[at : at + 1] = source.choice([b"0", b"9", b"-", b'"', b"[", b"{", b"\0", b"\xff", b"\n"])
    return bytes(changed)
