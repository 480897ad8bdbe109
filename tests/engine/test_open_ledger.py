"""Renewing and closing the open ledger while the keyring takes its time."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.audit.files.captures import Captures
from runner.audit.ledger import anchor
from runner.audit.ledger.anchor import AnchorKeeper
from runner.audit.ledger.ledger import Ledger, LedgerFailed
from runner.audit.ledger.verify import verify
from runner.engine.foundation.open_ledger import LOG_STORE, OpenLedger
from runner.engine.foundation.parts import Parts
from runner.identity import signer
from runner.model.errors import KnownError
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from runner.audit.telemetry.recorded import RecordedEntry
    from runner.identity.secrets import Secrets

pytestmark = pytest.mark.asyncio


class SlowVault:
    """Secrets in memory; writing the anchor waits while the test says so."""

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}
        self.go_on = threading.Event()
        self.go_on.set()
        self.waiting = threading.Event()
        self.hold_delete = False

    def get(self, name: str) -> str | None:
        return self.stored.get(name)

    def set(self, name: str, value: str) -> None:
        if name == signer.ANCHOR:
            self._hold()
        self.stored[name] = value

    def delete(self, name: str) -> None:
        if self.hold_delete:
            self._hold()
        self.stored.pop(name, None)

    def _hold(self) -> None:
        self.waiting.set()
        assert self.go_on.wait(HANGS)


@pytest.fixture
def vault() -> SlowVault:
    return SlowVault()


@pytest.fixture
def places(home: Path) -> Places:
    return Places.under(home)


@pytest_asyncio.fixture
async def ledger(places: Places, vault: SlowVault, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenLedger]:
    monkeypatch.setattr(AnchorKeeper.close, "__defaults__", (0.01,))
    captures = Captures(places)
    opened = OpenLedger(places, captures, as_secrets(vault))
    await opened.open()
    yield opened
    vault.go_on.set()
    await opened.close()
    captures.close()


def as_secrets(vault: SlowVault) -> Secrets:
    return vault  # type: ignore[return-value]  # what the ledger needs of them


async def until_it_waits(vault: SlowVault) -> None:
    assert await asyncio.to_thread(vault.waiting.wait, HANGS)


async def test_the_anchor_of_the_old_ledger_is_not_written_after_a_renewal(
    ledger: OpenLedger, vault: SlowVault, places: Places
) -> None:
    vault.go_on.clear()
    await ledger.seal()
    await until_it_waits(vault)
    await ledger.writer.append("opened", "", {})  # a newer head than the one that is being written
    renewal = spawn("renew", ledger.renew())
    # Time enough for a renewal that does not wait for the write under way.
    await asyncio.wait({renewal}, timeout=0.2)
    vault.go_on.set()
    await renewal
    assert ledger.doubt is None
    await ledger.seal()
    await ledger.close()
    known = anchor.parsed(vault.stored[signer.ANCHOR])
    assert known is not None
    assert anchor.difference(places.ledger, known) is None, "the new ledger is taken for the one that was signed"


async def test_a_renewal_under_way_is_finished_before_the_console_closes(
    ledger: OpenLedger, vault: SlowVault, places: Places
) -> None:
    await ledger.seal()
    await until_it_waits(vault)
    vault.waiting.clear()
    vault.go_on.clear()
    vault.hold_delete = True
    renewal = spawn("renew", ledger.renew())
    await until_it_waits(vault)
    closing = spawn("close", ledger.close())
    await asyncio.sleep(0)
    vault.go_on.set()
    await asyncio.gather(renewal, closing)
    assert not ledger.is_open
    assert verify(places.ledger).ok
    again = Ledger.open(places.ledger)  # nobody holds it any more
    await again.close()


async def test_no_ledger_is_begun_after_the_console_has_closed(ledger: OpenLedger, places: Places) -> None:
    await ledger.close()
    content = places.ledger.read_bytes()
    with pytest.raises(LedgerFailed, match="closed"):
        await ledger.renew()
    with pytest.raises(LedgerFailed, match="closed"):
        await ledger.open()
    assert not ledger.is_open
    assert places.ledger.read_bytes() == content


class Store:
    """A log store that keeps what it gets; it takes its time while the test says so."""

    def __init__(self) -> None:
        self.sent: list[RecordedEntry] = []
        self.some = threading.Event()
        self.failing = False

    def send(self, entries: Sequence[RecordedEntry]) -> None:
        self.some.set()
        if self.failing:
            raise KnownError("It does not answer.")
        self.sent += entries

    def close(self) -> None:
        pass


async def test_entries_are_sent_while_they_are_recorded_and_to_the_last_of_each_history(
    places: Places, vault: SlowVault
) -> None:
    store, captures = Store(), Captures(places)
    opened = OpenLedger(places, captures, as_secrets(vault))
    opened.log_store = lambda: store
    await opened.open()
    await opened.writer.append("mode", "", {"mode": "lockdown"})
    assert await asyncio.to_thread(store.some.wait, 30)
    await opened.renew()
    await opened.writer.append("mode", "", {"mode": "guarded"})
    await opened.close()
    captures.close()
    first, second = dict.fromkeys(one.ledger for one in store.sent)
    old = [one for one in store.sent if one.ledger == first]
    new = [one for one in store.sent if one.ledger == second]
    assert [one.kind for one in old] == ["mode"], "what was recorded before it was switched on is not sent"
    assert [one.seq for one in new] == list(range(1, len(new) + 1))
    assert [one.kind for one in new] == ["genesis", "opened", "renewed", "mode"]


async def test_a_log_store_that_fails_is_said_and_holds_up_nothing(places: Places, vault: SlowVault) -> None:
    store, captures = Store(), Captures(places)
    store.failing = True
    opened = OpenLedger(places, captures, as_secrets(vault))
    opened.log_store = lambda: store
    said: list[tuple[str, KnownError | None]] = []
    opened.noted_outside = lambda where, error: said.append((where, error))
    await opened.open()
    for _ in range(5):
        await opened.writer.append("mode", "", {"mode": "lockdown"})
    assert await asyncio.to_thread(store.some.wait, 30)
    await opened.close()
    captures.close()
    assert said and all(where == LOG_STORE and str(error) == "It does not answer." for where, error in said)
    assert verify(places.ledger).ok


async def test_nothing_is_sent_unless_a_setting_names_where(places: Places) -> None:
    assert Parts(places, load(places, {})).ledger.log_store is None
    named = {"ASSENT_HISTORY_OPENTELEMETRY": "http://127.0.0.1:1"}
    connect = Parts(places, load(places, named)).ledger.log_store
    assert connect is not None
    connect().close()
