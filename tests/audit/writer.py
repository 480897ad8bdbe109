"""A process that writes to a ledger as fast as it can and says what was acknowledged, until it is killed.

Started by the crash tests with the ledger's path and a mark for its entries.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from runner.audit.ledger.ledger import Ledger

WRITERS = 8


async def write(ledger: Ledger, mark: str, writer: int) -> None:
    number = 0
    while True:
        number += 1
        text = f"{mark}-{writer}-{number}"
        seq = await ledger.append("opened", "", {"text": text, "ballast": "x" * (number * 37 % 9000)})
        sys.stdout.write(f"{seq} {text}\n")
        sys.stdout.flush()


async def main(path: Path, mark: str) -> None:
    ledger = Ledger.open(path)
    await ledger.seal_with(bytes(range(32)))
    await asyncio.gather(*(write(ledger, mark, writer) for writer in range(WRITERS)))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
