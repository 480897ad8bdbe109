"""Opens the history, settles what an earlier process left open, and tries again by itself where that failed."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING

from runner.audit.ledger.ledger import LedgerFailed
from runner.engine.lifecycle.recovery import take_up
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from runner.engine.foundation.bulletin import Bulletin
    from runner.engine.foundation.open_ledger import OpenLedger
    from runner.engine.foundation.opening import Opener
    from runner.engine.foundation.recorder import Recorder
    from runner.engine.request.path import Path
    from runner.model.events import Event
    from runner.requests.case import Case
    from runner.requests.cases import Cases

PAUSE = 5.0
"""Seconds between two attempts to use a history that cannot be opened or written."""
RECOVERED = "recovered"
"""Kind of the entry that is written when the history can be written again."""
OUTSIDE = "anchor"
"""The trouble of places outside, where the history's end is noted or its entries are sent; it blocks no approval."""
LEFT = "Run Verify in History to find out whether more is damaged. Nothing of it will run."


class HistoryOpening:
    """The way from a file to an open history. Every method is called on the engine's loop."""

    def __init__(
        self,
        ledger: OpenLedger,
        record: Recorder,
        bulletin: Bulletin,
        opener: Opener,
        cases: Cases,
        path: Path,
    ) -> None:
        self._ledger = ledger
        self._record = record
        self._bulletin = bulletin
        self._opener = opener
        self._cases = cases
        self._path = path
        self._settled = False
        self._postponed = False
        """Whether signing waits for the person to say where the key is kept."""
        self._timer: asyncio.TimerHandle | None = None
        self._trying = asyncio.Lock()
        """Held during an attempt."""
        self._over = False
        self._outside: dict[str, KnownError] = {}
        """Places outside of the history at which something failed."""
        bulletin.listen(self._hear)

    async def open(self) -> None:
        """Open the history. Where it may work later it is tried again, until it does or the console closes."""
        self._ledger.noted_outside = partial(self._noted, asyncio.get_running_loop())
        await self._opener.open("ledger", self._ledger.open)

    async def settle(self) -> None:
        """Settle what an earlier process left open, once, and begin to sign; does nothing while no history is open."""
        if not self._ledger.is_open:
            return
        try:
            if not self._settled:
                self._settled = True
                await self._take_up()
        finally:
            # Also where that failed unexpectedly: what is written from now on is signed all the same.
            spawn("seal", self._seal())

    async def renew(self) -> None:
        """Move an unusable ledger aside and begin a new one, which names it.

        Active requests continue: what was recorded of them is copied into the new ledger.
        """
        if await self._opener.open("ledger", self._ledger.renew):
            self._settled = True
            self._bulletin.clear("requests")
            try:
                await asyncio.gather(*map(_carry_over, self._cases.active()))
            finally:
                spawn("seal", self._seal())

    async def try_again(self) -> None:
        """Look whether the history can be used now; nothing where it works."""
        async with self._trying:
            if (trouble := self._bulletin.standing("ledger")) is None or self._over:
                return
            if self._ledger.is_open:
                with contextlib.suppress(LedgerFailed):
                    await self._record.append(RECOVERED, "", {"why": trouble.what})
            else:
                await self.open()
                await self.settle()

    async def close(self) -> None:
        """Try no more; returns when an attempt under way is over."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        async with self._trying:
            return

    async def _take_up(self) -> None:
        try:
            left = await self._ledger.left_open()
        except KnownError as error:
            self._ledger.doubt = error
            self._record.ledger_works()
            return
        if unreadable := left.unreadable:
            more = f" There are {len(unreadable) - 1:,} more." if len(unreadable) > 1 else ""
            what = f"Request {unreadable[0].id} was left open and cannot be read: {unreadable[0].why}{more}"
            self._record.trouble("requests", what, LEFT)
        # Where the history opens late, agents are served already: their requests are open and not left.
        cases = [case for case in left.cases if self._cases.find(case.request.id) is None]
        take_up(cases, self._record, self._cases, self._path)

    def _noted(self, loop: asyncio.AbstractEventLoop, where: str, error: KnownError | None) -> None:
        """Report, from the thread that notes heads outside or sends entries there, whether that works."""
        # A console that has closed has nobody to tell; the log has it.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._report_outside, where, error)

    def _report_outside(self, where: str, error: KnownError | None) -> None:
        if error is None:
            self._outside.pop(where, None)
        else:
            self._outside[where] = error
        if standing := next(iter(self._outside.values()), None):
            self._bulletin.trouble(OUTSIDE, standing.what, standing.remedy)
        else:
            self._bulletin.clear(OUTSIDE)

    async def sign(self) -> None:
        """Begin to sign where that had to wait for the person to say where the key is kept.

        The first signed head covers what was written before it.
        """
        if self._postponed and self._ledger.is_open:
            await self._seal()

    async def _seal(self) -> None:
        self._postponed = not self._ledger.may_sign
        if self._postponed:
            return
        await self._opener.open("secrets", self._ledger.seal)
        if self._ledger.doubt:
            self._record.ledger_works()

    def _hear(self, event: Event) -> None:
        match event:
            case EngineTroubled(area="ledger", damaged=False) if self._timer is None:
                self._wait()
            case _:
                pass

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(PAUSE, self._begin)

    def _begin(self) -> None:
        spawn("try the history again", self._try_on())

    async def _try_on(self) -> None:
        try:
            await self.try_again()
        finally:
            self._timer = None
            trouble = self._bulletin.standing("ledger")
            if trouble is not None and not trouble.damaged and not self._over:
                self._wait()


async def _carry_over(case: Case) -> None:
    # What cannot be written is reported, and copied with the case's next step.
    with contextlib.suppress(LedgerFailed):
        await case.carry_over()
