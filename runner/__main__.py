"""`python -m runner`: the engine with its questions asked on the terminal."""

from __future__ import annotations

import asyncio

from runner.assembly import open_engine
from runner.commands.terminal import attend
from runner.system.log import logged
from runner.system.places import Places


async def _main() -> None:
    with logged(Places.standard()):
        await attend(open_engine())


if __name__ == "__main__":
    asyncio.run(_main())
