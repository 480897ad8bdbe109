"""The ledger as its callers see it: durable, in order, together, and honest about what fails."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.audit.history.search import History
from runner.audit.ledger import ledger as ledger_module
from runner.audit.ledger.chain import Chain
from runner.audit.ledger.entry import NewEntry
from runner.audit.ledger.ledger import BATCH, Ledger, LedgerFailed
from runner.audit.ledger.verify import verify
from runner.model.codec import UnreadableValue
from runner.model.lifecycle import IllegalMove
from runner.system.tasks import spawn
from tests.audit.story import KEY, RESULT, approved, denied, opening, request, tamper, tell, write
from tests.audit.story import entries as stored
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


@pytest_asyncio.fixture
async def ledger(path: Path) -> AsyncIterator[Ledger]:
    opened = Ledger.open(path)
    yield opened
    await opened.close()


async def test_entries_count_from_the_genesis(ledger: Ledger) -> None:
    assert await ledger.append("opened", "", {"process": 1}) == 2
    assert await ledger.append("agent-added", "", {"name": "claude"}) == 3


async def test_the_file_is_private_from_the_first_moment(ledger: Ledger, path: Path) -> None:
    await ledger.append("opened", "", {})
    for file in path.parent.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file.name


async def test_an_appended_entry_can_be_read_at_once_and_after_opening_again(path: Path) -> None:
    asked = request("r1")
    ledger = Ledger.open(path)
    await tell(ledger, opening(asked))
    with closing(History(path)) as history:
        assert history.case("r1").request == asked  # type: ignore[union-attr]
    await ledger.close()
    again = Ledger.open(path)
    await tell(again, denied(asked)[3:])
    await again.close()
    assert verify(path).ok


async def test_a_thousand_queued_at_once_share_their_flushes(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    write = Chain.write

    def counted(chain: Chain, drafts: list[NewEntry]) -> list[int | Exception]:
        flushed.append(len(drafts))
        return write(chain, drafts)

    monkeypatch.setattr(Chain, "write", counted)
    count = 1000
    numbers = await asyncio.gather(*(ledger.append("opened", "", {"number": number}) for number in range(count)))
    assert numbers == list(range(numbers[0], numbers[0] + count))
    assert sum(flushed) == count
    assert len(flushed) < count / 10


@pytest.fixture
def never_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can wait would wait longer than the test does."""
    monkeypatch.setattr(ledger_module, "COMMIT_DELAY", 10 * HANGS)


