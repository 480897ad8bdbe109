"""The PIN with which a person approves: its salted hash among the secrets, and a pause after wrong ones."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.clock import since_boot
from runner.system.tasks import in_daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.identity.secrets import Secrets, Where

NAME = "pin"
"""Of the secret."""
SCHEMA = 1
SHORTEST, LONGEST = 4, 12
"""Digits of a PIN."""
FREE = 5
"""Wrong PINs in a row after which none is taken for a while; each further one doubles the time."""
FIRST_PAUSE, LONGEST_PAUSE = 60.0, 3600.0
"""Seconds."""
COST, BLOCK, LANES = 1 << 15, 8, 1
"""Of scrypt: 32 MB and about a tenth of a second for each try."""
_MOST_MEMORY = 2 * 128 * BLOCK * COST
DIGITS = f"A PIN has {SHORTEST} to {LONGEST} digits."


SET, CHANGED, REMOVED, REFUSED = "pin-set", "pin-changed", "pin-removed", "pin-refused"
"""Kinds of ledger entries. None holds anything of a PIN; those of wrong ones say how many there were in a row."""


class PinRefused(KnownError):
    """A PIN that was not taken; nothing was approved or changed by it."""


@dataclass(frozen=True, slots=True)
class PinState:
    """Whether there is a PIN, for the page of settings."""

    known: bool
    words: str
    """Where it is stored, or why that cannot be said."""
    usable: bool = True
    """Whether a PIN can be set, changed or removed now."""


@dataclass(frozen=True, slots=True)
class _Stored:
    salt: bytes
    hash: bytes
    wrong: int = 0
    """Wrong PINs since the last right one: a restart must not give five more tries."""

    @classmethod
    def of(cls, pin: str) -> _Stored:
        salt = os.urandom(16)
        return cls(salt, _hashed(pin, salt))

    @classmethod
    def parse(cls, text: str) -> _Stored:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']}")
        return cls(bytes.fromhex(data["salt"]), bytes.fromhex(data["hash"]), int(data["wrong"]))

    def __str__(self) -> str:
        return json.dumps(
            {"schema": SCHEMA, "salt": self.salt.hex(), "hash": self.hash.hex(), "wrong": self.wrong},
        )

    def matches(self, pin: str) -> bool:
        return hmac.compare_digest(self.hash, _hashed(pin, self.salt))


class PinLock:
    """The PIN of this person. Every method is called on one loop; the work is done on threads, one after the other."""

    def __init__(self, secrets: Secrets, clock: Callable[[], float] = since_boot) -> None:
        self._secrets = secrets
        self._clock = clock
        self._turn = asyncio.Lock()
        self._listeners: list[Callable[[str, Mapping[str, object]], object]] = []
        self._begun = clock()
        self._wrong = 0
        self._latest = self._begun
        """When the newest wrong PIN came; the start, for those of an earlier process."""

    def listen(self, listener: Callable[[str, Mapping[str, object]], object]) -> None:
        """Call `listener` with kind and body of each ledger entry about the PIN.

        What comes while PINs pause is not looked at and no entry: whoever types on could fill the disk.
        """
        self._listeners.append(listener)

    async def check(self, pin: str) -> None:
        """Return where `pin` is right; raise PinRefused with a sentence and a remedy where it is not."""
        async with self._turn:
            await self._require(pin)

    async def change(self, old: str, new: str) -> Where:
        """Store `new` in place of `old`, which is empty where there was none; return where. Raises KnownError."""
        if not well_formed(new):
            raise PinRefused(DIGITS)
        async with self._turn:
            if known := await self._find() is not None:
                await self._require(old)
            made = await in_daemon("pin", lambda: _Stored.of(new))
            self._wrong = 0
            where = await in_daemon("pin", lambda: self._secrets.set(NAME, str(made)))
            self._say(CHANGED if known else SET)
            return where

    async def remove(self, old: str) -> None:
        """Remove the PIN. Raises PinRefused where `old` is wrong, and KnownError where it cannot be removed."""
        async with self._turn:
            await self._require(old)
            await in_daemon("pin", lambda: self._secrets.delete(NAME))
            self._say(REMOVED)

    async def state(self) -> PinState:
        """Return whether there is a PIN and where."""
        async with self._turn:
            try:
                known = await self._find() is not None
                where = await in_daemon("where secrets are", lambda: self._secrets.where)
            except KnownError as error:
                return PinState(known=False, words=str(error), usable=False)
            if not known:
                return PinState(known=False, words="No PIN is set.")
            return PinState(known=True, words=f"A PIN is set. {where.explanation}")

    async def _require(self, pin: str) -> None:
        stored = await self._find()
        if stored is None:
            raise PinRefused("No PIN is set, so nothing can be approved with one.", "Set one under Settings.")
        self._wrong = max(self._wrong, stored.wrong)
        if (left := self._latest + pause_after(self._wrong) - self._clock()) > 0:
            raise PinRefused(_too_many(self._wrong), f"PINs are taken again in {_seconds(left)}.")
        # Counted before it is looked at: where that cannot be kept, a restart would give as many tries again.
        await self._keep(replace(stored, wrong=self._wrong + 1))
        if well_formed(pin) and await in_daemon("pin", lambda: stored.matches(pin)):
            self._wrong = 0
            with contextlib.suppress(PinRefused):
                await self._keep(replace(stored, wrong=0))
            return
        self._wrong += 1
        self._latest = self._clock()
        self._say(REFUSED, wrong=self._wrong)
        left = pause_after(self._wrong)
        if left:
            raise PinRefused(_too_many(self._wrong), f"PINs are taken again in {_seconds(left)}.")
        more = FREE - self._wrong
        raise PinRefused("This PIN is wrong.", f"{more} more wrong {'one' if more == 1 else 'ones'} and PINs pause.")

    def _say(self, kind: str, **body: object) -> None:
        for listener in self._listeners:
            listener(kind, body)

    async def _keep(self, stored: _Stored) -> None:
        """Raise PinRefused where that is not possible."""
        try:
            await in_daemon("pin", lambda: self._secrets.set(NAME, str(stored)))
        except KnownError as error:
            words = "Tries of the PIN cannot be counted, so none is looked at"
            raise PinRefused(f"{words}: {error.what}", error.remedy) from error

    async def _find(self) -> _Stored | None:
        """Return what is stored; None where there is no PIN. Raises KnownError where that cannot be known."""
        text = await in_daemon("pin", lambda: self._secrets.find(NAME))
        if text is None:
            return None
        try:
            return _Stored.parse(text)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise PinRefused(
                "What is stored of the PIN cannot be read, so nothing can be approved with it.",
                "Remove it where secrets are stored, then set another one under Settings.",
            ) from error


def well_formed(pin: str) -> bool:
    """Return whether `pin` has as many digits as a PIN has, and nothing else."""
    return pin.isascii() and pin.isdigit() and SHORTEST <= len(pin) <= LONGEST


def pause_after(wrong: int) -> float:
    """Return for how many seconds no PIN is taken after so many wrong ones in a row."""
    if wrong < FREE:
        return 0.0
    # Bounded before it is raised: the number is read from a file.
    return min(LONGEST_PAUSE, FIRST_PAUSE * float(2 ** min(wrong - FREE, 16)))


def _hashed(pin: str, salt: bytes) -> bytes:
    return hashlib.scrypt(pin.encode(), salt=salt, n=COST, r=BLOCK, p=LANES, maxmem=_MOST_MEMORY, dklen=32)


def _too_many(wrong: int) -> str:
    return f"{wrong} wrong PINs in a row."


def _seconds(seconds: float) -> str:
    whole = max(1, round(seconds))
    return f"{whole} s" if whole <= 120 else f"{-(-whole // 60)} minutes"
