"""`assent run` from two shells at once, with the real console on a screen and no keyring."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import pytest

from runner.identity.agents import Agents
from runner.model.lifecycle import Phase
from runner.system.tasks import spawn
from tests.path.desktop import until
from tests.path.test_console import GUARD_SECONDS, QUIET_SECONDS
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.path.desktop import Desktop

pytestmark = pytest.mark.asyncio


async def begun(desktop: Desktop, file: Path) -> asyncio.subprocess.Process:
    desktop.used = True
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app", "run", str(file)),
        env={**os.environ, "ASSENT_HOME": str(desktop.home)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
    )


async def test_two_first_runs_at_once_are_asked_approved_and_run_each(desktop: Desktop, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.py" for number in range(2)]
    for file in files:
        file.write_text(f"print({file.stem} + 40)\n")
    before = len(desktop.records())
    processes = await asyncio.gather(*(begun(desktop, file) for file in files))

    def waiting() -> int:
        now = desktop.records()
        return sum(record.row.phase is Phase.ASKED for record in now[: len(now) - before])

    await until(lambda: waiting() == 2)
    over = spawn("runs", _ended(processes))
    async with asyncio.timeout(HANGS):
        while not over.done():
            await asyncio.sleep(max(GUARD_SECONDS, QUIET_SECONDS) * 1.2)
            if waiting():
                desktop.press("a")
    assert [out for out, _ in await over] == [b"40\n", b"41\n"], await over
    assert [process.returncode for process in processes] == [0, 0]
    assert [one.name for one in Agents(desktop.places).all() if one.name == "shell" and not one.revoked] == ["shell"]
    told = b"".join(err for _, err in await over)
    assert b"revoked" not in told and b"ithdrawn" not in told


async def _ended(processes: list[asyncio.subprocess.Process]) -> list[tuple[bytes, bytes]]:
    return [await process.communicate() for process in processes]
