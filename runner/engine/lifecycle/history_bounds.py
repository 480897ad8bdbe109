"""Keeps the history within its bounds: removes content when a person or the settings say so, never entries."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from runner.approval.deliberate import unproven
from runner.audit.export.begun import sweep_noted
from runner.audit.retention.retention import DAY, SETTING, Pruning, RetentionRule, chosen, planned
from runner.model.errors import KnownError
from runner.system.tasks import in_daemon, spawn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from runner.audit.retention.retention import Pruned, RetentionPlan
    from runner.engine.foundation.open_ledger import OpenLedger
    from runner.settings.declared import Settings
    from runner.system.places import Places

log = logging.getLogger("assent.ledger")

FIRST_SECONDS = 120.0
"""Time from the start to the first look: the start itself, and the key from the keyring, come before it."""
EVERY_SECONDS = DAY / 4
CLOSING_SECONDS = 0.5
BUSY = "Content is being removed already."
IN_USE = "This request is still in use: its approval waits for the same request, or its answer was not fetched yet."


class HistoryBounds:
    """Removes content from the open ledger, one order at a time. Every method is called on the engine's loop."""

    def __init__(
        self,
        places: Places,
        ledger: OpenLedger,
        settings: Callable[[], Settings],
        spare: Callable[[], Collection[str]],
    ) -> None:
        """`spare` gives the requests on which something rests that is still to happen."""
        self._places = places
        self._ledger = ledger
        self._settings = settings
        self._spare = spare
        self._at_work = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look now and then whether the settings ask for something to be removed; remove what exports left."""
        self._sweeping = spawn("sweep exports", self._sweep())
        self._timer = asyncio.get_running_loop().call_later(FIRST_SECONDS, self._begin)

    async def close(self) -> None:
        """Look no more; waits a moment for the portion under way."""
        if self._timer is not None:
            self._timer.cancel()
        if self._sweeping is not None:
            self._sweeping.cancel()
        if self._looking is not None:
            self._looking.cancel()
            # What is not cleared away by then is at the next start.
            await asyncio.wait({self._looking}, timeout=CLOSING_SECONDS)

    async def plan(self, rule: RetentionRule) -> RetentionPlan:
        """Return what a rule would remove, with figures. Raises KnownError."""
        return await asyncio.to_thread(planned, self._places.ledger, rule, self._places, None, self._spare())

    async def carry_out(
        self, plan: RetentionPlan, progress: Callable[[int], None] = lambda done: None, *, proven: bool = False
    ) -> Pruned:
        """Remove what a person saw in `plan` and agreed to. Raises KnownError."""
        if why := unproven(self._settings(), None, proven=proven):
            raise KnownError(why)
        return await self._remove(plan, progress)

    async def remove(self, request_id: str, *, proven: bool = False) -> Pruned:
        """Remove the content of one request. Raises KnownError where it is open, in use or was removed before."""
        if why := unproven(self._settings(), None, proven=proven):
            raise KnownError(why)
        if request_id in self._spare():
            raise KnownError(IN_USE, "Try again later.")
        return await self._remove(await asyncio.to_thread(chosen, self._places.ledger, request_id))

    async def look(self) -> None:
        """Remove what the settings say, and what an earlier removal left behind. Raises KnownError."""
        if not self._ledger.is_open or self._at_work.locked():
            return
        pruning = Pruning(self._ledger.writer, self._places)
        if await pruning.pending():
            await pruning.sweep()
        if rule := rule_of(self._settings()):
            plan = await self.plan(rule)
            if plan.count:
                pruned = await self._remove(plan)
                log.info("%s", pruned.sentence)

    async def _remove(self, plan: RetentionPlan, progress: Callable[[int], None] = lambda done: None) -> Pruned:
        if self._at_work.locked():
            raise KnownError(BUSY, "Wait until that is done.")
        async with self._at_work:
            return await Pruning(self._ledger.writer, self._places).remove(plan, progress)

    async def _sweep(self) -> None:
        """Remove what exports left that were killed: content that no retention would find there."""
        # Of folders that a person chose, one may lie on a disk that hangs.
        if removed := await in_daemon("sweep exports", partial(sweep_noted, self._places.exports)):
            log.info("%d unfinished exports were removed.", removed)

    def _begin(self) -> None:
        self._looking = spawn("keep the history in bounds", self._look())
        self._timer = asyncio.get_running_loop().call_later(EVERY_SECONDS, self._begin)

    async def _look(self) -> None:
        try:
            await self.look()
        except KnownError as error:
            # Nothing depends on it, and it is tried again; the history itself reports what it cannot write.
            log.warning("The history was not kept in bounds: %s", error)


def rule_of(settings: Settings) -> RetentionRule | None:
    """Return what the settings want to be removed; None where they keep everything."""
    days, size = settings.history_keep_days, settings.history_keep_mb
    if not days and not size:
        return None
    return RetentionRule(float(days) if days else None, size << 20 if size else None, by=SETTING)
