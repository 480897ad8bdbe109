"""Each write and each flush of SQLite fails once: what is reported, and that the ledger is good afterwards."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.audit.ledger.ledger import Ledger, LedgerFailed
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError
from tests.audit.faulty_disk import MEMORY, Faults, faulty_disk
from tests.audit.story import KEY
from tests.engine.faults import play

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ((1, False), (1, True), (4, False))
"""How many fail one after the other, and whether half of what is written reaches the disk."""
MOST_LEFT = 3
"""Entries that are there though they were not acknowledged: their flush failed after they had been written."""


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory: hundreds of flushes that fail or not take their time on a disk."""
    with tempfile.TemporaryDirectory(prefix="assent-faults-", dir=MEMORY) as folder:
        yield Path(folder)


def begin(path: Path, faults: Faults) -> str:
    """Begin a ledger on a disk with `faults`; return what was reported."""
    with faulty_disk(faults):
        try:
            asyncio.run(Ledger.open(path).close())
        except KnownError as error:
            return error.remedy
    return ""


@pytest.mark.parametrize(("many", "torn"), KINDS)
@pytest.mark.errors_expected
def test_a_ledger_is_begun_whole_or_not_at_all(tmp_path: Path, many: int, torn: bool) -> None:
    faults = Faults()
    assert begin(tmp_path / "whole.sqlite3", faults) == ""
    for first in range(faults.done, 0, -3):
        path = tmp_path / f"ledger-{first}.sqlite3"
        told = begin(path, Faults(first, many, torn))
        assert told or path.exists()
        asyncio.run(Ledger.open(path).close())
        assert verify(path).ok, first


@pytest.mark.parametrize(("many", "torn"), KINDS)
@pytest.mark.errors_expected
def test_what_was_acknowledged_is_there_and_the_rest_was_told(tmp_path: Path, many: int, torn: bool) -> None:
    faults = Faults()
    asyncio.run(append(tmp_path / "whole.sqlite3", faults))
    for first in range(1, faults.done + 1, 5):
        path = tmp_path / f"ledger-{first}.sqlite3"
        asyncio.run(Ledger.open(path).close())
        written = asyncio.run(append(path, Faults(first, many, torn)))
        asyncio.run(Ledger.open(path).close())
        found = verify(path)
        assert found.ok, (first, found.what)
        assert max(written, default=0) <= found.entries <= max(written, default=0) + MOST_LEFT


async def append(path: Path, faults: Faults) -> list[int]:
    """Write some entries, the last ones without faults; those that were acknowledged."""
    written = []
    with faulty_disk(faults):
        ledger = Ledger.open(path)
        faults.done = 0
        for number in range(6):
            with suppress(LedgerFailed):
                written.append(await ledger.append("opened", "", {"text": "x" * 3000 * number}))
        with suppress(LedgerFailed):
            await ledger.seal_with(KEY)
        await ledger.close()
    return written


@pytest.mark.parametrize(("first", "many", "torn"), [(130, 1, False), (190, 4, False), (250, 1, True), (330, 4, False)])
@pytest.mark.errors_expected
def test_nothing_runs_or_is_told_as_approved_that_was_not_written(first: int, many: int, torn: bool) -> None:
    """A few of the places that `make fuzz` tries (tests/fuzz/disk.py)."""
    faults = Faults(first, many, torn)
    assert play(faults) == []
    assert faults.hit
