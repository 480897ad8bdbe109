"""What the soak and the kills find, and a short form of each. At length: `make soak`, `make kill`."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.local.leftovers import new_name
from tests.audit.story import approved, denied, request, write
from tests.components import require
from tests.patience import HANGS
from tests.soak.__main__ import soak
from tests.soak.judge import Sample, judged, ledger
from tests.soak.kills import _left, _wrong, kills
from tests.soak.stage import House, marked, wait_until_gone

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 2**22 + 1
"""No process has this id."""


def grown(**each: float) -> set[str]:
    """Which figures are broken where what is named grows by so much with each of a thousand calls."""
    start = {"memory": 100.0, "descriptors": 40.0, "threads": 9.0}
    samples = [
        Sample(n / 10, n, **{name: value + n * each.get(name, 0.0) for name, value in start.items()})  # type: ignore[arg-type]
        for n in range(1000)
    ]
    return {one.name for one in judged(samples) if not one.held}


def test_what_grows_with_the_calls_is_found() -> None:
    assert grown() == set()
    assert grown(memory=0.02) == set()
    assert grown(memory=0.05) == {"memory, more at the end"}
    assert grown(descriptors=0.05) == {"descriptors, more at the end"}
    assert grown(threads=0.05) == {"threads, more at the end"}


def test_a_ledger_that_grows_too_much_is_found(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(bytes(100 << 10))
    assert ledger(path, 10).held
    assert not ledger(path, 5).held


@pytest.fixture
def house(tmp_path: Path) -> House:
    tmp_path.chmod(0o755)
    return House(tmp_path / "house")


def test_a_broken_promise_is_found_after_a_kill(house: House) -> None:
    ledger = house.places.ledger
    write(ledger, [*approved(request("r1")), *denied(request("r2"))])
    house.starts.write_text("r1\n")
    assert asyncio.run(_wrong(house, NOBODY)) == []
    house.starts.write_text("r1\nr1\nr2\nr3\n")
    house.ran |= {"r1", "r2"}
    assert set(asyncio.run(_wrong(house, NOBODY))) == {
        "started twice: r1",
        "started, not written: r2",
        "started, not written: r3",
        "answered that it ran, not written: r2",
    }
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE entries SET kind = 'approved' WHERE kind = 'denied'")
        connection.execute("DELETE FROM entries WHERE kind = 'closed'")
    assert any(one.startswith("verify: ") for one in asyncio.run(_wrong(house, NOBODY)))
    assert {"never closed: r1", "never closed: r2"} <= set(_left(house))


@pytest.mark.asyncio
async def test_a_process_that_a_killed_console_left_is_found(house: House) -> None:
    # Of this process, which lives: those of one that is gone are ended by every console that starts beside this test.
    process = await asyncio.create_subprocess_exec("sleep", "600", env={**os.environ, "ASSENT_RUN": new_name()})
    try:
        async with asyncio.timeout(HANGS):
            while not marked(os.getpid()):  # the kernel shows what it was started with a moment later
                await asyncio.sleep(0.01)
        (left,) = await wait_until_gone(os.getpid(), 0.1)
        assert str(process.pid) in left
    finally:
        process.kill()
        await process.wait()


@pytest.mark.asyncio
async def test_a_console_that_agents_ask_for_a_moment(house: House) -> None:
    require("bubblewrap")
    found = await soak(house, 2.0, seed=1)
    # What grows shows only after hundreds of calls.
    assert [str(one) for one in found if not (one.held or "at the end" in one.name or "each call" in one.name)] == []
    assert house.answered["finished"]


@pytest.mark.asyncio
async def test_a_console_that_is_killed(house: House) -> None:
    require("bubblewrap")
    assert await kills(house, 1, seed=4) == []
    assert house.starts.exists()
