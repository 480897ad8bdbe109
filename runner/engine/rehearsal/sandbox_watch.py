"""Looks for a stronger sandbox while there may be one, and again when one is lost; reports what runs get from then."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.events import SandboxChosen
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.engine.foundation.opening import Opener
    from runner.engine.foundation.sandbox_choice import SandboxChoice
    from runner.model.record import Record
    from runner.model.request import Isolation
    from runner.sandbox.contract import Sandbox

AGAIN_SECONDS = (5.0, 15.0)
"""Pauses before the first looks after one that did not find the strongest sandbox."""
EVERY_SECONDS = 60.0
"""Pause before each later look."""
LEAST_REST_SECONDS = 1.0
REST_SHARE = 10.0
"""Between two looks that requests cause lie this many times what the last one took: a flood of requests does not make
looking costly, and an engine that hangs does not hold every request."""
WAIT_SECONDS = 5.0
"""Longest time that a request waits for a look: a trial run in a container may take longer."""
AREA = "isolation"
"""Area of the trouble that the sandbox is weaker than last time or than need be, and kind of the entries about it."""
HANGS = (
    "Until you accept that, every request to run code asks you. Restart the container engine: it is taken as soon as "
    "it answers."
)
REMEDY = (
    "Until you accept that, every request to run code asks you, whatever was remembered. "
    "Start the container engine to get the stronger one back."
)


class SandboxWatch:
    """Everything that examines the sandboxes passes here, one look at a time. Belongs to the engine's loop."""

    def __init__(self, choice: SandboxChoice, record: Record, opener: Opener, closing: Callable[[], str]) -> None:
        """`closing` returns why the console is closing; '' while it is open."""
        self._choice = choice
        self._record = record
        self._opener = opener
        self._closing = closing
        self._looking: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._after_loss: asyncio.Task[None] | None = None
        self._calm_until = 0.0
        """Before this moment a loss is no reason to look: the last one was none."""
        self._rest_until = 0.0
        self._opened = False

    def open(self) -> asyncio.Task[None]:
        """Begin to choose the first sandbox; return the task that does."""
        self._choice.listen(self._lost)
        return self._begin(self._choice.open)

    async def look_closely(self) -> None:
        """Examine everything again, because a person wants that."""
        await self._last_look()
        if not self._closing():
            await asyncio.wait({self._begin(self._choice.look_closely)})

    async def look_for_request(self) -> None:
        """Look again before a request is refused for want of a sandbox, or asked for a weaker one than last time."""
        works = self._choice.present is not None and self._choice.weaker_than is None
        if self._closing() or (works and not self._choice.doubted):
            return
        looking = self._looking
        if looking is None or looking.done():
            if time.monotonic() < self._rest_until:
                return
            looking = self._begin(self._choice.look)
        await asyncio.wait({looking}, timeout=WAIT_SECONDS)

    async def accept(self, isolation: Isolation) -> None:
        """Take the weaker sandbox that the person saw for the usual one. Raises KnownError."""
        self._choice.require_weaker(isolation)
        before = self._choice.usual
        # Durable before it counts.
        body = {"accepted": isolation.value, "before": before.value if before is not None else ""}
        await self._record.append(AREA, "", body)
        try:
            await self._choice.accept(isolation)
        except KnownError as error:
            # The history must not say that somebody accepted what never counted.
            await self._record.note(AREA, "", {"not_accepted": isolation.value, "why": error.what})
            raise
        self._report_weaker()

    def close(self) -> None:
        """End looking."""
        for task in (self._looking, self._following, self._after_loss):
            if task is not None:
                task.cancel()

    async def _last_look(self) -> None:
        """Wait until no look is under way."""
        while self._looking is not None and not self._looking.done():
            await asyncio.wait({self._looking})

    def _lost(self, sandbox: Sandbox) -> None:
        """Look whether `sandbox` still works, as a run or a call in it had no answer."""
        if self._closing() or not self._choice.uses(sandbox):
            return
        if self._after_loss is None or self._after_loss.done():
            self._after_loss = spawn("look after a loss", self._look_after_loss(sandbox))

    async def _look_after_loss(self, sandbox: Sandbox) -> None:
        # One container that is stuck is no lost engine: an agent that makes such containers must not have others'
        # approvals refused all the time.
        await asyncio.sleep(max(0.0, self._calm_until - time.monotonic()))
        await self._last_look()
        if self._closing() or not self._choice.uses(sandbox):
            return
        began = time.monotonic()
        await asyncio.wait({self._begin(self._choice.look_after_loss)})
        if self._choice.uses(sandbox):
            self._calm_until = self._rest(began)

    def _rest(self, began: float) -> float:
        """Return until when to rest after a look that began at `began`."""
        now = time.monotonic()
        return now + max(LEAST_REST_SECONDS, REST_SHARE * (now - began))

    def _begin(self, look: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        self._looking = spawn("look for a sandbox", self._look(look))
        return self._looking

    async def _look(self, look: Callable[[], Awaitable[None]]) -> None:
        before, usual, began = self._choice.present, self._choice.usual, time.monotonic()
        await self._opener.open("sandbox", look)
        self._rest_until = self._rest(began)
        self._report_weaker()
        self._report_left_behind()
        first, self._opened = not self._opened, True
        after = self._choice.present
        if after is not before:
            await self._tell(before, after, usual, first=first)
        self._follow()

    def _report_weaker(self) -> None:
        """Report that the sandbox is weaker than that of last time, or that it no longer is."""
        present = self._choice.present
        if present is None or not (words := self._choice.weaker(present)):
            self._record.clear(AREA)
            return
        remedy = HANGS if self._choice.usual is None else REMEDY
        self._record.trouble(AREA, f"{words} {self._choice.why}".strip(), remedy)

    def _report_left_behind(self) -> None:
        """Report that leftovers of earlier consoles could not be removed, or that they could."""
        if left := self._choice.left_behind:
            self._record.trouble("leftovers", left.what, left.remedy)
        else:
            self._record.clear("leftovers")

    async def _tell(
        self, before: Isolation | None, after: Isolation | None, usual: Isolation | None, *, first: bool
    ) -> None:
        """Publish and record that runs get another sandbox from now on."""
        earlier = before or usual
        if self._choice.weaker_than is not None or not first:
            body = {"isolation": after.value if after else "", "before": earlier.value if earlier else ""}
            await self._record.note(AREA, "", {**body, "why": self._choice.why})
        if first or after is None:
            return
        if before is None or after.strength > before.strength:
            again = " again" if usual is not None and usual.strength >= after.strength else ""
            self._record.publish(SandboxChosen(after, f"{after.label} is there{again}: new runs start in it."))
        else:
            self._record.publish(SandboxChosen(after, f"New runs start in {after.label}."))

    # ---- while there may be a stronger one ----

    def _follow(self) -> None:
        """Keep looking from time to time, or end that."""
        following = self._following is not None and not self._following.done()
        if self._choice.settled or self._closing():
            if following and self._following is not None:
                self._following.cancel()
            self._following = None
        elif not following:
            self._following = spawn("look for a sandbox again", self._keep_looking())

    async def _keep_looking(self) -> None:
        for pause in itertools.chain(AGAIN_SECONDS, itertools.repeat(EVERY_SECONDS)):
            await asyncio.sleep(pause)
            if self._looking is None or self._looking.done():
                self._begin(self._choice.look)
            if self._looking is not None:
                await asyncio.wait({self._looking})
