"""Entries of one request: sent in order, waited for together, and whole in every ledger."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.audit.ledger.ledger import LedgerFailed
from runner.model.events import RequestClosed
from runner.model.lifecycle import Phase
from runner.requests.entries import RequestEntries
from runner.system.tasks import spawn
from tests.doubles import SilentRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.events import Event

pytestmark = pytest.mark.asyncio
FULL = LedgerFailed("The disk is full.", "Free some space.")


class Queue(SilentRecord):
    """A record that writes when it is let, in the order in which it was asked, into the ledger that is open then."""

    def __init__(self) -> None:
        self.ledger = 1
        self.asked: list[tuple[int, str, asyncio.Future[None]]] = []
        self.waited: list[str] = []
        """Kinds of the entries that could wait."""
        self.written: list[tuple[int, str]] = []
        self.published: list[Event] = []

    async def append(self, kind: str, _request_id: str, _body: Mapping[str, object], *, can_wait: bool = False) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.asked.append((self.ledger, kind, done))
        if can_wait:
            self.waited.append(kind)
        await done

    def publish(self, event: Event) -> None:
        self.published.append(event)

    async def end(self, *outcomes: Exception | None) -> None:
        """End the oldest attempts, each written or failed, once as many are there."""
        for outcome in outcomes:
            while not self.asked:
                await asyncio.sleep(0)
            ledger, kind, done = self.asked.pop(0)
            if outcome is None:
                self.written.append((ledger, kind))
                done.set_result(None)
            else:
                done.set_exception(outcome)
        await turns()

    @property
    def waiting(self) -> list[tuple[int, str]]:
        return [(ledger, kind) for ledger, kind, _ in self.asked]


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_entries_are_sent_at_once_and_the_one_that_is_waited_for_waits_for_all() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    entries.write_soon("arrived", {}, RequestClosed("r"))
    entries.write_soon("assessed", {})
    writing = spawn("write", entries.write("approved", {}))
    await turns()
    assert queue.waiting == [(1, "arrived"), (1, "assessed"), (1, "approved")]
    assert queue.published == []
    await queue.end(None)
    assert queue.published == [RequestClosed("r")]
    await queue.end(None)
    assert not writing.done()
    await queue.end(None)
    await writing


async def test_only_what_is_waited_for_may_not_wait() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    entries.write_soon("arrived", {})
    entries.write_soon("assessed", {})
    writing = spawn("write", entries.write("approved", {}))
    await queue.end(None, None, None)
    await writing
    assert queue.waited == ["arrived", "assessed"]


async def test_an_approval_that_no_ledger_holds_can_be_taken_back_and_no_other() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    for kind in ("arrived", "assessed"):
        entries.write_soon(kind, {})
    await queue.end(None, None)
    entries.write_soon("approved", {}, RequestClosed("r"))
    assert entries.take_back("approved") is None, "it is on its way"
    await queue.end(FULL)
    assert entries.take_back("running") is None
    entries.write_soon("grant-used", {})
    await queue.end(FULL)
    assert entries.take_back("approved") is Phase.ASSESSED
    writing = spawn("write", entries.write("denied", {}))
    await queue.end(None, None)
    await writing
    assert [kind for _, kind in queue.written] == ["arrived", "assessed", "grant-used", "denied"]
    assert queue.published == []
    assert entries.take_back("denied") is None, "the ledger has it"


async def test_what_failed_is_written_before_what_comes_next_and_nothing_twice() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    entries.write_soon("arrived", {})
    entries.write_soon("grant-used", {})
    writing = spawn("write", entries.write("approved", {}))
    await queue.end(FULL, None, ValueError("request r is approved before it arrived"))
    with pytest.raises(LedgerFailed):
        await writing
    writing = spawn("write", entries.write("denied", {}))
    await queue.end(None, None)
    await writing
    assert queue.written == [(1, "grant-used"), (1, "arrived"), (1, "denied")]


async def test_an_entry_that_came_before_its_turn_is_sent_again() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    entries.write_soon("arrived", {})
    await queue.end(FULL)
    entries.write_soon("assessed", {})
    writing = spawn("write", entries.write("approved", {}))
    await queue.end(None, ValueError("out of turn"), ValueError("out of turn"), None, None)
    await writing
    assert queue.written == [(1, "arrived"), (1, "assessed"), (1, "approved")]


async def test_an_entry_that_is_invalid_is_a_bug_and_raised_as_one() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    writing = spawn("write", entries.write("arrived", {}))
    await queue.end(ValueError("no such thing"))
    with pytest.raises(ValueError, match="no such thing"):
        await writing


async def test_a_ledger_begun_meanwhile_gets_the_request_as_a_whole() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    entries.write_soon("arrived", {}, RequestClosed("r"))
    await queue.end(None)
    entries.write_soon("assessed", {})
    await turns()
    queue.ledger = 2
    writing = spawn("write", entries.write("approved", {}))
    await turns()
    assert queue.waiting == [(1, "assessed")], "nothing overtakes what is on its way to the former ledger"
    await queue.end(FULL, None, None, None)
    await writing
    assert queue.written == [(1, "arrived"), (2, "arrived"), (2, "assessed"), (2, "approved")]
    assert queue.published == [RequestClosed("r")]


async def test_another_kind_of_entry_waits_until_those_before_it_are_written() -> None:
    queue = Queue()
    entries = RequestEntries("r", queue)
    entries.write_soon("arrived", {})
    writing = spawn("write", entries.write("edited", {}))
    await turns()
    assert queue.waiting == [(1, "arrived")]
    await queue.end(None, None)
    await writing
    assert queue.written == [(1, "arrived"), (1, "edited")]
