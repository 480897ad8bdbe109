"""A disk without room or without permission: told with a remedy, nothing half written, and well again after."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from runner.audit.history.search import History, LeftOpen
from runner.audit.ledger.ledger import Ledger, LedgerFailed, set_aside
from runner.audit.ledger.tables import LedgerDamaged
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError
from tests.audit.formats import restore
from tests.audit.story import KEY, approved, opening, request, tell, write
from tests.small_disk import fill, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(name="small_disk")
def mounted(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path) as room:
        yield room


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def append_until_it_fails(ledger: Ledger) -> int:
    """The number of the last entry that was acknowledged."""
    last = 0

    async def append() -> None:
        nonlocal last
        while True:
            last = await ledger.append("opened", "", {"ballast": "x" * 5000})

    with pytest.raises(LedgerFailed) as caught:
        await append()
    assert "disk" in str(caught.value)
    assert "nothing is approved" in caught.value.remedy
    assert not caught.value.damaged, "a new history is no remedy"
    return last


def test_a_full_disk_fails_recovers_and_leaves_nothing_half(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"

    async def work() -> tuple[int, int]:
        ledger = Ledger.open(path)
        await ledger.seal_with(KEY)
        await tell(ledger, opening(request("r1")))
        ballast = fill(small_disk)
        last = await append_until_it_fails(ledger)
        for _ in range(3):
            with pytest.raises(LedgerFailed, match="disk is full"):
                await tell(ledger, approved(request("r1"))[3:4])
        found = verify(path)
        assert found.ok, found.what
        ballast.unlink()
        await tell(ledger, approved(request("r1"))[3:])
        number = await ledger.append("opened", "", {})
        await ledger.close()
        return last, number

    last, number = asyncio.run(work())
    assert number == max(last, 5) + 5
    found = verify(path)
    assert found.ok, found.what
    assert found.signed_to == found.entries
    with closing(History(path)) as history:
        assert history.open_cases() == LeftOpen()


def test_a_group_on_a_full_disk_is_written_whole_or_not_at_all(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"
    told = approved(request("r1"))

    async def group(ledger: Ledger) -> list[int | BaseException]:
        soon = [ledger.append(*one, can_wait=True) for one in told[2:4]]
        body = {**told[4][2], "ballast": "x" * 500_000}  # more than what is left after the others
        return await asyncio.gather(*soon, ledger.append("running", "r1", body), return_exceptions=True)

    async def work() -> None:
        ledger = Ledger.open(path)
        await ledger.seal_with(KEY)
        await tell(ledger, told[:2])
        ballast = fill(small_disk)
        with ballast.open("r+b") as file:
            file.truncate(ballast.stat().st_size - 200_000)
        before = verify(path).entries
        outcomes = await group(ledger)
        assert {type(one) for one in outcomes} == {LedgerFailed}, "none was acknowledged"
        assert verify(path).entries == before, "none is half there"
        ballast.unlink()
        assert {type(one) for one in await group(ledger)} == {int}
        await tell(ledger, told[5:])
        await ledger.close()

    asyncio.run(work())
    assert verify(path).ok


def test_callers_waiting_together_on_a_full_disk_all_get_the_error(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"

    async def work() -> None:
        ledger = Ledger.open(path)
        ballast = fill(small_disk)
        await append_until_it_fails(ledger)
        told = await asyncio.gather(
            *(ledger.append("opened", "", {"ballast": "x" * 5000}) for _ in range(50)), return_exceptions=True
        )
        assert {type(one) for one in told} == {LedgerFailed}
        ballast.unlink()
        await asyncio.gather(*(ledger.append("opened", "", {}) for _ in range(50)))
        await ledger.close()

    asyncio.run(work())
    assert verify(path).ok


def test_a_key_that_could_not_be_recorded_signs_nothing(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"

    async def work() -> None:
        ledger = Ledger.open(path)
        ballast = fill(small_disk)
        await append_until_it_fails(ledger)
        with pytest.raises(LedgerFailed):
            await ledger.seal_with(KEY)
        ballast.unlink()
        await ledger.append("opened", "", {})
        assert verify(path).signed_to == 0
        await ledger.seal_with(KEY)
        await ledger.close()

    asyncio.run(work())
    found = verify(path)
    assert found.ok, found.what
    assert found.signed_to == found.entries


def test_closing_on_a_full_disk_loses_nothing_but_the_seal(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = small_disk / "ledger.sqlite3"

    async def work() -> int:
        ledger = Ledger.open(path)
        await ledger.seal_with(KEY)
        fill(small_disk)
        last = await append_until_it_fails(ledger)
        await ledger.close()
        return last

    last = asyncio.run(work())
    found = verify(path)
    assert found.ok, found.what
    assert found.entries >= last


def test_beginning_on_a_full_disk_is_reported_and_leaves_no_ledger(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"
    ballast = fill(small_disk)
    with pytest.raises(KnownError) as caught:
        Ledger.open(path)
    assert "disk" in caught.value.remedy and not isinstance(caught.value, LedgerDamaged)
    assert not path.exists()
    ballast.unlink()
    asyncio.run(Ledger.open(path).close())
    assert verify(path).ok


def test_an_earlier_ledger_that_finds_no_room_to_be_upgraded_is_not_called_damaged(small_disk: Path) -> None:
    path = restore(1, small_disk / "ledger.sqlite3")
    ballast = fill(small_disk)
    with pytest.raises(KnownError) as caught:
        Ledger.open(path)
    assert "disk" in caught.value.remedy and not isinstance(caught.value, LedgerDamaged)
    ballast.unlink()
    asyncio.run(Ledger.open(path).close())
    assert verify(path).ok


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The same without being root: the system refuses to make any file longer."""
    path = tmp_path / "ledger.sqlite3"

    async def work() -> int:
        ledger = Ledger.open(path)
        await tell(ledger, opening(request("r1")))
        with no_file_longer_than(path.with_name(path.name + "-wal").stat().st_size + 20_000):
            last = await append_until_it_fails(ledger)
        await tell(ledger, approved(request("r1"))[3:])
        await ledger.close()
        return last

    last = asyncio.run(work())
    found = verify(path)
    assert found.ok, found.what
    assert found.entries == max(last, 4) + 4


def test_a_disk_that_may_not_be_written(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"
    write(path, approved(request("r1")))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(KnownError) as caught:
        Ledger.open(path)
    assert str(small_disk) in caught.value.remedy
    with pytest.raises(KnownError):
        set_aside(path)


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    path = tmp_path / "ledger.sqlite3"
    write(path, approved(request("r1")))
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(KnownError, match=str(tmp_path)):
            Ledger.open(path)
        assert verify(path).ok
    finally:
        tmp_path.chmod(0o700)


def test_reading_from_a_disk_that_may_not_be_written(small_disk: Path) -> None:
    path = small_disk / "ledger.sqlite3"
    write(path, approved(request("r1")))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert verify(path).ok
    with closing(History(path)) as history:
        assert history.count() == 1


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="No such file"):
        Ledger.open(tmp_path / "nowhere" / "ledger.sqlite3")
