"""Started by test_trying_as.py as another account: tries a deed in each language, and prints what was recorded."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from runner.model.request import Isolation
from runner.risk.tried import recorded
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.gvisor.engine import DirectEngine
from runner.sandbox.images.folder_store import FolderStore
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.trying import program
from tests.contract.conftest import job
from tests.sandbox.test_trying import DEEDS, MARK, SEED


async def main(folder: Path, runsc: str) -> None:
    direct = DirectEngine(FolderStore(folder / "images"), runsc, folder / "containers")
    sandbox = (
        ContainerSandbox(Isolation.GVISOR_DIRECT, OWN_IMAGES, direct, own=True)
        if runsc
        else LocalSandbox(folder / "runs")
    )
    try:
        for name, (language, code, _) in DEEDS.items():
            one = job(program(language, code, MARK, SEED), language, memory_mb=512)
            result = await (await sandbox.start(one, lambda _usage: None)).finished()
            acts = recorded(result, MARK, SEED).acts
            print(json.dumps([name, [[act.kind.value, act.target] for act in acts], result.error]), flush=True)
    finally:
        await sandbox.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