@pytest.mark.usefixtures("never_by_itself")
async def test_what_can_wait_is_written_with_the_next_that_cannot_in_one_transaction(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[list[str]] = []
    write = Chain.write

    def counted(chain: Chain, drafts: list[NewEntry]) -> list[int | Exception]:
        flushed.append([draft.kind for draft in drafts])
        return write(chain, drafts)

    monkeypatch.setattr(Chain, "write", counted)
    told = approved(request("r1"))
    numbers = []
    for group in (told[:2], told[2:5], told[5:]):
        soon = [spawn("append", ledger.append(*one, can_wait=True)) for one in group[:-1]]
        await asyncio.sleep(0)
        assert not any(one.done() for one in soon)
        last = await ledger.append(*group[-1])
        numbers += [*await asyncio.gather(*soon), last]
    assert numbers == list(range(2, 9))
    assert flushed == [["arrived", "assessed"], ["asked", "approved", "running"], ["finished", "closed"]]
    assert verify(path).ok


@pytest.mark.usefixtures("never_by_itself")
async def test_what_can_wait_wakes_the_writer_once_with_what_cannot(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wake costs more than writing the entry: five of them were a third of a call that needs nobody."""
    handed: list[list[str]] = []
    hand_over = Ledger._hand_over

    def noted(of: Ledger) -> None:
        handed.append([one.what.kind for one in of._kept if isinstance(one.what, NewEntry)])
        hand_over(of)

    monkeypatch.setattr(Ledger, "_hand_over", noted)
    told = approved(request("r1"))
    soon = [spawn("append", ledger.append(*one, can_wait=True)) for one in told[:4]]
    await asyncio.sleep(0)
    await ledger.append(*told[4])
    await asyncio.gather(*soon)
    assert handed == [[kind for kind, *_ in told[:5]]]


async def test_what_can_wait_is_written_although_nothing_follows(ledger: Ledger, path: Path) -> None:
    assert await ledger.append("opened", "", {}, can_wait=True) == 2
    assert verify(path).entries == 2


@pytest.mark.usefixtures("never_by_itself")
async def test_closing_writes_what_can_wait(path: Path) -> None:
    ledger = Ledger.open(path)
    waiting = [spawn("append", ledger.append("opened", "", {}, can_wait=True)) for _ in range(20)]
    await asyncio.sleep(0)
    async with asyncio.timeout(HANGS):
        await ledger.close()
    assert [task.result() for task in waiting] == list(range(2, 22))


@pytest.mark.usefixtures("never_by_itself")
async def test_what_asks_for_no_entry_is_not_kept_waiting(ledger: Ledger, path: Path) -> None:
    soon = spawn("append", ledger.append("opened", "", {}, can_wait=True))
    await asyncio.sleep(0)
    async with asyncio.timeout(HANGS):
        await ledger.seal_with(KEY)
    assert await soon == 2
    assert verify(path).ok


@pytest.mark.usefixtures("never_by_itself")
async def test_one_of_a_group_that_is_refused_takes_only_what_needs_it(ledger: Ledger, path: Path) -> None:
    told, other = approved(request("r1")), opening(request("r2"))
    soon = [
        spawn("append", ledger.append(*told[0], can_wait=True)),
        spawn("append", ledger.append("assessed", "r1", {"no": "assessment"}, can_wait=True)),
        spawn("append", ledger.append(*other[0], can_wait=True)),
    ]
    await asyncio.sleep(0)
    with pytest.raises(IllegalMove):
        await ledger.append(*told[3])
    outcomes = await asyncio.gather(*soon, return_exceptions=True)
    assert [type(one) for one in outcomes] == [int, UnreadableValue, int]
    assert [entry[2] for entry in stored(path)[:3]] == ["genesis", "arrived", "arrived"]
    assert verify(path).entries == 3
    await tell(ledger, told[1:])
    assert verify(path).ok


@pytest.mark.usefixtures("never_by_itself")
async def test_two_loops_that_wait_together_each_keep_their_order(ledger: Ledger, path: Path) -> None:
    there: list[list[int]] = []

    async def group(times: int) -> list[list[int]]:
        each = []
        for _ in range(times):
            soon = [spawn("append", ledger.append("opened", "", {}, can_wait=True)) for _ in range(3)]
            await asyncio.sleep(0)
            last = await ledger.append("opened", "", {})
            each.append([*await asyncio.gather(*soon), last])
        return each

    thread = threading.Thread(target=lambda: there.extend(asyncio.run(group(40))))
    thread.start()
    here = await group(40)
    await asyncio.to_thread(thread.join)
    for mine in (here, there):
        numbers = [number for each in mine for number in each]
        assert numbers == sorted(numbers)
    assert sorted(number for each in here + there for number in each) == list(range(2, 2 + 320))
    assert verify(path).ok


async def test_more_than_a_batch_keeps_its_order(ledger: Ledger, path: Path) -> None:
    numbers = await asyncio.gather(*(ledger.append("opened", "", {}) for _ in range(BATCH * 2 + 5)))
    assert numbers == sorted(numbers)
    assert verify(path).entries == BATCH * 2 + 6


async def test_callers_on_two_loops_each_get_their_answer(ledger: Ledger, path: Path) -> None:
    there: list[int] = []

    async def elsewhere() -> None:
        there.extend(await asyncio.gather(*(ledger.append("opened", "", {}) for _ in range(50))))

    thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
    thread.start()
    here = await asyncio.gather(*(ledger.append("opened", "", {}) for _ in range(50)))
    await asyncio.to_thread(thread.join)
    assert sorted(here + there) == list(range(2, 102))
    assert verify(path).ok


async def test_a_caller_that_makes_no_sense_harms_no_other(ledger: Ledger, path: Path) -> None:
    first, second = opening(request("r1")), opening(request("r2"))
    answers = await asyncio.gather(
        ledger.append(*first[0]),
        ledger.append("running", "r1", {}),
        ledger.append("assessed", "nobody", {}),
        ledger.append("arrived", "r3", {"id": "r3"}),
        ledger.append("arrived", "r4", first[0][2]),
        ledger.append("opened", "", {"not": {"json"}}),
        ledger.append(*second[0]),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [
        int, IllegalMove, ValueError, UnreadableValue, UnreadableValue, TypeError, int,
    ]  # fmt: skip
    assert answers[-1] == answers[0] + 1  # type: ignore[operator]
    assert verify(path).ok


async def test_a_bug_that_only_the_database_notices_is_reported_and_left_behind(ledger: Ledger, path: Path) -> None:
    told = approved(request("r1"), replace(RESULT, exit_code=2**70))
    await tell(ledger, told[:5])
    with pytest.raises(OverflowError):
        await ledger.append(*told[5])
    await tell(ledger, approved(request("r1"))[5:])
    assert verify(path).ok


async def test_no_request_runs_without_a_recorded_approval(ledger: Ledger) -> None:
    await tell(ledger, opening(request("r1")))
    with pytest.raises(IllegalMove):
        await ledger.append("running", "r1", {})
    with pytest.raises(UnreadableValue, match="its decision denied"):
        await ledger.append("approved", "r1", denied(request("r1"))[3][2])


@pytest.mark.parametrize("kind", ["genesis", "key", "sealed"])
async def test_the_ledgers_own_kinds_are_its_own(ledger: Ledger, kind: str) -> None:
    with pytest.raises(ValueError, match="own kind"):
        await ledger.append(kind, "", {})


async def test_a_cancelled_caller_leaves_the_writer_at_work(ledger: Ledger, path: Path) -> None:
    impatient = spawn("append", ledger.append("opened", "", {"who": "impatient"}))
    await asyncio.sleep(0)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    await ledger.append("opened", "", {"who": "patient"})
    assert verify(path).ok


async def test_agent_text_of_any_kind_is_stored(ledger: Ledger, path: Path) -> None:
    asked = request("r1", code="print('\ud800 \x00 \u202e')", title="\ud800\x00 % _ ' \u202e")
    await tell(ledger, approved(asked))
    with closing(History(path)) as history:
        record = history.case("r1")
    assert record is not None
    assert record.request.code == asked.code
    assert record.request.digest == asked.digest
    assert verify(path).ok


async def test_closing_writes_what_is_queued_and_can_be_repeated(path: Path) -> None:
    ledger = Ledger.open(path)
    waiting = [spawn("append", ledger.append("opened", "", {})) for _ in range(20)]
    await asyncio.sleep(0)
    await ledger.close()
    await ledger.close()
    assert [task.result() for task in waiting] == list(range(2, 22))
    with pytest.raises(LedgerFailed, match="closed"):
        await ledger.append("opened", "", {})


async def test_an_append_on_another_loop_cannot_undo_a_close(path: Path) -> None:
    """The append is held between its look at the ledger's state and its place in the queue, and a close is begun."""
    ended = threading.Event()
    begun: list[threading.Thread] = []

    def close() -> None:
        asyncio.run(ledger.close())
        ended.set()

    class Held(Ledger):
        @property
        def _closing(self) -> bool:
            found = self._is_closing
            if threading.current_thread() is appending and not begun:
                begun.append(threading.Thread(target=close))
                begun[0].start()
                ended.wait(0.2)  # a close that waits for its turn does not end meanwhile
            return found

        @_closing.setter
        def _closing(self, closing: bool) -> None:
            self._is_closing = closing

    ledger = Held.open(path)
    outcome: list[int] = []

    def append() -> None:
        outcome.append(asyncio.run(asyncio.wait_for(ledger.append("opened", "", {}), HANGS)))

    appending = threading.Thread(target=append)
    appending.start()
    await asyncio.to_thread(appending.join)
    await asyncio.to_thread(begun[0].join)
    assert outcome == [2]
    with pytest.raises(LedgerFailed, match="closed"):
        await asyncio.wait_for(ledger.append("opened", "", {}), HANGS)
    assert verify(path).ok


async def test_a_commit_is_on_the_disk_before_it_is_acknowledged(ledger: Ledger) -> None:
    """A killed process does not show it, a lost power supply would: full synchronisation in WAL mode."""
    settings = [ledger._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")]
    assert settings == [2, "wal"]


async def test_a_ledger_that_was_closed_is_one_file(path: Path) -> None:
    ledger = Ledger.open(path)
    await ledger.append("opened", "", {})
    await ledger.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["ledger.sqlite3", "ledger.sqlite3.lock"]


async def test_closing_seals(path: Path) -> None:
    ledger = Ledger.open(path)
    await ledger.seal_with(KEY)
    await ledger.append("opened", "", {})
    await ledger.close()
    found = verify(path)
    assert (found.ok, found.seals, found.signed_to) == (True, 1, 4)


async def test_every_so_many_entries_are_sealed(path: Path) -> None:
    ledger = Ledger.open(path, seal_every=10)
    await ledger.seal_with(KEY)
    for _ in range(35):
        await ledger.append("opened", "", {})
    await ledger.close()
    assert verify(path).seals == 4


async def test_only_another_key_is_recorded_again(path: Path) -> None:
    for key in (KEY, KEY, bytes(32)):
        ledger = Ledger.open(path)
        await ledger.seal_with(key)
        await ledger.close()
    found = verify(path)
    assert found.ok
    assert len(found.keys) == 2


async def test_another_writer_holding_the_file_is_reported_and_waited_out(ledger: Ledger, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN IMMEDIATE")
        ledger._connection.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(LedgerFailed, match="another program"):
            await ledger.append("opened", "", {})
        other.execute("ROLLBACK")
    assert await ledger.append("opened", "", {}) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET kind = 'closed'",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE seq = 1",
        "INSERT INTO entries SELECT 9, at, kind, request_id, body_sha256, prev, hash FROM entries WHERE seq = 1",
        "UPDATE bodies SET data = '{}'",
        "DELETE FROM bodies",
        "INSERT OR REPLACE INTO bodies VALUES (1, '{}')",
    ],
)
async def test_the_tables_themselves_only_grow(path: Path, statement: str) -> None:
    await asyncio.to_thread(write, path, [])
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)


async def test_opening_costs_no_time_that_grows_with_the_ledger(path: Path) -> None:
    """The tail alone is checked: a change long before it is `verify`'s to find."""
    await asyncio.to_thread(write, path, [("opened", "", {"process": os.getpid()})] * 300)
    tamper(path, "UPDATE entries SET kind = 'changed' WHERE seq = 5")
    await Ledger.open(path).close()
    assert verify(path).first_broken == 5
