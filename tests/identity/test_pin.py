"""The PIN: taken when right, paused after wrong ones, also over a restart, and refused where it cannot be read."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from keyring.errors import KeyringLocked

from runner.identity import secrets as secrets_module
from runner.identity.pin import FIRST_PAUSE, FREE, LONGEST_PAUSE, NAME, PinLock, PinRefused, pause_after, well_formed
from runner.identity.secrets import Secrets, Vault
from runner.model.errors import KnownError
from runner.settings.loading import Settings
from runner.system.places import Places
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio
PIN, WRONG = "4711", "1234"


class Watch:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def secrets(home: Path) -> Secrets:
    places = Places.under(home)
    places.make()
    return Secrets(places, Settings(secrets_file=True))


async def wrong(lock: PinLock, times: int) -> str:
    """Give a wrong PIN so often; what was said of the last one."""
    said = ""
    for _ in range(times):
        with pytest.raises(PinRefused) as refused:
            await lock.check(WRONG)
        said = str(refused.value)
    return said


async def test_a_pin_counts_once_it_is_set_and_until_it_is_removed(secrets: Secrets) -> None:
    lock = PinLock(secrets)
    assert (await lock.state()).words == "No PIN is set."
    with pytest.raises(PinRefused, match=r"No PIN is set.*Set one under Settings"):
        await lock.check(PIN)
    assert (await lock.change("", PIN)).kind is Vault.FILE
    await lock.check(PIN)
    state = await PinLock(secrets).state()
    assert state.known and "kept in" in state.words
    with pytest.raises(PinRefused, match="wrong"):
        await lock.remove(WRONG)
    await lock.remove(PIN)
    assert not (await lock.state()).known


async def test_changing_needs_the_old_one(secrets: Secrets) -> None:
    lock = PinLock(secrets)
    await lock.change("", PIN)
    for old in ("", WRONG):
        with pytest.raises(PinRefused, match="wrong"):
            await lock.change(old, "99999")
    await lock.check(PIN)
    await lock.change(PIN, "99999")
    await lock.check("99999")
    with pytest.raises(PinRefused):
        await lock.check(PIN)


async def test_only_a_salted_hash_is_stored(secrets: Secrets) -> None:
    lock = PinLock(secrets)
    await lock.change("", "314159265358")
    first = secrets.get(NAME) or ""
    assert "314159265358" not in first and set(json.loads(first)) == {"schema", "salt", "hash", "wrong"}
    await lock.change("314159265358", "314159265358")
    assert json.loads(secrets.get(NAME) or "")["hash"] != json.loads(first)["hash"]


@pytest.mark.parametrize("pin", ["", "123", "1234567890123", "12a4", "12 4", "١٢٣٤", "½½½½", "-123"])
async def test_what_is_no_pin_cannot_become_one(secrets: Secrets, pin: str) -> None:
    assert not well_formed(pin)
    with pytest.raises(PinRefused, match="4 to 12 digits"):
        await PinLock(secrets).change("", pin)


async def test_five_wrong_ones_pause_for_a_time_that_rises(secrets: Secrets) -> None:
    watch = Watch()
    lock = PinLock(secrets, watch)
    await lock.change("", PIN)
    assert "1 more wrong one" in await wrong(lock, FREE - 1)
    assert "5 wrong PINs in a row. PINs are taken again in 60 s." in await wrong(lock, 1)
    watch.now += FIRST_PAUSE - 1
    with pytest.raises(PinRefused, match="again in 1 s"):
        await lock.check(PIN)
    watch.now += 2
    assert "again in 120 s" in await wrong(lock, 1)
    watch.now += 2 * FIRST_PAUSE + 1
    await lock.check(PIN)
    assert "4 more wrong ones" in await wrong(lock, 1)


async def test_a_right_one_begins_the_count_again(secrets: Secrets) -> None:
    lock = PinLock(secrets, Watch())
    await lock.change("", PIN)
    for _ in range(3):
        await wrong(lock, FREE - 1)
        await lock.check(PIN)


async def test_a_restart_gives_no_further_tries(secrets: Secrets) -> None:
    watch = Watch()
    lock = PinLock(secrets, watch)
    await lock.change("", PIN)
    await wrong(lock, FREE)
    again = PinLock(secrets, watch)
    with pytest.raises(PinRefused, match="again in 60 s"):
        await again.check(PIN)
    watch.now += FIRST_PAUSE + 1
    await again.check(PIN)


async def test_no_pin_is_looked_at_where_tries_cannot_be_counted(
    secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise each restart would give as many tries again."""
    lock = PinLock(secrets, Watch())
    await lock.change("", PIN)

    def full(*_given: object) -> None:
        raise KnownError("The disk is full.", "Free some of it.")

    with monkeypatch.context() as patched:
        patched.setattr(secrets, "set", full)
        for pin in ("0000", PIN):
            with pytest.raises(PinRefused, match="cannot be counted"):
                await lock.check(pin)
    await lock.check(PIN)


async def test_tries_at_the_same_time_are_counted_one_by_one(secrets: Secrets) -> None:
    lock = PinLock(secrets, Watch())
    await lock.change("", PIN)
    tried = await asyncio.gather(*(lock.check(f"{n:04}") for n in range(20)), return_exceptions=True)
    assert all(isinstance(one, PinRefused) for one in tried)
    assert json.loads(secrets.get(NAME) or "")["wrong"] == FREE


async def test_the_loop_is_free_while_a_pin_is_checked(secrets: Secrets) -> None:
    lock = PinLock(secrets)
    await lock.change("", PIN)
    turns, checking = 0, spawn("check", lock.check(PIN))
    while not checking.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 100


@pytest.mark.parametrize("stored", ["", "[]", "{}", '{"schema": 2}', "[" * 100_000, '{"schema": 1, "salt": "x"}'])
async def test_what_cannot_be_read_approves_nothing(secrets: Secrets, stored: str) -> None:
    secrets.set(NAME, stored)
    lock = PinLock(secrets)
    with pytest.raises(PinRefused, match="cannot be read"):
        await lock.check(PIN)
    with pytest.raises(PinRefused, match="cannot be read"):
        await lock.change("", PIN)
    assert not (await lock.state()).usable


async def test_a_locked_keyring_is_not_taken_for_one_without_a_pin(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked() -> object:
        raise KeyringLocked

    monkeypatch.setattr(secrets_module, "_trusted_backend", locked)
    lock = PinLock(Secrets(Places.under(home), Settings()))
    for attempt in (lock.check(PIN), lock.change("", PIN), lock.remove(PIN)):
        with pytest.raises(KnownError, match=r"the keyring is locked.*Unlock or set up the keyring"):
            await attempt
    state = await lock.state()
    assert (state.known, state.usable) == (False, False)


async def test_without_any_keyring_it_is_kept_for_the_session(home: Path) -> None:
    places = Places.under(home)
    lock = PinLock(Secrets(places, Settings()))
    assert (await lock.change("", PIN)).kind is Vault.MEMORY
    assert "a PIN is forgotten" in (await lock.state()).words
    await lock.check(PIN)
    assert not (await PinLock(Secrets(places, Settings())).state()).known


async def test_the_pause_has_an_end() -> None:
    assert pause_after(10**9) == LONGEST_PAUSE
    assert pause_after(-1) == 0
