"""A process that writes to a ledger as fast as it can and says what was acknowledged, until it is killed.

Started by the crash tests with the ledger's path and a mark for its entries.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from runner.audit.ledger.ledger import Ledger

WRITERS = 8
PARTS = 3
"""Entries that each writer asks for together, in this order."""


async def write(ledger: Ledger, mark: str, writer: int) -> None:
    number = 0
    while True:
        number += 1
        group = f"{mark}-{writer}-{number}"
        await asyncio.gather(*(one(ledger, f"{group}-{part}", number, last=part == PARTS - 1) for part in range(PARTS)))


async def one(ledger: Ledger, text: str, number: int, *, last: bool) -> None:
    """Write an entry, which waits for the last one of its group, and say that it is written."""
    body = {"text": text, "ballast": "x" * (number * 37 % 9000)}
    seq = await ledger.append("opened", "", body, can_wait=not last)
    sys.stdout.write(f"{seq} {text}\n")
    sys.stdout.flush()


async def main(path: Path, mark: str) -> None:
    ledger = Ledger.open(path)
    await ledger.seal_with(bytes(range(32)))
    await asyncio.gather(*(write(ledger, mark, writer) for writer in range(WRITERS)))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
