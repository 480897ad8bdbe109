"""Writes to the open ledger; a step is published only after it is durable."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.audit.ledger.ledger import LedgerFailed
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.engine.foundation.bulletin import Bulletin
    from runner.engine.foundation.open_ledger import OpenLedger
    from runner.model.events import Event
    from runner.model.lifecycle import Phase
    from runner.requests.case import Case

RETRY_SECONDS = 1.0
"""Pause between two attempts to write a step that must not be lost."""


class Recorder:
    """The `Record` of the engine: asks for the open ledger at each entry, since a new one may be begun at any time."""

    def __init__(self, ledger: OpenLedger, bulletin: Bulletin) -> None:
        self._ledger = ledger
        self._bulletin = bulletin

    @property
    def ledger(self) -> int:
        """Number of the ledger that is open."""
        return self._ledger.number

    @property
    def works(self) -> bool:
        """Whether no trouble with the ledger is known."""
        return self._bulletin.standing("ledger") is None

    async def append(self, kind: str, request_id: str, body: Mapping[str, object], *, can_wait: bool = False) -> None:
        """Write one entry; durable when this returns. Raises LedgerFailed, and reports that as trouble."""
        try:
            await self._ledger.writer.append(kind, request_id, body, can_wait=can_wait)
        except LedgerFailed as failure:
            self._report(failure)
            raise
        self.ledger_works()

    async def note(self, kind: str, request_id: str, body: Mapping[str, object] | None = None) -> None:
        """Write an entry that nothing depends on: a failure is reported as trouble, never raised."""
        try:
            await self._ledger.writer.append(kind, request_id, body or {})
        except KnownError as failure:
            self._report(failure)

    async def keep_noting(self, kind: str, request_id: str, body: Mapping[str, object]) -> None:
        """Write an entry that must not be lost: retried until it is written or the ledger is closed."""
        while self._ledger.is_open:
            try:
                return await self.append(kind, request_id, body)
            except LedgerFailed:
                await asyncio.sleep(RETRY_SECONDS)
        return None

    def ledger_works(self) -> None:
        """Report that the ledger can be written; one that is not the last signed ledger remains a trouble."""
        if doubt := self._ledger.doubt:
            self._bulletin.trouble("ledger", doubt.what, doubt.remedy, damaged=True)
        else:
            self.clear("ledger")

    async def persist(self, case: Case, phase: Phase, body: object, event: Event | None) -> None:
        """Record a step that must not be lost, with attempts until it is written."""
        while True:
            try:
                return await case.advance(phase, body, event)
            except LedgerFailed:
                await asyncio.sleep(RETRY_SECONDS)

    def _report(self, failure: KnownError) -> None:
        damaged = isinstance(failure, LedgerFailed) and failure.damaged
        self._bulletin.trouble("ledger", failure.what, failure.remedy, damaged=damaged)

    def publish(self, event: Event) -> None:
        self._bulletin.publish(event)

    def trouble(self, area: str, what: str, remedy: str) -> None:
        self._bulletin.trouble(area, what, remedy)

    def clear(self, area: str) -> None:
        self._bulletin.clear(area)
