"""What the settings have removed, what is spared, and what waits for a PIN; and heads noted outside by a console."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.audit.files.captures import Captures
from runner.audit.ledger.verify import verify
from runner.audit.outside.outside import FileAnchor
from runner.audit.retention.retention import RetentionRule
from runner.commands import cli
from runner.engine.foundation.open_ledger import OpenLedger
from runner.engine.lifecycle.history_bounds import HistoryBounds, rule_of
from runner.identity import signer
from runner.identity.secrets import Secrets
from runner.model.errors import KnownError
from runner.settings.loading import Settings, load
from runner.system.places import Places
from tests.audit.story import approved, denied, opening, request, write
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Bounds:
    """The bounds of an open ledger with three old requests and one of today; one is in use, one is open."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.settings = Settings()
        self.spare = {"r2"}
        self.secrets = Secrets(places, load(places, os.environ).settings)
        self.captures = Captures(places)
        self.ledger = OpenLedger(places, self.captures, self.secrets)
        self.bounds = HistoryBounds(places, self.ledger, lambda: self.settings, lambda: self.spare)

    @property
    def removed(self) -> int:
        found = verify(self.places.ledger)
        assert found.ok, found.what
        return found.removed


@pytest_asyncio.fixture(name="kept")
async def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bounds]:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSENT_SECRETS_FILE", "true")
    places = Places.standard()
    places.make()
    kept = Bounds(places)
    told = [*approved(request("r1")), *approved(request("r2")), *opening(request("r3"))]
    key = signer.signing_key(kept.secrets)
    await asyncio.to_thread(write, places.ledger, told, key, lambda: time.time() - 100 * 86_400)
    await asyncio.to_thread(write, places.ledger, denied(request("r4")), key)
    await kept.ledger.open()
    await kept.ledger.seal()
    yield kept
    await kept.bounds.close()
    await kept.ledger.close()
    kept.captures.close()


@pytest.mark.asyncio
async def test_what_a_killed_export_left_goes_with_the_start(kept: Bounds, tmp_path: Path) -> None:
    left = tmp_path / ".assent-export-0123456789abcdef.part"
    left.touch()
    kept.places.exports.mkdir()
    note = kept.places.exports / "0123456789abcdef"
    note.write_bytes(os.fsencode(left))
    kept.bounds.start()
    async with asyncio.timeout(HANGS):
        while note.exists():
            await asyncio.sleep(0.01)
    assert not left.exists()


@pytest.mark.asyncio
async def test_nothing_is_removed_unless_the_settings_say_so(kept: Bounds) -> None:
    assert rule_of(kept.settings) is None
    await kept.bounds.look()
    assert kept.removed == 0
    kept.settings = replace(kept.settings, history_keep_days=90)
    await kept.bounds.look()
    assert kept.removed == 1, "not the one in use, the open one or that of today"
    kept.spare.clear()
    await kept.bounds.look()
    assert kept.removed == 2


@pytest.mark.asyncio
async def test_a_person_removes_what_was_planned_and_one_by_one(kept: Bounds) -> None:
    plan = await kept.bounds.plan(RetentionRule(30.0))
    assert plan.count == 1
    kept.settings = replace(kept.settings, approve_by="pin")
    for order in (kept.bounds.carry_out(plan), kept.bounds.remove("r4")):
        with pytest.raises(KnownError, match="PIN"):
            await order
    assert (await kept.bounds.carry_out(plan, proven=True)).requests == 1
    assert (await kept.bounds.remove("r4", proven=True)).requests == 1
    for name, words in {"r2": "still in use", "r3": "still open", "r4": "removed before", "no": "no such"}.items():
        with pytest.raises(KnownError, match=words):
            await kept.bounds.remove(name, proven=True)
    assert kept.removed == 2


@pytest.mark.asyncio
async def test_two_orders_do_not_run_at_once(kept: Bounds) -> None:
    plan = await kept.bounds.plan(RetentionRule(30.0))
    first, second = await asyncio.gather(
        kept.bounds.carry_out(plan), kept.bounds.carry_out(plan), return_exceptions=True
    )
    assert not isinstance(first, BaseException) and first.requests == 1
    assert isinstance(second, KnownError) and "already" in second.what


@pytest.mark.asyncio
async def test_heads_are_noted_outside_and_verify_compares(
    kept: Bounds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "heads.jsonl"
    await kept.ledger.close()
    again = OpenLedger(kept.places, kept.captures, kept.secrets)
    again.places_outside = (FileAnchor(file),)
    noted = asyncio.Event()
    loop = asyncio.get_running_loop()
    again.noted_outside = lambda where, error: loop.call_soon_threadsafe(noted.set) and None
    await again.open()
    before = await asyncio.to_thread(kept.places.ledger.read_bytes)
    await again.seal()
    await asyncio.wait_for(noted.wait(), HANGS)
    await again.close()
    monkeypatch.setenv("ASSENT_HISTORY_ANCHOR_FILE", str(file))
    assert await asyncio.to_thread(cli.main, ["verify"]) == 0
    assert f"heads in {file} fit" in capsys.readouterr().out
    # Whoever has the account and the secrets puts an older copy in place, and takes the note beside the key away.
    signer.forget_anchor(kept.secrets)
    kept.places.ledger.write_bytes(before)
    assert await asyncio.to_thread(cli.main, ["verify"]) == 1
    assert "an older copy, or its end was removed" in capsys.readouterr().out
