"""The ledger that is open: opened, sealed, renewed and closed, with what follows it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from runner.audit.history.indexing import Indexer
from runner.audit.history.search import History, LeftOpen
from runner.audit.ledger import anchor
from runner.audit.ledger.anchor import AnchorKeeper
from runner.audit.ledger.ledger import Ledger, LedgerFailed, set_aside
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.tables import LedgerDamaged
from runner.audit.outside.outside import SignedHead
from runner.audit.telemetry.feed import TelemetryFeed
from runner.identity import signer
from runner.model.errors import KnownError
from runner.system.tasks import in_daemon

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.audit.files.captures import Captures
    from runner.audit.outside.outside import OutsideAnchor
    from runner.audit.telemetry.feed import LogStore
    from runner.identity.secrets import Secrets
    from runner.system.places import Places


LOG_STORE = "the log store"
"""Where entries are sent, among the places outside of the history."""


class OpenLedger:
    """Holder of at most one open ledger; a new one may replace it at any time."""

    def __init__(self, places: Places, captures: Captures, secrets: Secrets) -> None:
        self._places = places
        self._captures = captures
        self._secrets = secrets
        self._ledger: Ledger | None = None
        self._anchors: AnchorKeeper | None = None
        self._outside: tuple[AnchorKeeper, ...] = ()
        self.places_outside: tuple[OutsideAnchor, ...] = ()
        """Where else signed heads are noted."""
        self.noted_outside: Callable[[str, KnownError | None], None] = lambda where, error: None
        """Called in a thread after each attempt to do so, with the error where it failed."""
        self.log_store: Callable[[], LogStore] | None = None
        """Connects to what gets the entries; None where nothing is configured."""
        self._feed: TelemetryFeed | None = None
        self._indexer: Indexer | None = None
        self._changing = asyncio.Lock()
        """Held while the ledger is opened, renewed or closed."""
        self._over = False
        self.doubt: KnownError | None = None
        """Why this ledger is not the one that was last signed here; it is not signed until a new one is begun."""
        self._id = ""
        self._why_closed = KnownError("The history is not open.", "See the message in the window.")
        self.number = 0
        """Number of different ledgers opened so far: it identifies the present one."""

    @property
    def is_open(self) -> bool:
        return self._ledger is not None

    @property
    def may_sign(self) -> bool:
        """Whether the person has chosen where the signing key is kept."""
        return not self._secrets.undecided

    @property
    def writer(self) -> Ledger:
        """Return the open ledger. Raises LedgerFailed while none is open."""
        if self._ledger is None:
            why = self._why_closed
            raise LedgerFailed(why.what, why.remedy, damaged=isinstance(why, LedgerDamaged))
        return self._ledger

    async def open(self) -> None:
        """Open the ledger; does nothing where it is open. Raises KnownError where its folder or file cannot be used."""
        async with self._changing:
            self._require_time()
            try:
                await self._open()
            except KnownError as error:
                self._why_closed = error
                raise

    async def _open(self) -> None:
        try:
            self._places.make()
            self._captures.begin()
        except OSError as error:
            what = f"Assent cannot use its folder {self._places.data}: {error}."
            raise KnownError(what, "Give yourself the right to write there.") from error
        if self._ledger is not None:
            return
        ledger = await asyncio.to_thread(Ledger.open, self._places.ledger)
        try:
            await ledger.append("opened", "", {"process": os.getpid()})
        except BaseException:
            await ledger.close()
            raise
        self._ledger = ledger
        self._indexer = Indexer(self._places.ledger)
        ledger.grown = self._indexer.wake
        if self.log_store is not None:
            await self._send_to(self.log_store, self._indexer)
        if ledger.id != self._id:
            self._id = ledger.id
            self.number += 1

    async def _send_to(self, connect: Callable[[], LogStore], indexer: Indexer) -> None:
        """Begin to send entries. Where that fails the history is open all the same."""

        def done(error: KnownError | None) -> None:
            self.noted_outside(LOG_STORE, error)

        try:
            feed = await asyncio.to_thread(TelemetryFeed, self._places.ledger, self._places.sent, connect, done)
        except KnownError as error:
            done(error)
            return
        self._feed = feed

        def grown() -> None:
            indexer.wake()
            feed.wake()

        self.writer.grown = grown

    async def renew(self) -> None:
        """Move the ledger's file aside and begin a new one, which names it and the last signed head.

        Asked for twice at once, it is done once. A console that closes meanwhile waits for it. Raises KnownError.
        """
        number = self.number
        async with self._changing:
            if number == self.number:
                await self._renew()

    async def _renew(self) -> None:
        self._require_time()
        anchors = self._anchors
        await self._close()
        if anchors is not None:
            # A slow keyring: what it still writes must come before the anchor is deleted.
            await asyncio.to_thread(anchors.drop)
        signed = await asyncio.to_thread(self._set_aside)
        why = "" if self.doubt is None else self.doubt.what
        await self._open()
        await self.writer.append("renewed", "", {"why": why, "signed": None if signed is None else asdict(signed)})
        self.doubt = None

    def _set_aside(self) -> anchor.Anchor | None:
        """Move the file aside and return its last signed head, where one is known."""
        try:
            signed = signer.anchor(self._secrets)
        except KnownError:
            signed = None
        # First, since a crash between the two must not leave a new ledger beside the anchor of the old one.
        signer.forget_anchor(self._secrets)
        try:
            set_aside(self._places.ledger)
        except KnownError:
            if signed is not None:
                signer.set_anchor(self._secrets, signed)
            raise
        return signed

    def _require_time(self) -> None:
        """Raise LedgerFailed where the console is closing."""
        if self._over:
            raise LedgerFailed("The history is closed.", "Start Assent again.")

    async def seal(self) -> None:
        """Begin to sign the ledger's heads; where it is not the one that was last signed, set `doubt` instead.

        The keyring may be slow, so nothing waits for this. Raises KnownError where there is no key.
        """
        ledger = self._ledger
        key = await in_daemon("signing key", partial(signer.signing_key, self._secrets))
        try:
            doubt = await in_daemon("signed head", self._difference)
        except KnownError as error:
            doubt = error
        if ledger is None or ledger is not self._ledger:
            return
        self.doubt = self.doubt or doubt
        if self.doubt is None and self._anchors is None:
            self._anchors = AnchorKeeper(partial(signer.set_anchor, self._secrets))
            self._outside = tuple(self._keeper(place, Seal(key)) for place in self.places_outside)
            keepers = (self._anchors, *self._outside)

            def signed(head: anchor.Anchor) -> None:
                for keeper in keepers:
                    keeper.signed(head)

            await ledger.seal_with(key, signed)

    def _keeper(self, place: OutsideAnchor, seal: Seal) -> AnchorKeeper:
        """Return what notes signed heads at a place outside, on a thread of its own."""

        def write(head: anchor.Anchor) -> None:
            place.note(SignedHead.of(head, seal))

        return AnchorKeeper(write, place.every, lambda error: self.noted_outside(place.where, error))

    def _difference(self) -> KnownError | None:
        known = signer.anchor(self._secrets)
        return None if known is None else anchor.difference(self._places.ledger, known)

    async def left_open(self) -> LeftOpen:
        """Return the requests that an earlier process did not bring to their end."""
        return LeftOpen() if self._ledger is None else await asyncio.to_thread(self._read_open)

    def _read_open(self) -> LeftOpen:
        history = History(self._places.ledger)
        try:
            return history.open_cases()
        finally:
            history.close()

    async def close(self) -> None:
        """Write the last entry, its seal, and the anchor beside the key; no ledger is opened after it."""
        self._over = True
        async with self._changing:
            await self._close()

    async def _close(self) -> None:
        if self._indexer is not None:
            indexer, self._indexer = self._indexer, None
            await asyncio.to_thread(indexer.close)
        if self._ledger is not None:
            ledger, self._ledger = self._ledger, None
            await ledger.close()
        if self._feed is not None:
            feed, self._feed = self._feed, None
            await asyncio.to_thread(feed.close)
        keepers = (*filter(None, (self._anchors,)), *self._outside)
        self._anchors, self._outside = None, ()
        await asyncio.gather(*(asyncio.to_thread(keeper.close) for keeper in keepers))
