"""Tries made or mutated inputs until the time is up; each has its own time limit, and one that fails is stored.

An input that failed is written to `build/fuzz`. Once its cause is mended it belongs into `tests/fuzz/corpus/NAME`,
where it is tried first, each time.
"""

from __future__ import annotations

import faulthandler
import hashlib
import itertools
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CORPUS = Path(__file__).parent / "corpus"
FAILED = Path("build/fuzz")
LIMIT_SECONDS = HANGS
"""For one input, on a machine that does other things too."""
LONGEST = 60_000
"""Bytes of a mutated input: what takes time that grows with its square is slow by then."""


def fuzz(
    name: str,
    check: Callable[[bytes], object],
    seeds: Sequence[bytes],
    seconds: float,
    seed: int,
    words: Sequence[bytes] = (),
    limit: float = LIMIT_SECONDS,
) -> int:
    """Give `check` the corpus of `name`, `seeds`, and mutations of both for `seconds`; return how many inputs.

    `words` are put in where a byte would be. What `check` raises is raised; an input that takes longer than `limit`
    ends the process, with the stack of where it was.
    """
    known = [*_corpus(name), *seeds]
    return _tried(name, known, lambda source: mutated(source, known, words), check, seconds, seed, limit)


def generated(
    name: str,
    make: Callable[[random.Random], bytes],
    check: Callable[[bytes], object],
    seconds: float,
    seed: int,
    limit: float = LIMIT_SECONDS,
) -> int:
    """Give `check` the corpus of `name` and what `make` makes for `seconds`; return how many. Raises as `fuzz`."""
    return _tried(name, _corpus(name), make, check, seconds, seed, limit)


def mutated(source: random.Random, known: Sequence[bytes], words: Sequence[bytes] = ()) -> bytes:
    """Return one of `known` with some bytes changed, left out, put in, repeated, or another's end."""
    data = bytearray(source.choice(known))
    for _ in range(1 + int(source.expovariate(0.4))):
        at = source.randint(0, len(data))
        size = min(len(data) - at, 1 + int(source.expovariate(0.1)))
        match source.randint(0, 6):
            case 0:
                del data[at : at + size]
            case 1:
                data[at:at] = source.randbytes(size)
            case 2:
                data[at:at] = data[at : at + size] * int(source.expovariate(0.2))
            case 3 if size:
                times = source.choice((10, 100, 1000, 10_000))
                data[at:at] = data[at : at + size] * min(times, LONGEST // size)
            case 4 if words:
                data[at:at] = source.choice(words)
            case 5:
                other = source.choice(known)
                data[at:] = other[source.randint(0, len(other)) :]
            case _:
                data[at : at + 1] = bytes([source.randrange(256)])
    return bytes(data[:LONGEST])


def cut(source: random.Random, data: bytes) -> list[bytes]:
    """Return `data` in pieces, as a connection may deliver it."""
    places = sorted({0, len(data), *(source.randint(0, len(data)) for _ in range(source.randint(0, 12)))})
    return [data[start:end] for start, end in itertools.pairwise(places)]


def _tried(
    name: str,
    known: Sequence[bytes],
    make: Callable[[random.Random], bytes],
    check: Callable[[bytes], object],
    seconds: float,
    seed: int,
    limit: float,
) -> int:
    source = random.Random(seed)
    end = time.monotonic() + seconds
    count = 0
    for data in known:
        _try(name, check, data, limit)
        count += 1
    while time.monotonic() < end:
        _try(name, check, make(source), limit)
        count += 1
    return count


def _corpus(name: str) -> list[bytes]:
    folder = CORPUS / name
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []


def _try(name: str, check: Callable[[bytes], object], data: bytes, limit: float) -> None:
    FAILED.mkdir(parents=True, exist_ok=True)
    # Before it is tried: of one that never ends nothing else is left.
    trial = FAILED / f"{name}.input"
    trial.write_bytes(data)
    faulthandler.dump_traceback_later(limit, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        check(data)
    except BaseException as error:
        kept = trial.replace(FAILED / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}")
        error.add_note(f"The input is kept as {kept}.")
        raise
    finally:
        faulthandler.cancel_dump_traceback_later()
