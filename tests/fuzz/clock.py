"""Inputs one after the other until the time is up, each within a time limit of its own."""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SLOWEST = 5.0
"""Seconds for one input on a busy machine; an input that takes longer is a finding."""


class TooSlow(AssertionError):
    """An input that was not read in time."""


def tried(seconds: float, seed: int, make: Callable[[random.Random], bytes], check: Callable[[bytes], None]) -> int:
    """Give `check` what `make` makes for `seconds`; return the number of inputs. Raises what `check` raises."""
    source = random.Random(seed)
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        data = make(source)
        try:
            with _deadline():
                check(data)
        except Exception as error:
            error.add_note(f"seed {seed}, input {count}: {data[:2000]!r}")
            raise
        count += 1
    return count


@contextlib.contextmanager
def _deadline() -> Iterator[None]:
    """Raise TooSlow where what is inside takes too long; at once where this is the main thread."""
    if threading.current_thread() is not threading.main_thread():
        begun = time.monotonic()
        yield
        if time.monotonic() - begun > SLOWEST:
            raise TooSlow
        return
    before = signal.signal(signal.SIGALRM, _fail)
    signal.setitimer(signal.ITIMER_REAL, SLOWEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _fail(_signal: int, _frame: object) -> None:
    raise TooSlow


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


def cut(source: random.Random, data: bytes) -> list[bytes]:
    """Return `data` in pieces, as a connection may deliver it."""
    places = sorted({0, len(data), *(source.randint(0, len(data)) for _ in range(source.randint(0, 12)))})
    return [data[start:end] for start, end in itertools.pairwise(places)]
