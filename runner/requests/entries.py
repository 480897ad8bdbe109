"""The ledger entries of one request: written in their order, and copied into a ledger that is begun later.

An entry that nothing irrevocable follows is only sent (`write_soon`); the next one that is awaited (`write`) waits for
all before it, and the ledger writes them together. So a call waits for the disk where something is about to happen, not
at each step.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from runner.audit.ledger.ledger import LedgerFailed
from runner.model.lifecycle import Phase
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.model.events import Event
    from runner.model.record import Record

PHASES = frozenset(phase.value for phase in Phase)
NOWHERE = -1
"""Number of the ledger that holds an entry which no ledger holds yet."""


class _Step:
    """One entry. `event` is published once it is durable."""

    __slots__ = ("body", "error", "event", "kind", "ledger", "sent_to", "task")

    def __init__(self, kind: str, body: Mapping[str, object], event: Event | None = None) -> None:
        self.kind = kind
        self.body = body
        self.event = event
        self.ledger = NOWHERE
        """Number of the newest ledger that holds it."""
        self.sent_to = NOWHERE
        """Number of the ledger to which it was sent last."""
        self.task: asyncio.Task[int] | None = None
        """Its writing, while that is under way."""
        self.error: BaseException | None = None
        """Why the last attempt failed."""


class RequestEntries:
    """The entries of one request. Every method is called on the engine's loop; any task may call them."""

    def __init__(self, request_id: str, record: Record) -> None:
        self._request_id = request_id
        self._record = record
        self._steps: list[_Step] = []
        self._writing = asyncio.Lock()
        """Held by a task that waits until its entry is written, with those before it."""

    def resume(self, steps: Sequence[tuple[str, Mapping[str, object]]]) -> None:
        """Take up the entries that the open ledger has of the request."""
        self._steps = [_Step(kind, body) for kind, body in steps]
        for step in self._steps:
            step.ledger = self._record.ledger

    def write_soon(self, kind: str, body: Mapping[str, object], event: Event | None = None) -> None:
        """Send an entry and do not wait for it; one that fails is sent again with the next entry."""
        self._steps.append(_Step(kind, body, event))
        # Otherwise the task that writes now sends it, so that it does not come before those that are copied.
        if not self._writing.locked():
            self._send([step for step in self._steps if step.ledger != self._record.ledger], can_wait=True)

    def take_back(self, kind: str) -> Phase | None:
        """Drop the last step, where it is of `kind` and no ledger holds it or is asked to; return the phase before.

        None where the step stays.
        """
        step = next((one for one in reversed(self._steps) if one.kind in PHASES), None)
        if step is None or step.kind != kind or step.ledger != NOWHERE or step.task is not None:
            return None
        self._steps.remove(step)
        return Phase(next(one.kind for one in reversed(self._steps) if one.kind in PHASES))

    async def write(self, kind: str, body: Mapping[str, object]) -> None:
        """Write an entry; it and all before it are durable when this returns. Raises LedgerFailed: it does not count.

        The ledger takes no step of a request without the one before, so those are sent together; any other kind of
        entry is sent once all before it are written.
        """
        async with self._writing:
            if kind not in PHASES:
                await self._flush()
            step = _Step(kind, body)
            self._steps.append(step)
            try:
                await self._flush()
            except BaseException:
                if step.ledger == NOWHERE:
                    self._steps.remove(step)
                raise

    async def carry_over(self) -> None:
        """Copy the entries into a ledger that was begun since, without a further one. Raises LedgerFailed."""
        async with self._writing:
            await self._flush()

    def forget(self) -> None:
        """Free the entries: the request is closed."""
        self._steps = []

    async def _flush(self) -> None:
        """Wait until the open ledger holds every entry. Raises LedgerFailed."""
        while missing := [step for step in self._steps if step.ledger != self._record.ledger]:
            number, sent = self._record.ledger, self._send(missing)
            await asyncio.wait({step.task for step in missing if step.task is not None})
            left = [step for step in missing if step.ledger != number]
            if not (sent and left and number == self._record.ledger) or (error := left[0].error) is None:
                continue
            # Any other error may be for want of an entry before it, which is written by now.
            if isinstance(error, LedgerFailed) or left[0] is missing[0]:
                raise error

    def _send(self, missing: Sequence[_Step], *, can_wait: bool = False) -> bool:
        """Send those of `missing` that are not on their way; return False where others have to arrive first."""
        under_way = [step for step in missing if step.task is not None]
        if any(step.sent_to != self._record.ledger for step in under_way):
            return False
        if under_way != list(missing[: len(under_way)]):  # an earlier one has failed since
            return False
        for step in missing[len(under_way) :]:
            step.error, step.sent_to = None, self._record.ledger
            step.task = spawn(f"record {step.kind} {self._request_id}", self._append(step, can_wait=can_wait))
            step.task.add_done_callback(partial(self._written, step))
        return True

    async def _append(self, step: _Step, *, can_wait: bool) -> int:
        """Write an entry; return the number of the ledger that holds it. Raises LedgerFailed."""
        number = self._record.ledger
        await self._record.append(step.kind, self._request_id, step.body, can_wait=can_wait)
        return number

    def _written(self, step: _Step, task: asyncio.Task[int]) -> None:
        step.task = None
        if task.cancelled():
            return
        if (error := task.exception()) is not None:  # raised where the entry is waited for
            step.error = error
            return
        step.ledger = task.result()
        event, step.event = step.event, None
        if event is not None:
            self._record.publish(event)
