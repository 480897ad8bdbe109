"""`python -m runner`: the engine with its questions asked on the terminal."""

from __future__ import annotations

import asyncio

from runner.log import logged
from runner.places import Places
from runner.rooms import open_engine
from runner.terminal import attend


async def _main() -> None:
    with logged(Places.standard()):
        await attend(open_engine())


if __name__ == "__main__":
    asyncio.run(_main())
